/** The house in numbers, so that before and after can stand side by side. */
import { doorNames, importCircles, importsOf, type Source, sourcesOf } from "./sources.ts";

export interface RoomMeasures {
  readonly room: string;
  readonly files: number;
  readonly lines: number;
  /** Names that its door offers, and those of them that nobody takes. */
  readonly door: number;
  readonly idle: readonly string[];
  readonly circles: readonly string[];
}

export interface HouseMeasures {
  readonly rooms: readonly RoomMeasures[];
  /** Lines of files, but for generated ones. */
  readonly medianFile: number;
  readonly largestFile: number;
  /** Names that two doors offer. */
  readonly shared: readonly string[];
}

const tools = ["test", "bench", "scripts", "prove"];
const linesOf = ({ text }: Source): number => text.trimEnd().split("\n").length;

/** Of the checkout in the working directory. */
export function measureHouse(): HouseMeasures {
  const sources = sourcesOf(".");
  const everything = [...sources, ...tools.flatMap((folder) => sourcesOf(".", folder))];
  const names = [...new Set(sources.map(({ room }) => room))].filter(Boolean);
  const files = sources.filter(({ isTest, path }) => !isTest && !path.includes(".generated."));
  const sizes = files.map(linesOf).sort((a, b) => a - b);
  const doors = names.flatMap((room) => [...new Set(doorNames(sources, room))]);
  return {
    rooms: names.map((room) => measureRoom(room, sources, everything)),
    medianFile: sizes[Math.floor(sizes.length / 2)] ?? 0,
    largestFile: sizes.at(-1) ?? 0,
    shared: doors.filter((name, i) => doors.indexOf(name) !== i),
  };
}

function measureRoom(room: string, sources: readonly Source[], everything: readonly Source[]): RoomMeasures {
  const own = sources.filter((source) => source.room === room && !source.isTest);
  const door = doorNames(sources, room);
  const taken = new Set(
    everything
      .filter((source) => source.room !== room || !source.path.startsWith("src"))
      .flatMap(importsOf)
      .filter(({ target }) => target === `#${room}` || target === `src/${room}/index.ts`)
      .flatMap(({ names }) => names),
  );
  return {
    room,
    files: own.length,
    lines: own.reduce((sum, source) => sum + linesOf(source), 0),
    door: door.length,
    idle: door.filter((name) => !taken.has(name)),
    circles: importCircles(sources, room),
  };
}
