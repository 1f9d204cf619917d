/** Every drawing of the documents: the file it is kept in, and what it looks like today. */
import { readFileSync } from "node:fs";
import { rooms } from "../../test/house/rooms.ts";
import { readGroups, roomsDrawing } from "./rooms-drawing.ts";
import { readSteps, stepDrawing } from "./step-drawing.ts";

const folder = new URL("../../docs/drawings/", import.meta.url);
const source = (name: string): string => readFileSync(new URL(name, folder), "utf8");

export const drawings = (): readonly { readonly file: URL; readonly svg: string }[] => [
  { file: new URL("rooms.svg", folder), svg: roomsDrawing(rooms, readGroups(source("rooms.txt"))) },
  { file: new URL("training-step.svg", folder), svg: stepDrawing(readSteps(source("training-step.txt"))) },
];
