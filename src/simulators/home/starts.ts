/**
 * Draws a start of the home: things where the task's BDDL allows them, each arm near its rest, everything at rest.
 *
 * BDDL sets a thing that stands on another on its middle; here it is moved by up to two centimeters. Tasks that speak of
 * neighbors have their odd starts mirrored left to right, so that a side alone never tells the answer.
 */
import { type DrawStart, mirrorObjects, restAction, type SceneSimulation } from "#engine";
import type { Mt19937 } from "#random";
import { isMirrored } from "./suites.ts";

const settleSteps = 8;
const mostShift = 0.02; // meters

export const drawHomeStart: DrawStart = (world, random, { taskName, trial, draw }) => {
  const mirror = isMirrored(taskName) && (trial === undefined ? random.double() < 0.5 : trial % 2 === 1);
  draw(world, random);
  const { qpos } = world.simulation;
  if (mirror) mirrorObjects(world, qpos);
  shiftStacked(world, random);
  world.setState(rowOf(world));
  const openHands = restAction(world.scene.pack, -1);
  for (let step = 0; step < settleSteps; step++) world.step(openHands);
  return Float64Array.from(qpos);
};

function shiftStacked({ scene, simulation: { model, qpos } }: SceneSimulation, random: Mt19937): void {
  const names = new Set(scene.objects.map(({ name }) => name));
  for (const { name, args } of scene.task.init) {
    const [thing = "", support = ""] = args;
    if (name !== "on" || !names.has(support)) continue;
    const joint = scene.objects.find((object) => object.name === thing)?.joints.at(-1) ?? "";
    const at = model.array("jnt_qposadr")[model.id("joint", joint)]!;
    for (const axis of [0, 1]) qpos[at + axis]! += random.uniform(-mostShift, mostShift);
  }
}

/** The world's positions as a start without motion. */
function rowOf({ simulation: { qpos, qvel } }: SceneSimulation): Float64Array {
  const row = new Float64Array(1 + qpos.length + qvel.length);
  row.set(qpos, 1);
  return row;
}
