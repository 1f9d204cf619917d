/**
 * Draws where things start, with the random bits of LIBERO's samplers in their order.
 *
 * First joint positions for `(Open x)`, `(Close x)`, `(TurnOn x)` and the like, then a pose for each thing of `:init`:
 * those on the workspace, those on or in a part of an object, those on top of another object. Each draw is a position
 * (redrawn until it clears what is already placed), then an angle. A fixture's pose goes into the model and is not part
 * of a stored state, so replaying an episode needs these very bits, or the poses themselves (`fixturePoses`).
 */
import type { Mt19937 } from "#random";
import { UserError } from "#registry";
import type { Predicate, Region } from "./bddl.ts";
import type { AxisRotation, JointCondition, Quaternion, Range, Vector3 } from "./pack.ts";
import { composeRotations, rotateBy, turn } from "./placement-rotation.ts";
import type { Scene } from "./scene.ts";
import type { SceneObject } from "./scene-object.ts";

export interface Placement {
  readonly object: SceneObject;
  readonly position: Vector3;
  /** As written into qpos or body_quat: see `AssetPack.placementQuaternion`. */
  readonly orientation: Quaternion;
}

/** One uniform draw that all these joints are set to. */
export interface JointDraw {
  readonly joints: readonly string[];
  readonly range: Range;
}

/** No free spot was found. LIBERO starts its whole reset again, going on with the random stream; so should a caller. */
export class PlacementError extends Error {
  override name = "PlacementError";
}

/** Where the placed thing goes, before any random number is drawn. */
interface Plan {
  readonly object: SceneObject;
  readonly xRanges: readonly Range[];
  readonly yRanges: readonly Range[];
  readonly rotation: AxisRotation | readonly AxisRotation[];
  /** Fixtures are turned about z in MuJoCo's own order. */
  readonly quaternion: "wxyz" | "xyzw";
  readonly shrinkBy: number;
  readonly avoidOthers: boolean;
  readonly zOffset: number;
  readonly on: Support;
  /** Of the predicate in the task's file. */
  readonly line: number;
}

type Support =
  | { readonly kind: "workspace"; readonly offset: Vector3 }
  | { readonly kind: "object"; readonly name: string }
  | { readonly kind: "site"; readonly name: string; readonly site: string; readonly inside: boolean };

const attempts = 5000;

/** The joint draws of `:init`, in file order. */
export function jointDraws(scene: Scene): JointDraw[] {
  return scene.task.init.flatMap((predicate) => {
    const condition = conditionOf(scene, predicate);
    return condition ? [{ joints: jointsNamed(scene, predicate.args[0] ?? ""), range: condition.range }] : [];
  });
}

const conditionKeys = {
  open: "open",
  close: "close",
  ajar: "ajar",
  turnon: "turnOn",
  turnoff: "turnOff",
} as const;

function conditionOf(scene: Scene, { name, args }: Predicate): JointCondition | undefined {
  if (!Object.hasOwn(conditionKeys, name)) return undefined;
  const [thing = ""] = args;
  const owner = scene.regions.get(thing)?.parent ?? thing;
  const { articulation } = scene.objects.find((object) => object.name === owner)?.definition ?? {};
  return articulation?.[conditionKeys[name as keyof typeof conditionKeys]];
}

const jointsNamed = (scene: Scene, name: string): readonly string[] =>
  scene.regions.get(name)?.joints ?? scene.objects.find((object) => object.name === name)?.joints ?? [];

/**
 * Draws a pose for every thing of `:init`.
 *
 * @param sitePosition a site's world position while all fixtures are where the XML puts them and joints are as drawn.
 */
export function drawPlacements(
  scene: Scene,
  random: Mt19937,
  sitePosition: (site: string) => Vector3,
): Placement[] {
  const placed = new Map<string, Placement>();
  for (const plan of placementPlans(scene)) {
    const { name } = plan.object;
    placed.set(name, drawPlacement(plan, random, placed, sitePosition));
  }
  return [...placed.values()];
}

function drawPlacement(
  plan: Plan,
  random: Mt19937,
  placed: ReadonlyMap<string, Placement>,
  sitePosition: (site: string) => Vector3,
): Placement {
  const { object, xRanges, yRanges, shrinkBy } = plan;
  const [baseX, baseY, baseZ] = supportOrigin(plan.on, placed);
  const [siteX, siteY, siteZ] = siteOffset(plan.on, placed, sitePosition);
  for (let attempt = 0; attempt < attempts; attempt++) {
    const index = random.integer(xRanges.length);
    const within = ([low, high]: Range) => random.uniform(low + shrinkBy, high - shrinkBy);
    const x = within(xRanges[index]!) + baseX + siteX;
    const y = within(yRanges[index]!) + baseY + siteY;
    const z = plan.zOffset + baseZ + siteZ - object.bottom;
    if (plan.avoidOthers && [...placed.values()].some((other) => overlaps(object, x, y, z, other))) continue;
    return { object, position: [x, y, z], orientation: drawOrientation(plan, random) };
  }
  throw new PlacementError(`no free place for ${object.name} after ${attempts} attempts`);
}

