/**
 * SVG to pixels, with fonts of our own, so that a picture looks the same on every machine.
 *
 * resvg draws; the text is set in Inter, whose files come with an npm package. Both are loaded at the first picture:
 * most processes draw none.
 */
import { createRequire } from "node:module";
import type { Resvg, ResvgRenderOptions } from "@resvg/resvg-js";
import type { Rgb } from "./rgb.ts";

const require = createRequire(import.meta.url);

/** The family to name in an SVG; weights 400 and 600 are there. */
export const fontFamily = "Inter";

let fontFiles: readonly string[] | undefined;

function parsed(svg: string, options: ResvgRenderOptions = {}): Resvg {
  const { Resvg } = require("@resvg/resvg-js") as typeof import("@resvg/resvg-js");
  fontFiles ??= ["400Regular/Inter_400Regular", "600SemiBold/Inter_600SemiBold"].map((file) =>
    require.resolve(`@expo-google-fonts/inter/${file}.ttf`),
  );
  const font = { fontFiles: [...fontFiles], loadSystemFonts: false, defaultFontFamily: fontFamily };
  return new Resvg(svg, { ...options, font });
}

/** PNG bytes; `scale` pixels for each unit of the SVG. */
export const svgToPng = (svg: string, scale = 1): Uint8Array =>
  parsed(svg, { fitTo: { mode: "zoom", value: scale } })
    .render()
    .asPng();

/** RGB pixels; what the SVG leaves transparent is black. */
export function svgToRgb(svg: string): Rgb {
  const { width, height, pixels } = parsed(svg).render();
  const data = new Uint8Array(3 * width * height);
  for (let from = 0, to = 0; to < data.length; from += 4, to += 3) {
    data[to] = pixels[from]!;
    data[to + 1] = pixels[from + 1]!;
    data[to + 2] = pixels[from + 2]!;
  }
  return { width, height, data };
}

const knownWidths = new Map<string, number>();
const mostWidths = 4096;

/** How wide a word is, in units of the SVG; measuring costs milliseconds, so answers are kept. */
export function wordWidth(word: string, size: number, weight = 400): number {
  const key = `${size} ${weight} ${word}`;
  const known = knownWidths.get(key);
  if (known !== undefined) return known;
  if (knownWidths.size >= mostWidths) knownWidths.clear();
  const svg = svgOf(10, 10, textElement(word, { x: 0, y: 0, size, weight, color: "#000" }));
  const width = parsed(svg).getBBox()?.width ?? 0;
  knownWidths.set(key, width);
  return width;
}

export interface TextPlace {
  readonly x: number;
  readonly y: number; // of the base line
  readonly size: number;
  readonly weight?: number;
  readonly color: string;
}

export const textElement = (text: string, { x, y, size, weight = 400, color }: TextPlace): string =>
  `<text x="${x}" y="${y}" font-family="${fontFamily}" font-size="${size}" font-weight="${weight}" fill="${color}">` +
  `${escaped(text)}</text>`;

export const svgOf = (width: number, height: number, content: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${content}</svg>`;

/** XML has no control characters, and five that mean something. */
const escaped = (text: string): string =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must go
    .replace(/[\u0000-\u001f\u007f]/g, " ")
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
