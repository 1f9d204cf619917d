/** What the PNG reader and writer share: the picture type, the signature and the Paeth predictor. */

/** Rows from the top, channels interleaved: gray, RGB or RGBA. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly channels: 1 | 3 | 4;
  readonly data: Uint8Array;
}

export const pngSignature = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);

/** The standard's "color type" for each number of channels. */
export const pngColorTypes = { 1: 0, 3: 2, 4: 6 } as const;

/** Whichever neighbor is nearest to left + up - corner. */
export function paeth(left: number, up: number, corner: number): number {
  const fromLeft = Math.abs(up - corner);
  const fromUp = Math.abs(left - corner);
  const fromCorner = Math.abs(left + up - 2 * corner);
  if (fromLeft <= fromUp && fromLeft <= fromCorner) return left;
  return fromUp <= fromCorner ? up : corner;
}
