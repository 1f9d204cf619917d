/**
 * Filled circles and thick lines, pixel for pixel as OpenCV draws them.
 *
 * EVAC was trained on pictures of poses drawn with `cv2.circle(…, -1)` and `cv2.line(…, thickness)`, so the same
 * pixels must come out. OpenCV works in fixed point with 16 fraction bits: a thick line is a convex quadrilateral
 * (its outline drawn, then filled row by row) with a disc at each end; a disc is a midpoint circle filled by rows.
 */

/** RGB bytes, rows from the top. */
export interface Canvas {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array; // [height, width, 3]
}

export type Color = readonly [number, number, number];

/** A point in whole pixels, or in 1/65536ths of them. */
interface Point {
  readonly x: number;
  readonly y: number;
}

const one = 2 ** 16;
const half = one / 2;
const whole = (fixed: number): number => Math.floor(fixed / one);
const nearest = (fixed: number): number => whole(fixed + half);

/** An empty canvas; over the given bytes, where there are any. */
export function newCanvas(width: number, height: number, gray: number, bytes?: Uint8Array): Canvas {
  return { width, height, data: (bytes ?? new Uint8Array(width * height * 3)).fill(gray) };
}

function fillRow(canvas: Canvas, y: number, from: number, to: number, color: Color): void {
  if (y < 0 || y >= canvas.height) return;
  const { data, width } = canvas;
  const [red, green, blue] = color;
  const end = (y * width + Math.min(to, width - 1)) * 3;
  for (let at = (y * width + Math.max(from, 0)) * 3; at <= end; at += 3) {
    data[at] = red;
    data[at + 1] = green;
    data[at + 2] = blue;
  }
}

/** A filled circle: the midpoint algorithm, a row at a time. */
export function drawDisc(canvas: Canvas, { x, y }: Point, radius: number, color: Color): void {
  let [error, dx, dy, plus, minus] = [0, radius, 0, 1, 2 * radius - 1];
  while (dx >= dy) {
    for (const row of [y - dy, y + dy]) fillRow(canvas, row, x - dx, x + dx, color);
    for (const row of [y - dx, y + dx]) fillRow(canvas, row, x - dy, x + dy, color);
    dy += 1;
    error += plus;
    plus += 2;
    if (error > 0) {
      error -= minus;
      dx -= 1;
      minus -= 2;
    }
  }
}

/** A line with round ends. */
export function drawThickLine(canvas: Canvas, from: Point, to: Point, thickness: number, color: Color): void {
  const [dx, dy] = [from.x - to.x, to.y - from.y];
  const length = Math.sqrt(dx * dx + dy * dy);
  if (length > 0) {
    const reach = (thickness * half + (thickness % 2) * half) / length;
    const [sideX, sideY] = [roundHalfEven(dy * reach), roundHalfEven(dx * reach)];
    const [a, b] = [scaled(from), scaled(to)];
    fillQuadrilateral(
      canvas,
      [
        { x: a.x + sideX, y: a.y + sideY },
        { x: a.x - sideX, y: a.y - sideY },
        { x: b.x - sideX, y: b.y - sideY },
        { x: b.x + sideX, y: b.y + sideY },
      ],
      color,
    );
  }
  for (const end of [from, to]) drawDisc(canvas, end, nearest(thickness * half), color);
}

const scaled = ({ x, y }: Point): Point => ({ x: x * one, y: y * one });

function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  if (value - floor !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}

/** One side of a convex polygon during the scan: where it is, where it goes, in fixed point. */
interface Edge {
  corner: number;
  readonly turn: number; // 1: corners in order, count − 1: backwards
  x: number;
  slope: number;
  until: number; // row at which its next corner begins
}

