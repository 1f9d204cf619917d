/** Where a simulated episode and a dream of it begin: the same scene, seen once. */
import { Mt19937 } from "#random";
import type { EpisodeJob, PlayedScene, ScenePlayer } from "#recordings";
import { type Generator, type Tensor, tensor, zeros } from "#tensor";
import { fromBytes, toBytes, type WorldStart } from "#worlds";
import { robotPose } from "../frames/robot-pose.ts";
import type { Asking } from "./policy-answers.ts";

export interface BegunScene {
  readonly job: EpisodeJob;
  readonly scene: PlayedScene;
  readonly start: WorldStart;
}

const stateSize = 8;

/** `size`: width and height of the player's pictures. */
export function beginScene(player: ScenePlayer, job: EpisodeJob, size: number): BegunScene {
  const scene = player.open(job.task);
  scene.begin(job, new Mt19937(job.seed));
  const { main, state } = scene.frame();
  const frame = fromBytes(tensor(main, { shape: [size, size, 3] }))
    .permute([2, 0, 1])
    .contiguous();
  const instruction = player.sentences[job.task]!;
  return { job, scene, start: { frame, instruction, pose: robotPose(tensor(state)) } };
}

/** What a policy is asked about imagined pictures, [B, 3, H, W] in [-1, 1]; dreams say nothing of joints. */
export function dreamtAsking(
  pictures_B3HW: Tensor,
  scenes: readonly BegunScene[],
  temperatures: readonly number[],
  streams: readonly Generator[],
): Asking {
  return {
    pictures_BHW3: toBytes(pictures_B3HW).permute([0, 2, 3, 1]).cpu().contiguous(),
    states_BS: zeros([scenes.length, stateSize]),
    sentences: scenes.map(({ start }) => start.instruction),
    temperatures,
    streams,
  };
}
