/** Every drawing of the documents: the file it is kept in, and what it looks like today. */
import { existsSync, readFileSync } from "node:fs";
import { openToAll, rooms } from "../../test/house/rooms.ts";
import { readGroups, roomsDrawing } from "./rooms-drawing.ts";
import { readSteps, stepDrawing } from "./step-drawing.ts";

const folder = new URL("../../docs/drawings/", import.meta.url);
const source = (name: string): string => readFileSync(new URL(name, folder), "utf8");

export const drawings = (): readonly { readonly file: URL; readonly svg: string }[] => [
  { file: new URL("rooms.svg", folder), svg: roomsDrawing(builtRooms(), readGroups(source("rooms.txt"))) },
  { file: new URL("training-step.svg", folder), svg: stepDrawing(readSteps(source("training-step.txt"))) },
];

/** The rooms that have a folder, and the one that may open them all. */
function builtRooms(): Record<string, readonly string[]> {
  const built = Object.entries(rooms).filter(([room]) =>
    existsSync(new URL(`../../src/${room}`, import.meta.url)),
  );
  return { ...Object.fromEntries(built), [openToAll]: built.map(([room]) => room) };
}
