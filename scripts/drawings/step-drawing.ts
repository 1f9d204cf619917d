/** One training step as a sequence drawing: a lane for each kind of worker, a band for each phase. */
import { wordWidth } from "../../src/pictures/svg.ts";
import { arrowHead, box, ink, line, sheet, type TextStyle, text, tints } from "./sheet.ts";

interface Event {
  readonly from: number;
  readonly to: number; // the same lane: something that happens in it
  readonly words: string;
}

export interface Steps {
  readonly lanes: readonly string[];
  readonly phases: readonly {
    readonly title: string;
    readonly note: string;
    readonly events: readonly Event[];
  }[];
}

export function readSteps(source: string): Steps {
  let lanes: string[] = [];
  const phases: { title: string; note: string; events: Event[] }[] = [];
  for (const row of source.split("\n").filter((row) => row.trim() !== "" && !row.startsWith("#"))) {
    const [head = "", ...rest] = row.split(": ");
    const words = rest.join(": ");
    if (head === "lanes") lanes = words.split("|").map((lane) => lane.trim());
    else if (/^\d/.test(head)) phases.push({ title: head, note: words, events: [] });
    else phases.at(-1)?.events.push({ ...ends(head, lanes), words });
  }
  return { lanes, phases };
}

function ends(head: string, lanes: readonly string[]): { from: number; to: number } {
  const [from, to = from] = head.split("->").map((name) => lanes.indexOf(name.trim()));
  if (from === undefined || to === undefined || from < 0 || to < 0) {
    throw new Error(`training-step.txt: "${head.trim()}" names a lane that is not among ${lanes.join(", ")}`);
  }
  return { from, to };
}

const width = 1060;
const side = 24;
const headY = 20;
const headSize = { width: 150, height: 30 };
const titleWidth = 150;
const eventHeight = 40;
const labelSize = 12;
const bandColor = "#f7f8fa";

export function stepDrawing({ lanes, phases }: Steps): string {
  const laneWidth = (width - 2 * side - titleWidth) / lanes.length;
  const laneX = (lane: number): number => side + titleWidth + laneWidth * (lane + 0.5);
  const bands: string[] = [];
  const marks: string[] = [];
  let y = headY + headSize.height + 12;
  for (const { title, note, events } of phases) {
    const height = events.length * eventHeight + 8;
    const frame = { fill: bandColor, stroke: ink.faint };
    bands.push(box({ x: side, y }, { width: width - 2 * side, height }, frame));
    bands.push(text(title, { x: side + 12, y: y + 21 }, { size: 13, weight: 600 }, "start"));
    bands.push(text(note, { x: side + 12, y: y + 38 }, { size: 11, color: ink.soft }, "start"));
    events.forEach((event, i) => {
      marks.push(eventMark(event, laneX, y + 4 + (i + 0.5) * eventHeight));
    });
    y += height + 8;
  }
  const title = "One training step";
  const heading = text(title, { x: side, y: headY + 20 }, { size: 17, weight: 600 }, "start");
  const heads = lanes.map((lane, i) => laneHead(lane, laneX(i)));
  const rails = lanes.map((_, i) => rail(laneX(i), y - 8));
  return sheet(title, width, y + 10, [heading, ...bands, ...rails, ...heads, ...marks]);
}

const rail = (x: number, end: number): string =>
  line(
    [
      { x, y: headY + headSize.height },
      { x, y: end },
    ],
    { dashed: true },
  );

const laneHead = (lane: string, x: number): string =>
  box({ x: x - headSize.width / 2, y: headY }, headSize, tints.green) +
  text(lane, { x, y: headY + 20 }, { size: 13, weight: 600 });

/** Words on a patch of the band's color, so that no lane runs through them. */
function label(words: string, x: number, y: number, style: TextStyle): string {
  const wide = wordWidth(words, style.size ?? labelSize, style.weight) + 10;
  const patch = { fill: bandColor, stroke: "none" };
  return (
    box({ x: x - wide / 2, y: y - 12 }, { width: wide, height: 16 }, patch) + text(words, { x, y }, style)
  );
}

/** An arrow between two lanes with its words above it, or a box on one lane. */
function eventMark({ from, to, words }: Event, laneX: (lane: number) => number, y: number): string {
  const [start, end] = [laneX(from), laneX(to)];
  if (from === to) {
    const wide = wordWidth(words, labelSize) + 20;
    const x = Math.min(Math.max(start, side + titleWidth + wide / 2), width - side - 8 - wide / 2);
    const frame = box({ x: x - wide / 2, y: y - 14 }, { width: wide, height: 26 }, tints.blue);
    return frame + text(words, { x, y: y + 3 }, { size: labelSize });
  }
  const ahead = end > start;
  const tip = { x: end + (ahead ? -2 : 2), y: y + 8 };
  const shaft = line(
    [
      { x: start, y: tip.y },
      { x: tip.x + (ahead ? -7 : 7), y: tip.y },
    ],
    { color: ink.text },
  );
  const above = label(words, (start + end) / 2, y, { size: labelSize });
  return above + shaft + arrowHead(tip, ahead ? "right" : "left", ink.text);
}
