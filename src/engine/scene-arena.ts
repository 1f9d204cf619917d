/** Builds the stage of a scene: floor, walls, table, cameras, and the task's zones drawn on the workspace. */
import { dirname, join } from "node:path";
import { UserError } from "#registry";
import type { Region } from "./bddl.ts";
import type { AssetPack, ConfiguredTable, Problem } from "./pack.ts";
import { colorCollisionGeoms, loadPart, type ScenePart, vectorText } from "./scene-part.ts";
import { XmlElement } from "./xml.ts";

const collisionColor = "0.5 0.5 0 1";
/** Half the height of a zone, in meters. */
const zoneHeight = 0.007;

export function loadArena(pack: AssetPack, problem: Problem): ScenePart {
  const arena = loadPart(pack.resolve(problem.sceneXml));
  colorCollisionGeoms(arena.worldbody, collisionColor, "floor");
  if (problem.table) configureTable(arena, problem.table);
  for (const [name, file] of Object.entries(problem.textures)) {
    const texture = must(arena.asset.child("texture", name), arena, `texture "${name}"`);
    texture.set("file", join(dirname(texture.get("file") ?? ""), file));
  }
  for (const [name, pose] of Object.entries(problem.cameras)) {
    const camera = arena.worldbody.find("camera", name) ?? addCamera(arena, name);
    camera.set("pos", vectorText(pose.position));
    camera.set("quat", vectorText(pose.orientation));
  }
  return arena;
}

function addCamera(arena: ScenePart, name: string): XmlElement {
  const camera = new XmlElement("camera", { name });
  arena.worldbody.children.push(camera);
  return camera;
}

function must(element: XmlElement | undefined, arena: ScenePart, what: string): XmlElement {
  if (!element) throw new UserError(`${arena.path}: the scene has no ${what}`);
  return element;
}

/** Sizes the table top, its friction and its four legs. */
function configureTable(arena: ScenePart, { fullSize, friction, offset }: ConfiguredTable): void {
  const [halfX, halfY, halfZ] = [fullSize[0] / 2, fullSize[1] / 2, fullSize[2] / 2];
  const table = must(arena.worldbody.child("body", "table"), arena, 'body "table"');
  const part = (tag: string, name: string) =>
    must(table.child(tag, name), arena, `${tag} "${name}" in its table`);
  must(arena.worldbody.child("geom", "floor"), arena, 'geom "floor"').set("pos", "0 0 0");
  table.set("pos", vectorText([offset[0], offset[1], -halfZ + offset[2]]));
  part("geom", "table_collision").set("size", vectorText([halfX, halfY, halfZ]));
  part("geom", "table_collision").set("friction", vectorText(friction));
  part("geom", "table_visual").set("size", vectorText([halfX, halfY, halfZ]));
  part("site", "table_top").set("pos", vectorText([0, 0, halfZ]));
  // 10 cm in from each edge, or in the middle of a table too narrow for that.
  const inset = (half: number, sign: number) => (half > 0.2 ? sign * half - sign * 0.1 : 0);
  const legHalf = (offset[2] - halfZ) / 2;
  const corners = [
    [1, 1],
    [-1, 1],
    [-1, -1],
    [1, -1],
  ] as const;
  for (const [i, [x, y]] of corners.entries()) {
    const leg = part("geom", `table_leg${i + 1}_visual`);
    leg.set("pos", vectorText([inset(halfX, x), inset(halfY, y), -legHalf]));
    leg.set("size", vectorText([0.025, legHalf]));
  }
}

/** Draws a region as a box site on the workspace and gives its half extents. */
export function addZone(
  arena: ScenePart,
  problem: Problem,
  region: Region,
  where: string,
): [number, number, number] {
  const [range] = region.ranges;
  if (!range)
    throw new UserError(
      `${where}: region ${region.name} lies on the workspace and so needs (:ranges ((x0 y0 x1 y1)))`,
    );
  const [x0, y0, x1, y1] = range;
  const size: [number, number, number] = [(x1 - x0) / 2, (y1 - y0) / 2, zoneHeight];
  const { zoneOffset } = problem;
  const position = [(x1 + x0) / 2 + zoneOffset[0], (y1 + y0) / 2 + zoneOffset[1], zoneOffset[2]];
  const body = must(arena.worldbody.child("body", problem.zoneBody), arena, `body "${problem.zoneBody}"`);
  const site = { pos: vectorText(position), size: vectorText(size), rgba: vectorText(region.rgba) };
  body.children.push(new XmlElement("site", { ...site, quat: "1 0 0 0", type: "box", name: region.name }));
  return size;
}
