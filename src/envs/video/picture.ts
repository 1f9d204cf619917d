/** Pictures of videos: enlarged, written on, tiled. RGB bytes, rows from the top. */
import { glyphHeight, glyphWidth, hasInk } from "./bitmap-font.ts";

export interface Rgb {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

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

const margin = 4;

/** Breaks at spaces into lines that fit; a word longer than a line is cut. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ").flatMap((whole) => pieces(whole, columns))) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (longer.length <= columns) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return line === "" ? lines : [...lines, line];
}

const pieces = (word: string, columns: number): string[] =>
  word.match(new RegExp(`.{1,${columns}}`, "g")) ?? [];

/** Writes lines in white on a darkened strip along the upper edge, wrapped to the picture's width. */
export function writeOn({ width, height, data }: Rgb, lines: readonly string[]): Rgb {
  const columns = Math.max(1, Math.floor((width - 2 * margin) / glyphWidth));
  const room = Math.max(0, Math.floor((height - 2 * margin) / glyphHeight));
  const shown = lines.flatMap((line) => wrap(line, columns)).slice(0, room);
  const out = Uint8Array.from(data);
  if (shown.length === 0) return { width, height, data: out };
  const strip = 2 * margin + shown.length * glyphHeight;
  for (let i = 0; i < 3 * strip * width; i++) out[i] = out[i]! >> 2;
  for (const [row, line] of shown.entries())
    for (const [column, character] of [...line].entries())
      drawGlyph(out, width, character, margin + column * glyphWidth, margin + row * glyphHeight);
  return { width, height, data: out };
}

function drawGlyph(data: Uint8Array, width: number, character: string, left: number, top: number): void {
  for (let y = 0; y < glyphHeight; y++)
    for (let x = 0; x < glyphWidth; x++)
      if (hasInk(character, x, y)) {
        const at = 3 * ((top + y) * width + left + x);
        data.fill(255, at, at + 3);
      }
}

/** All pictures in one: ⌊√n⌋ rows, filled down each column before the next begins, as the reference tiles them. */
export function tile(pictures: readonly Rgb[]): Rgb {
  const [first] = pictures;
  if (!first) throw new Error("internal: no pictures to tile");
  const rows = Math.floor(Math.sqrt(pictures.length));
  const columns = Math.ceil(pictures.length / rows);
  const width = columns * first.width;
  const data = new Uint8Array(3 * width * rows * first.height);
  for (const [i, picture] of pictures.entries()) {
    const [left, top] = [Math.floor(i / rows) * first.width, (i % rows) * first.height];
    for (let y = 0; y < first.height; y++) {
      const line = picture.data.subarray(3 * y * first.width, 3 * (y + 1) * first.width);
      data.set(line, 3 * ((top + y) * width + left));
    }
  }
  return { width, height: rows * first.height, data };
}