/** Outline, then rows from the topmost corner down, between the two edges that cross them. */
function fillQuadrilateral(canvas: Canvas, corners: readonly Point[], color: Color): void {
  for (const [i, corner] of corners.entries()) outline(canvas, corners.at(i - 1)!, corner, color);
  const xs = corners.map(({ x }) => nearest(x));
  const ys = corners.map(({ y }) => nearest(y));
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [top, bottom] = [Math.min(...ys), Math.min(Math.max(...ys), canvas.height - 1)];
  if (right < 0 || Math.max(...ys) < 0 || left >= canvas.width || top >= canvas.height) return;
  const topmost = corners.reduce((best, { y }, i) => (y < corners[best]!.y ? i : best), 0);
  const edges = [1, corners.length - 1].map(
    (turn): Edge => ({ corner: topmost, turn, x: -one, slope: 0, until: top }),
  );
  const budget = { edges: corners.length };
  for (let y = top; y <= bottom; y++) {
    for (const edge of edges) if (y >= edge.until) advance(edge, corners, y, budget);
    if (budget.edges < 0) break; // the lowest corner: the outline has drawn it
    const unseen = y < 0 ? Math.min(0, edges[0]!.until, edges[1]!.until) - y : 0; // rows above the canvas, passed over at once
    if (unseen > 0) {
      for (const edge of edges) edge.x += unseen * edge.slope;
      y += unseen - 1;
      continue;
    }
    const [a, b] = [edges[0]!.x, edges[1]!.x];
    fillRow(canvas, y, nearest(Math.min(a, b)), nearest(Math.max(a, b)), color);
    for (const edge of edges) edge.x += edge.slope;
  }
}

/** Moves an edge on to the corner that lies below row y. */
function advance(edge: Edge, corners: readonly Point[], y: number, budget: { edges: number }): void {
  let before = edge.corner;
  let next = (before + edge.turn) % corners.length;
  while (budget.edges-- > 0) {
    const row = nearest(corners[next]!.y);
    if (row > y) {
      const [start, end] = [corners[before]!.x, corners[next]!.x];
      edge.until = row;
      edge.slope = Math.trunc(((end - start) * 2 + (row - y)) / (2 * (row - y)));
      edge.x = start;
      edge.corner = next;
      return;
    }
    before = next;
    next = (next + edge.turn) % corners.length;
  }
}

/** A one-pixel line between fixed-point ends, stepping along its longer axis. */
function outline(canvas: Canvas, from: Point, to: Point, color: Color): void {
  const clipped = clip(canvas, from, to);
  if (!clipped) return;
  let [a, b] = clipped;
  const steep = Math.abs(b.x - a.x) <= Math.abs(b.y - a.y);
  if (steep ? b.y < a.y : b.x < a.x) [a, b] = [b, a];
  const [dx, dy] = [b.x - a.x, b.y - a.y];
  const put = (x: number, y: number): void => fillRow(canvas, y, x, x, color);
  put(nearest(b.x), nearest(b.y));
  const steps = whole(steep ? dy : dx);
  const slope = Math.trunc(((steep ? dx : dy) * one) / ((steep ? dy : dx) | 1));
  const [along, across] = steep ? [nearest(a.y), a.x + half] : [nearest(a.x), a.y + half];
  for (let i = 0; i <= steps; i++) {
    const drift = whole(across + i * slope);
    if (steep) put(drift, along + i);
    else put(along + i, drift);
  }
}

/** The part of a fixed-point line inside the canvas (Cohen and Sutherland); undefined when there is none. */
function clip({ width, height }: Canvas, from: Point, to: Point): [Point, Point] | undefined {
  const [right, bottom] = [width * one - 1, height * one - 1];
  let [a, b] = [from, to];
  const aside = ({ x }: Point): number => (x < 0 ? -1 : x > right ? 1 : 0);
  const above = ({ y }: Point): number => (y < 0 ? -1 : y > bottom ? 1 : 0);
  const outside = (): boolean =>
    (aside(a) !== 0 && aside(a) === aside(b)) || (above(a) !== 0 && above(a) === above(b));
  const ontoRow = (p: Point, y: number): Point => ({
    x: p.x + Math.trunc(((y - p.y) * (b.x - a.x)) / (b.y - a.y)),
    y,
  });
  const ontoColumn = (p: Point, x: number): Point => ({
    x,
    y: p.y + Math.trunc(((x - p.x) * (b.y - a.y)) / (b.x - a.x)),
  });
  if (outside()) return undefined;
  if (above(a) !== 0) a = ontoRow(a, above(a) < 0 ? 0 : bottom);
  if (above(b) !== 0) b = ontoRow(b, above(b) < 0 ? 0 : bottom);
  if (outside()) return undefined;
  if (aside(a) !== 0) a = ontoColumn(a, aside(a) < 0 ? 0 : right);
  if (aside(b) !== 0) b = ontoColumn(b, aside(b) < 0 ? 0 : right);
  return [a, b];
}
