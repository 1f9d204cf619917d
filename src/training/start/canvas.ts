/**
 * A white sheet to draw charts on: smooth lines, discs, rectangles and text, in RGB.
 *
 * Shapes are drawn by how much of each pixel they cover, so that lines look the same at every angle. Coordinates are pixels, y downwards,
 * and may have fractions.
 */
import { glyphHeight, glyphWidth, hasInk } from "#envs";

export type Colour = readonly [number, number, number];

export class Canvas {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.data = new Uint8Array(3 * width * height).fill(255);
  }

  line(from: readonly [number, number], to: readonly [number, number], colour: Colour, thickness = 1): void {
    const [[x0, y0], [x1, y1]] = [from, to];
    const reach = thickness / 2 + 1;
    const box = [Math.min(x0, x1) - reach, Math.min(y0, y1) - reach] as const;
    const end = [Math.max(x0, x1) + reach, Math.max(y0, y1) + reach] as const;
    this.#cover(box, end, colour, (x, y) => thickness / 2 + 0.5 - distance(x, y, from, to));
  }

  disc([x0, y0]: readonly [number, number], radius: number, colour: Colour): void {
    const reach = radius + 1;
    const [box, end] = [
      [x0 - reach, y0 - reach],
      [x0 + reach, y0 + reach],
    ] as const;
    this.#cover(box, end, colour, (x, y) => radius + 0.5 - Math.hypot(x - x0, y - y0));
  }

  /** `opacity` 0 to 1. */
  rectangle(
    [left, top]: readonly [number, number],
    [right, bottom]: readonly [number, number],
    colour: Colour,
    opacity = 1,
  ): void {
    this.#cover([left, top], [right, bottom], colour, () => opacity);
  }

  /** Anchored at its left, centre or right; y is the middle of the letters. */
  text(words: string, [x, y]: readonly [number, number], style: TextStyle): void {
    const { scale = 2, colour, align = "left" } = style;
    const width = textWidth(words, scale);
    const left = Math.round(x - (align === "left" ? 0 : align === "right" ? width : width / 2));
    const top = Math.round(y - (glyphHeight * scale) / 2);
    for (const [column, character] of [...words].entries())
      for (let v = 0; v < glyphHeight * scale; v++)
        for (let u = 0; u < glyphWidth * scale; u++)
          if (hasInk(character, Math.floor(u / scale), Math.floor(v / scale)))
            this.#blend(left + column * glyphWidth * scale + u, top + v, colour, 1);
  }

  /** Blends the colour into every pixel of the box, as far as `coverage` (cut to 0…1) says. */
  #cover(
    [left, top]: readonly [number, number],
    [right, bottom]: readonly [number, number],
    colour: Colour,
    coverage: (x: number, y: number) => number,
  ): void {
    const [firstX, lastX] = [Math.max(0, Math.floor(left)), Math.min(this.width - 1, Math.ceil(right))];
    const [firstY, lastY] = [Math.max(0, Math.floor(top)), Math.min(this.height - 1, Math.ceil(bottom))];
    for (let y = firstY; y <= lastY; y++)
      for (let x = firstX; x <= lastX; x++) this.#blend(x, y, colour, coverage(x, y));
  }

  #blend(x: number, y: number, colour: Colour, share: number): void {
    if (share <= 0 || x < 0 || y < 0 || x >= this.width || y >= this.height) return;
    const at = 3 * (y * this.width + x);
    const weight = Math.min(1, share);
    for (let c = 0; c < 3; c++)
      this.data[at + c] = Math.round((1 - weight) * this.data[at + c]! + weight * colour[c]!);
  }
}

export interface TextStyle {
  readonly colour: Colour;
  readonly scale?: number;
  readonly align?: "left" | "centre" | "right";
}

export const textWidth = (words: string, scale = 2): number => [...words].length * glyphWidth * scale;

/** From a point to the nearest point of a segment. */
function distance(
  x: number,
  y: number,
  [x0, y0]: readonly [number, number],
  [x1, y1]: readonly [number, number],
): number {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const length2 = dx * dx + dy * dy;
  const along = length2 === 0 ? 0 : Math.min(1, Math.max(0, ((x - x0) * dx + (y - y0) * dy) / length2));
  return Math.hypot(x - x0 - along * dx, y - y0 - along * dy);
}