const overlaps = (object: SceneObject, x: number, y: number, z: number, other: Placement): boolean => {
  const [otherX, otherY, otherZ] = other.position;
  const distance = Math.sqrt((x - otherX) * (x - otherX) + (y - otherY) * (y - otherY));
  return distance <= other.object.radius + object.radius && z - otherZ <= other.object.top - object.bottom;
};

function drawOrientation({ rotation, quaternion }: Plan, random: Mt19937): Quaternion {
  const draw = ({ axis, range }: AxisRotation) =>
    turn(axis, random.uniform(Math.min(...range), Math.max(...range)));
  const [x, y, z, w] = "axis" in rotation ? draw(rotation) : composeRotations(rotation.map(draw));
  return quaternion === "xyzw" ? [x, y, z, w] : [w, x, y, z];
}

/** The point that the drawn offset is added to. */
function supportOrigin(on: Support, placed: ReadonlyMap<string, Placement>): Vector3 {
  if (on.kind === "workspace") return on.offset;
  const { position, object } = supportNamed(on.name, placed);
  const onTop = on.kind === "object" || !on.inside;
  return onTop ? [position[0], position[1], position[2] + object.top] : position;
}

/** The site's offset from its object's origin, turned with the object. */
function siteOffset(
  on: Support,
  placed: ReadonlyMap<string, Placement>,
  sitePosition: (site: string) => Vector3,
): Vector3 {
  if (on.kind !== "site") return [0, 0, 0];
  return rotateBy(supportNamed(on.name, placed).orientation, sitePosition(on.site));
}

function supportNamed(name: string, placed: ReadonlyMap<string, Placement>): Placement {
  const found = placed.get(name);
  if (!found) throw new Error(`internal: ${name} is not placed yet`); // checkPlacements sees to it
  return found;
}

/** Refuses an `:init` that places something twice, or on something that is placed later or not at all. */
export function checkPlacements(scene: Scene): void {
  const { file } = scene.task;
  const placed = new Set<string>();
  for (const { object, on, line } of placementPlans(scene)) {
    if (placed.has(object.name))
      throw new UserError(`${file}:${line}: ${object.name} is placed a second time`);
    if (on.kind !== "workspace" && !placed.has(on.name))
      throw new UserError(
        `${file}:${line}: ${object.name} cannot be placed on ${on.name}, which is placed later or not at all`,
      );
    placed.add(object.name);
  }
}

/** Workspace first, then parts of objects (on, then in), then objects on objects: LIBERO's order of sampling. */
function placementPlans(scene: Scene): Plan[] {
  const stages: Plan[][] = [[], [], [], []];
  for (const predicate of scene.task.init) {
    const planned = planOf(scene, predicate);
    if (planned) stages[planned.stage]!.push(planned.plan);
  }
  return stages.flat();
}

function planOf(scene: Scene, { name, args, line }: Predicate): { stage: number; plan: Plan } | undefined {
  const [placedName = "", supportName = ""] = args;
  if (name !== "on" && name !== "in") return undefined;
  const object = scene.objects.find((candidate) => candidate.name === placedName);
  if (!object)
    throw new UserError(`${scene.task.file}:${line}: ${placedName} is a region; only things can be placed`);
  const quaternion = scene.pack.placementQuaternion;
  const common = { object, rotation: object.definition.rotation, quaternion, line };
  const exact: readonly Range[] = [[0, 0]];
  if (name === "on" && scene.objects.some((candidate) => candidate.name === supportName)) {
    const on = { kind: "object", name: supportName } as const;
    const spot = { xRanges: exact, yRanges: exact, shrinkBy: 0, avoidOthers: false, zOffset: 0.01, on };
    return { stage: 3, plan: { ...common, ...spot } };
  }
  const region = scene.task.regions.find((candidate) => candidate.name === supportName);
  const { parent, size } = scene.regions.get(supportName) ?? {};
  if (!region || !size) return undefined;
  if (parent === undefined)
    return name === "on" ? { stage: 0, plan: { ...workspacePlan(scene, object, region), line } } : undefined;
  const inside = name === "in";
  const half = (extent: number): Range => [-extent / 2, extent / 2];
  const plan: Plan = {
    ...common,
    xRanges: inside ? exact : [half(size[0])],
    yRanges: inside ? exact : [half(size[1])],
    shrinkBy: inside ? 0 : object.radius,
    avoidOthers: true,
    zOffset: 0,
    on: { kind: "site", name: parent, site: supportName, inside },
  };
  return { stage: inside ? 2 : 1, plan };
}

function workspacePlan({ pack, problem }: Scene, object: SceneObject, region: Region): Omit<Plan, "line"> {
  const { fixture } = object;
  return {
    object,
    xRanges: region.ranges.map(([x0, , x1]) => [x0, x1]),
    yRanges: region.ranges.map(([, y0, , y1]) => [y0, y1]),
    rotation: fixture ? { axis: "z", range: region.yaw } : object.definition.rotation,
    quaternion: fixture ? "wxyz" : pack.placementQuaternion,
    shrinkBy: !fixture && problem.shrinkRegions ? object.radius : 0,
    avoidOthers: !fixture,
    zOffset: fixture ? problem.fixtureZOffset : 0.01,
    on: { kind: "workspace", offset: problem.workspaceOffset },
  };
}
