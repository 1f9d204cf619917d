/** Compares EVAC's drawn poses, projections and relative actions with the recorded ones. */
import { tensor } from "#tensor";
import { redsTable } from "../../../src/worlds/evac/colormap.ts";
import type { EvacWorld } from "../../../src/worlds/evac/evac-world.ts";
import { relativeAction } from "../../../src/worlds/evac/poses.ts";
import { drawPose, projectPose } from "../../../src/worlds/evac/trajectory.ts";
import { type Cases, get, type Recorded, tolerances } from "./case.ts";

export function comparePoseDrawing(cases: Cases, world: EvacWorld, io: Recorded): void {
  const { camera, statistics, memoryFrames } = world.parts;
  const poses = (get(io, "pose").nested() as unknown as number[][]).map((row) => row.slice(0, 8));
  const theirs = get(io, "traj_u8"); // [3, views, frames, H, W]
  const size = theirs.shape.slice(-2) as [number, number];
  const points = poses.map((pose) => projectPose(pose, camera, size).map(({ x, y }) => [x, y]));
  cases.compare(
    "pose projection (pixels)",
    tensor([points], { dtype: "float64" }),
    get(io, "uv_float"),
    tolerances.latents,
  );
  const bytes = Buffer.concat(poses.map((pose) => drawPose(pose, camera, size)));
  const ours = tensor(new Uint8Array(bytes), { shape: [poses.length, ...size, 3] })
    .permute([3, 0, 1, 2])
    .unsqueeze(1);
  cases.compare("pose drawing", ours, theirs, tolerances.exact);
  cases.compare(
    "color scale",
    tensor(redsTable.map((row) => [...row])),
    get(io, "lut_greens_reds").narrow(1, 3, 3),
    tolerances.exact,
  );
  const actions = poses
    .slice(memoryFrames)
    .map((pose, i) => relativeAction(poses[memoryFrames + i - 1]!, pose, statistics));
  cases.compare("relative actions", tensor(actions), get(io, "delta_action"), tolerances.latents);
}
