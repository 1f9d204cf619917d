/** The truth about a running scene, read from its simulation's arrays without copying more than three numbers. */
import type { SceneSimulation } from "#engine";
import type { GroundTruth, Point } from "./expert.ts";
import { halfTurn } from "./motion.ts";

/** Of a scene with one arm. */
export function sceneTruth({ simulation, scene: { robot } }: SceneSimulation): GroundTruth {
  if (robot.kind !== "arm") throw new Error(`internal: a robot with ${robot.kind} has no single grip`);
  const { model, qpos } = simulation;
  const bodies = simulation.array("xpos");
  const sites = simulation.array("site_xpos");
  const axes = simulation.array("site_xmat");
  const addresses = model.array("jnt_qposadr");
  const grip = model.id("site", `gripper0_${robot.gripSite}`);
  const firstFinger = robot.initialJointPositions.length;
  const slides = simulation.array("xaxis"); // of every joint, in the world's frame
  const finger = 3 * model.array("actuator_trnid")[2 * firstFinger]!;
  return {
    gripPosition: () => point(sites, grip),
    gripperOpening: () => Math.abs(qpos[firstFinger]! - qpos[firstFinger + 1]!),
    gripperTurn: () => halfTurn(Math.atan2(slides[finger + 1]!, slides[finger]!) - Math.PI / 2),
    bodyPosition: (name) => point(bodies, model.id("body", name)),
    sitePosition: (name) => point(sites, model.id("site", name)),
    siteAxes: (name) => axes.subarray(9 * model.id("site", name), 9 * model.id("site", name) + 9),
    jointPosition: (name) => qpos[addresses[model.id("joint", name)]!]!,
  };
}

const point = (rows: Float64Array, row: number): Point => [
  rows[3 * row]!,
  rows[3 * row + 1]!,
  rows[3 * row + 2]!,
];
