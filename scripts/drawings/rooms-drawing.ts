/** The rooms and who imports whom: rows of boxes, every arrow pointing from the room that imports down to the imported one. */
import { wordWidth } from "../../src/pictures/svg.ts";
import { layers, type Placed } from "./layers.ts";
import { arrowHead, box, ink, line, type Point, sheet, type Tint, text, tints } from "./sheet.ts";

export interface Group {
  readonly name: string;
  readonly meaning: string;
  readonly captions: ReadonlyMap<string, string>;
}

/** `name: meaning` begins a group; indented lines are its rooms with a caption each. */
export function readGroups(source: string): Group[] {
  const groups: { name: string; meaning: string; captions: Map<string, string> }[] = [];
  for (const row of source.split("\n").filter((row) => row.trim() !== "" && !row.startsWith("#"))) {
    const [, indented, name = "", words = ""] = /^(\s*)(\S+?):?\s+(.*)$/.exec(row) ?? [];
    if (indented) groups.at(-1)?.captions.set(name, words);
    else groups.push({ name, meaning: words, captions: new Map() });
  }
  return groups;
}

const groupTints: readonly Tint[] = [tints.orange, tints.green, tints.gray, tints.blue];
const tintOf = (group: number): Tint => groupTints[group % groupTints.length] as Tint;

const size = { width: 152, height: 46 };
const rowHeight = 88;
const margin = 28;
const top = 84;

export function roomsDrawing(
  rooms: Readonly<Record<string, readonly string[]>>,
  groups: readonly Group[],
): string {
  requireCaptions(Object.keys(rooms), groups);
  const { places, arrows, rows } = layers(rooms, { box: size.width + 20, passing: 24 });
  const xs = [...places.values(), ...arrows.flatMap(({ way }) => way)].map(({ x }) => x);
  const left = Math.min(...xs) - size.width / 2 - margin;
  const width = Math.ceil(Math.max(...xs) + size.width / 2 + margin - left);
  const at = ({ x, row }: Placed): Point => ({ x: x - left, y: top + (rows - 1 - row) * rowHeight });
  const boxes = groups.flatMap(({ captions }, group) =>
    [...captions].map(([room, caption]) =>
      roomBox(room, caption, at(places.get(room) as Placed), tintOf(group)),
    ),
  );
  const lines = arrows.map(({ way }) => arrow(way.map(at)));
  return sheet(title, width, top + rows * rowHeight - 16, [...legend(groups), ...lines, ...boxes]);
}

function requireCaptions(rooms: readonly string[], groups: readonly Group[]): void {
  const captioned = groups.flatMap(({ captions }) => [...captions.keys()]);
  const missing = rooms.filter((room) => !captioned.includes(room));
  const gone = captioned.filter((room) => !rooms.includes(room));
  if (missing.length > 0) throw new Error(`docs/drawings/rooms.txt has no caption for ${missing.join(", ")}`);
  if (gone.length > 0)
    throw new Error(`docs/drawings/rooms.txt captions ${gone.join(", ")}, which are no rooms`);
}

function roomBox(room: string, caption: string, { x, y }: Point, tint: Tint): string {
  return (
    box({ x: x - size.width / 2, y }, size, tint) +
    text(room, { x, y: y + 20 }, { size: 14, weight: 600 }) +
    text(caption, { x, y: y + 37 }, { size: 11, color: ink.soft })
  );
}

/** From below the first box to above the last; between them straight through the rows that it passes. */
function arrow(way: readonly Point[]): string {
  const [first, ...rest] = way as [Point, ...Point[]];
  const last = rest.at(-1) as Point;
  const passed = rest.slice(0, -1).flatMap(({ x, y }) => [
    { x, y },
    { x, y: y + size.height },
  ]);
  const start = { x: first.x, y: first.y + size.height };
  return (
    line([start, ...passed, { x: last.x, y: last.y - 8 }]) + arrowHead({ x: last.x, y: last.y - 1 }, "down")
  );
}

const title = "The rooms of src/, and who may import whom";
const reading = "An arrow that follows from longer ways is left out.";

function legend(groups: readonly Group[]): string[] {
  const heading = text(title, { x: margin, y: 34 }, { size: 17, weight: 600 }, "start");
  const end = margin + wordWidth(title, 17, 600);
  const note = text(reading, { x: end + 16, y: 34 }, { size: 12, color: ink.soft }, "start");
  let x = margin;
  const keys = groups.map(({ name, meaning }, i) => {
    const words = `${name}: ${meaning}`;
    const place = { x: x + 20, y: 59 };
    const key = box({ x, y: 48 }, { width: 14, height: 14 }, tintOf(i));
    x += 44 + wordWidth(words, 12);
    return key + text(words, place, { size: 12, color: ink.soft }, "start");
  });
  return [heading, note, ...keys];
}
