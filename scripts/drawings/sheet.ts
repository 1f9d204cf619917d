/** The parts of a drawing: boxes, lines and text on a sheet with a background of its own, for light and dark pages. */
import { palette } from "../../src/pictures/chart.ts";
import { fontFamily, svgOf, textElement, wordWidth } from "../../src/pictures/svg.ts";

export const ink = {
  paper: "#ffffff",
  text: palette.ink,
  soft: palette.soft,
  line: "#8a9099",
  faint: palette.grid,
} as const;

export interface Tint {
  readonly fill: string;
  readonly stroke: string;
}

export const tints = {
  blue: { fill: "#e5f1f9", stroke: palette.blue },
  green: { fill: "#e4f5ef", stroke: palette.green },
  orange: { fill: "#fbece2", stroke: palette.orange },
  gray: { fill: "#f1f2f4", stroke: "#8a9099" },
} as const satisfies Record<string, Tint>;

export interface Point {
  readonly x: number;
  readonly y: number;
}

const short = (value: number): string => String(Math.round(value * 10) / 10);

export interface TextStyle {
  readonly size?: number;
  readonly weight?: number;
  readonly color?: string;
}

/** Text with its middle, or its left end, at the point; y is the base line. */
export function text(words: string, { x, y }: Point, style: TextStyle = {}, anchor = "middle"): string {
  const { size = 13, weight = 400, color = ink.text } = style;
  const left = anchor === "middle" ? x - wordWidth(words, size, weight) / 2 : x;
  const place = { x: Number(short(left)), y: Number(short(y)), size, weight };
  return textElement(words, { ...place, color: color });
}

export function box(
  at: Point,
  size: { readonly width: number; readonly height: number },
  tint: Tint,
): string {
  return (
    `<rect x="${short(at.x)}" y="${short(at.y)}" width="${short(size.width)}" height="${short(size.height)}" rx="6" ` +
    `fill="${tint.fill}" stroke="${tint.stroke}" stroke-width="1.2"/>`
  );
}

export interface LineStyle {
  readonly color?: string;
  readonly dashed?: boolean;
}

/** A straight line, or one that bends at every point on the way, top to bottom. */
export function line(points: readonly Point[], { color = ink.line, dashed = false }: LineStyle = {}): string {
  const [first, ...rest] = points as [Point, ...Point[]];
  let path = `M${short(first.x)} ${short(first.y)}`;
  let from = first;
  for (const to of rest) {
    const middle = (from.y + to.y) / 2;
    const straight = from.x === to.x || from.y === to.y;
    path += straight
      ? `L${short(to.x)} ${short(to.y)}`
      : `C${short(from.x)} ${short(middle)} ${short(to.x)} ${short(middle)} ${short(to.x)} ${short(to.y)}`;
    from = to;
  }
  const dash = dashed ? ' stroke-dasharray="3 4"' : "";
  return `<path d="${path}" fill="none" stroke="${color}" stroke-width="1.3"${dash}/>`;
}

/** The head of an arrow whose tip is at the point. */
export function arrowHead(
  { x, y }: Point,
  towards: "left" | "right" | "down",
  color: string = ink.line,
): string {
  const turn = { right: 0, down: 90, left: 180 }[towards];
  return `<path d="M0 0L-8 -4L-8 4Z" transform="translate(${short(x)} ${short(y)}) rotate(${turn})" fill="${color}"/>`;
}

/** The whole drawing, with a title for readers who do not see it. Where Inter is not installed, the reader's own sans serif serves. */
export function sheet(title: string, width: number, height: number, parts: readonly string[]): string {
  const paper = `<rect width="${width}" height="${height}" rx="8" fill="${ink.paper}"/>`;
  const svg = svgOf(width, height, `\n${[`<title>${title}</title>`, paper, ...parts].join("\n")}\n`);
  return `${svg.replaceAll(`"${fontFamily}"`, `"${fontFamily}, Helvetica, Arial, sans-serif"`)}\n`;
}
