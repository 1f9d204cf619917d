/**
 * Makes the stored starts of a task: things where its BDDL allows them, everything at rest, the hand somewhere above.
 *
 * Deterministic: start `i` of a task depends on the task's seed and `i` alone. Tasks that speak of neighbors ("next to
 * the blue can") have their odd starts mirrored left to right, so that a side alone never tells the answer.
 */
import { Mt19937 } from "#random";
import { type DrawScene, drawScene } from "../engine/draw-scene.ts";
import type { SceneSimulation } from "../engine/scene-simulation.ts";
import { sceneTruth } from "../experts/scene-truth.ts";

/** The hand begins anywhere in this box, in meters. */
const handBox = { low: [-0.05, -0.07, 1.0], high: [0.05, 0.07, 1.06] } as const;
const settleSteps = 8;
const moveSteps = 24;
/** Action per meter while the hand goes to its place: gentle, so that it arrives at rest. */
const gain = 15;

/** Draws a start and leaves the world in it, all but the mirroring; answers its joint positions, [nq]. */
export function drawStart(
  world: SceneSimulation,
  random: Mt19937,
  mirror: boolean,
  draw: DrawScene = drawScene,
): Float64Array {
  draw(world, random);
  moveHand(world, random);
  const positions = Float64Array.from(world.simulation.qpos);
  if (mirror) mirrorObjects(world, positions);
  return positions;
}

export interface StartsOptions {
  readonly count: number;
  readonly seed: number;
  readonly mirrorOdd: boolean;
}

/** Rows of joint positions, [count, nq]. */
export function makeStarts(
  world: SceneSimulation,
  { count, seed, mirrorOdd }: StartsOptions,
): Float32Array<ArrayBuffer> {
  const width = world.simulation.qpos.length;
  const starts = new Float32Array(count * width);
  for (let index = 0; index < count; index++) {
    const mirror = mirrorOdd && index % 2 === 1;
    starts.set(drawStart(world, new Mt19937(seed + index), mirror), index * width);
  }
  return starts;
}

function moveHand(world: SceneSimulation, random: Mt19937): void {
  const target = handBox.low.map((low, axis) => random.uniform(low, handBox.high[axis]!));
  const truth = sceneTruth(world);
  for (let step = 0; step < settleSteps; step++) world.step([0, 0, 0, 0, 0, 0, -1]);
  for (let step = 0; step < moveSteps; step++) {
    const move = truth.gripPosition().map((at, axis) => (target[axis]! - at) * gain);
    world.step([...move, 0, 0, 0, -1]);
  }
}

/** Reflects the free objects in the plane y = 0. */
function mirrorObjects({ scene, simulation: { model } }: SceneSimulation, positions: Float64Array): void {
  for (const { fixture, joints } of scene.objects) {
    if (fixture) continue;
    const at = model.array("jnt_qposadr")[model.id("joint", joints.at(-1) ?? "")]!;
    positions[at + 1]! *= -1;
    positions[at + 4]! *= -1; // quaternion w, x, y, z: x and z change sign
    positions[at + 6]! *= -1;
  }
}
