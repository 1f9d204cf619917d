/** Pictures as RGB bytes, rows from the top: enlarged, set side by side, tiled. */
export interface Rgb {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array; // [height, width, 3]
}

/** A picture of one gray. */
export const blank = (width: number, height: number, gray: number): Rgb => ({
  width,
  height,
  data: new Uint8Array(3 * width * height).fill(gray),
});

/** Each pixel becomes factor × factor pixels. */
export function enlarge({ width, height, data }: Rgb, factor: number): Rgb {
  const out = new Uint8Array(data.length * factor * factor);
  const wide = width * factor;
  for (let y = 0; y < height * factor; y++)
    for (let x = 0; x < wide; x++) {
      const from = 3 * (Math.floor(y / factor) * width + Math.floor(x / factor));
      const to = 3 * (y * wide + x);
      for (let c = 0; c < 3; c++) out[to + c] = data[from + c]!;
    }
  return { width: wide, height: height * factor, data: out };
}

/** Copies a picture into a larger one. */
export function place(into: Rgb, { width, height, data }: Rgb, [left, top]: readonly [number, number]): void {
  for (let y = 0; y < height; y++)
    into.data.set(data.subarray(3 * y * width, 3 * (y + 1) * width), 3 * ((top + y) * into.width + left));
}

/** Pictures of one height from left to right, with a white gap of that many pixels between them. */
export function beside(pictures: readonly Rgb[], gap = 0): Rgb {
  const width = pictures.reduce((sum, picture) => sum + picture.width, gap * (pictures.length - 1));
  const out = blank(width, pictures[0]?.height ?? 0, 255);
  let left = 0;
  for (const picture of pictures) {
    place(out, picture, [left, 0]);
    left += picture.width + gap;
  }
  return out;
}

/** All pictures in one: ⌊√n⌋ rows, filled down each column before the next begins, as the reference tiles them. */
export function tile(pictures: readonly Rgb[]): Rgb {
  const [first] = pictures;
  if (!first) throw new Error("internal: no pictures to tile");
  const rows = Math.floor(Math.sqrt(pictures.length));
  const columns = Math.ceil(pictures.length / rows);
  const out = blank(columns * first.width, rows * first.height, 0);
  for (const [i, picture] of pictures.entries())
    place(out, picture, [Math.floor(i / rows) * first.width, (i % rows) * first.height]);
  return out;
}
