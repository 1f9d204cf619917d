/** The truth about a running scene, read from its simulation's arrays without copying more than three numbers. */
import type { SceneSimulation } from "../engine/scene-simulation.ts";
import type { GroundTruth, Point } from "./expert.ts";

export function sceneTruth({ simulation, scene }: SceneSimulation): GroundTruth {
  const { model, qpos } = simulation;
  const bodies = simulation.array("xpos");
  const sites = simulation.array("site_xpos");
  const addresses = model.array("jnt_qposadr");
  const grip = model.id("site", `gripper0_${scene.robot.gripSite}`);
  const firstFinger = scene.robot.initialJointPositions.length;
  return {
    gripPosition: () => point(sites, grip),
    gripperOpening: () => Math.abs(qpos[firstFinger]! - qpos[firstFinger + 1]!),
    bodyPosition: (name) => point(bodies, model.id("body", name)),
    sitePosition: (name) => point(sites, model.id("site", name)),
    jointPosition: (name) => qpos[addresses[model.id("joint", name)]!]!,
  };
}

const point = (rows: Float64Array, row: number): Point => [
  rows[3 * row]!,
  rows[3 * row + 1]!,
  rows[3 * row + 2]!,
];
