/**
 * Makes the stored starts of a task: things where its BDDL allows them, everything at rest, the hand somewhere above.
 *
 * Deterministic: start `i` of a task depends on the task's seed and `i` alone. Tasks that speak of neighbors ("next to
 * the blue can") have their odd starts mirrored left to right, so that a side alone never tells the answer.
 */
import { type DrawScene, type DrawStart, drawScene, mirrorObjects, type SceneSimulation } from "#engine";
import type { Mt19937 } from "#random";
import { sceneTruth } from "../experts/scene-truth.ts";
import { isMirrored } from "./suites.ts";

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

/** As a pack offers it: of mirrored tasks every odd numbered start is mirrored, and half of the others. */
export const drawTabletopStart: DrawStart = (world, random, { taskName, trial, draw }) => {
  const mirror = isMirrored(taskName) && (trial === undefined ? random.double() < 0.5 : trial % 2 === 1);
  return drawStart(world, random, mirror, draw);
};

function moveHand(world: SceneSimulation, random: Mt19937): void {
  const target = handBox.low.map((low, axis) => random.uniform(low, handBox.high[axis]!));
  const truth = sceneTruth(world);
  for (let step = 0; step < settleSteps; step++) world.step([0, 0, 0, 0, 0, 0, -1]);
  for (let step = 0; step < moveSteps; step++) {
    const move = truth.gripPosition().map((at, axis) => (target[axis]! - at) * gain);
    world.step([...move, 0, 0, 0, -1]);
  }
}
