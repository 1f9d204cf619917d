/**
 * Text below a picture, never on it.
 *
 * A film's frames must all be of one size, so a caption has a fixed number of rows: longer text is cut with an ellipsis. Frames
 * repeat their captions, so drawn strips are kept for a while.
 */
import { blank, place, type Rgb } from "./rgb.ts";
import { svgOf, svgToRgb, textElement, wordWidth } from "./svg.ts";

const size = 14; // pixels
const space = 4; // between words, at that size
const rowHeight = 20;
const margin = 8;
const background = "#14171c";
const keptStrips = 256;

export interface CaptionLine {
  readonly text: string;
  /** Drawn in semi-bold. */
  readonly strong?: boolean;
  /** Default: white. */
  readonly color?: string;
}

export class Captions {
  readonly #width: number;
  readonly #rows: number;
  readonly #strips = new Map<string, Rgb>();

  /** For pictures of that width. `rows` lines of text fit below them. */
  constructor(width: number, rows: number) {
    this.#width = width;
    this.#rows = rows;
  }

  /** Of the strip; even, as video encoders want it. */
  get height(): number {
    return 2 * margin + this.#rows * rowHeight;
  }

  /** The picture with these lines below it, each wrapped to its width. */
  below(picture: Rgb, lines: readonly CaptionLine[]): Rgb {
    const out = blank(this.#width, picture.height + this.height, 0);
    place(out, picture, [0, 0]);
    place(out, this.#strip(lines), [0, picture.height]);
    return out;
  }

  #strip(lines: readonly CaptionLine[]): Rgb {
    const key = JSON.stringify(lines);
    const known = this.#strips.get(key);
    if (known) return known;
    if (this.#strips.size >= keptStrips) this.#strips.clear();
    const strip = svgToRgb(this.#svg(lines));
    this.#strips.set(key, strip);
    return strip;
  }

  #svg(lines: readonly CaptionLine[]): string {
    const room = this.#width - 2 * margin;
    const wrapped = lines.flatMap((line) => wrap(line.text, room, line).map((text) => ({ ...line, text })));
    const shown = wrapped.slice(0, this.#rows);
    const cut = wrapped.length > shown.length;
    const texts = shown.map(({ text, strong, color = "#fff" }, row) =>
      textElement(cut && row === shown.length - 1 ? `${text}…` : text, {
        x: margin,
        y: margin + row * rowHeight + size,
        size,
        weight: strong ? 600 : 400,
        color,
      }),
    );
    const sheet = `<rect width="${this.#width}" height="${this.height}" fill="${background}"/>`;
    return svgOf(this.#width, this.height, sheet + texts.join(""));
  }
}

/** Breaks at spaces into lines no wider than `room` pixels; a longer word stands alone and is cut by the edge. */
export function wrap(text: string, room: number, { strong = false }: { strong?: boolean } = {}): string[] {
  const lines: { words: string[]; width: number }[] = [];
  for (const word of text.split(" ").filter(Boolean)) {
    const width = wordWidth(word, size, strong ? 600 : 400);
    const last = lines.at(-1);
    if (last && last.width + space + width <= room) {
      last.words.push(word);
      last.width += space + width;
    } else lines.push({ words: [word], width });
  }
  return lines.map(({ words }) => words.join(" "));
}
