/**
 * Pillow's resize of 8-bit pictures, to the bit.
 *
 * The `official` OpenVLA-OFT checkpoints (bicubic) and π0 (bilinear) were made with pictures resized by Pillow, whose
 * answers differ from libtorch's in the last bit: it widens the filter when shrinking (antialiasing), keeps 22-bit fixed-point
 * weights, and rounds to bytes after the horizontal pass and again after the vertical one.
 */

/** Filter weights of one output line: where they start in the input, and 22-bit fixed-point values. */
interface Taps {
  readonly start: Int32Array;
  readonly count: Int32Array;
  readonly weights: Int32Array; // [outputs, width]
  readonly width: number;
}

const precisionBits = 32 - 8 - 2;
const half = 1 << (precisionBits - 1);
const tapsCache = new Map<string, Taps>();

export type Filter = "bicubic" | "bilinear";

/** Each filter's shape, and how far it reaches at scale 1. */
const filters: Readonly<Record<Filter, { shape: (x: number) => number; reach: number }>> = {
  bicubic: { shape: bicubic, reach: 2 },
  bilinear: { shape: (x) => Math.max(0, 1 - Math.abs(x)), reach: 1 },
};

/** Keys' cubic with a = −0.5. */
function bicubic(x: number): number {
  const a = -0.5;
  const t = Math.abs(x);
  if (t < 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  if (t < 2) return (((t - 5) * t + 8) * t - 4) * a;
  return 0;
}

function tapsFor(inSize: number, outSize: number, filter: Filter): Taps {
  const key = `${filter}:${inSize}:${outSize}`;
  const known = tapsCache.get(key);
  if (known) return known;
  const scale = inSize / outSize;
  const stretch = Math.max(scale, 1);
  const support = filters[filter].reach * stretch;
  const width = Math.ceil(support) * 2 + 1;
  const taps: Taps = {
    start: new Int32Array(outSize),
    count: new Int32Array(outSize),
    weights: new Int32Array(outSize * width),
    width,
  };
  for (let i = 0; i < outSize; i++)
    fillTaps(taps, i, (i + 0.5) * scale, { filter, support, stretch, inSize });
  tapsCache.set(key, taps);
  return taps;
}

function fillTaps(
  taps: Taps,
  i: number,
  center: number,
  { filter, support, stretch, inSize }: { filter: Filter; support: number; stretch: number; inSize: number },
): void {
  const { shape } = filters[filter];
  const first = Math.max(Math.trunc(center - support + 0.5), 0);
  const last = Math.min(Math.trunc(center + support + 0.5), inSize);
  const raw = Array.from({ length: last - first }, (_, k) =>
    shape((k + first - center + 0.5) * (1 / stretch)),
  );
  const total = raw.reduce((sum, weight) => sum + weight, 0);
  taps.start[i] = first;
  taps.count[i] = last - first;
  for (const [k, weight] of raw.entries()) {
    const fixed = (total === 0 ? weight : weight / total) * (1 << precisionBits);
    taps.weights[i * taps.width + k] = Math.trunc(fixed < 0 ? fixed - 0.5 : fixed + 0.5);
  }
}

/** For output line i the k-th of at most `width` input lines and its weight; 0 where there are fewer. */
export interface FilterTable {
  readonly width: number;
  readonly lines: Int32Array; // [width, outputs]
  readonly weights: Int32Array; // [width, outputs], in units of 2^-fixedBits
}

export const fixedBits = precisionBits;

/** The same weights as a rectangle, for resizing many pictures at once on any device. */
export function filterTable(inSize: number, outSize: number, filter: Filter): FilterTable {
  const taps = tapsFor(inSize, outSize, filter);
  const width = taps.count.reduce((most, count) => Math.max(most, count), 1);
  const lines = new Int32Array(width * outSize);
  const weights = new Int32Array(width * outSize);
  for (let i = 0; i < outSize; i++) {
    for (let k = 0; k < width; k++) {
      const used = k < taps.count[i]!;
      lines[k * outSize + i] = used ? taps.start[i]! + k : 0;
      weights[k * outSize + i] = used ? taps.weights[i * taps.width + k]! : 0;
    }
  }
  return { width, lines, weights };
}

const toByte = (sum: number): number => Math.min(Math.max(sum >> precisionBits, 0), 255);

/** Shrinks or grows along the middle axis of [outer, size, inner]. */
function resizeAxis(
  input: Uint8Array,
  outer: number,
  size: number,
  inner: number,
  outSize: number,
  filter: Filter,
): Uint8Array {
  const { start, count, weights, width } = tapsFor(size, outSize, filter);
  const output = new Uint8Array(outer * outSize * inner);
  for (let o = 0; o < outer; o++) {
    for (let i = 0; i < outSize; i++) {
      const from = (o * size + start[i]!) * inner;
      const to = (o * outSize + i) * inner;
      for (let c = 0; c < inner; c++) {
        let sum = half;
        for (let k = 0; k < count[i]!; k++) sum += input[from + k * inner + c]! * weights[i * width + k]!;
        output[to + c] = toByte(sum);
      }
    }
  }
  return output;
}

/** `image` is [height, width, 3], row by row; answers [outHeight, outWidth, 3]. */
export function pillowResize(
  image: Uint8Array,
  [height, width]: readonly [number, number],
  [outHeight, outWidth]: readonly [number, number],
  filter: Filter,
): Uint8Array {
  let pixels = image;
  if (width !== outWidth) pixels = resizeAxis(pixels, height, width, 3, outWidth, filter);
  if (height !== outHeight) pixels = resizeAxis(pixels, 1, height, outWidth * 3, outHeight, filter);
  return pixels;
}

export const pillowBicubic = (
  image: Uint8Array,
  from: readonly [number, number],
  to: readonly [number, number],
): Uint8Array => pillowResize(image, from, to, "bicubic");
