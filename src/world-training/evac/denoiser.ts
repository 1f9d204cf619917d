/**
 * Trains an EVAC world's networks on windows of recorded latents, its action predictor first, and writes the world.
 *
 * The result is the published layout: one checkpoint of all networks (`evac.ckpt`), the predictor beside it, and
 * `evac.json` for what published worlds leave to constants: sizes, camera, drawing, statistics.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readJsonFile, readTorchState, writeJsonFile, writeTorchState } from "#formats";
import { type DType, full, keep, noGrad, type Tensor } from "#tensor";
import { type AutoencoderKL, evacParts } from "#worlds";
import type { RecordedFrames } from "../frames/recorded-frames.ts";
import { imaginedMemory } from "../imagined/imagined-memory.ts";
import { initialize } from "../learning/initialize.ts";
import { stored } from "../learning/stored-weights.ts";
import { type LoopHooks, trainingLoop, withStreams } from "../learning/training-loop.ts";
import { freezeUnused } from "../learning/unused-weights.ts";
import { WeightTraining, weightTrainingSettings } from "../learning/weight-training.ts";
import { velocityTeacher } from "./lessons.ts";
import {
  followingError,
  type PoseFollower,
  readPredictor,
  trainPredictor,
  walkedPoses,
} from "./predictor.ts";
import { type EvacDenoiserSettings, evacSizesOf } from "./settings.ts";
import { handView, recordedPoses } from "./view.ts";

/** What published worlds are told of their data: the robot's number and the frames per second. */
const domain = 11;
const conditionFps = 2;

export async function trainEvacDenoiser(
  frames: RecordedFrames,
  settings: EvacDenoiserSettings,
  world: string,
  hooks: LoopHooks = {},
): Promise<void> {
  const { vae, first_stage_config } = evacParts.readFirstStage(world, { device: frames.device });
  const recorded = recordedPoses(frames);
  const follower = await followerFor(frames, recorded, settings, world, hooks);
  const believed = walkedPoses(follower, frames, recorded);
  const description = settings.init_from
    ? readDescription(settings.init_from)
    : describe(frames, recorded, believed, evacSizesOf(frames, vae, first_stage_config, settings), settings);
  const networks = newNetworks(description.params, frames, settings);
  const dtype: DType = settings.precision === "bf16" ? "bfloat16" : "float32";
  const imagined = await imaginedMemory(frames, settings, hooks);
  hooks.say?.(
    `encoding ${frames.count} frames, as many drawings of the hand, and ${frames.episodes.length} first pictures`,
  );
  const draw = velocityTeacher({ frames, vae, believed, description, networks, dtype, imagined }, settings);
  const lossOf = lossIn(networks, description, vae, frames, settings.batch_size, dtype);
  freezeUnused(networks, () =>
    withStreams(settings.seed, 0, frames.device, (random) => lossOf(draw(random))),
  );
  const training = new WeightTraining(networks, weightTrainingSettings.strip().parse(settings), lossOf);
  await trainingLoop(training, frames.device, draw, hooks);
  await training.withAverages(async () => {
    const levels = first_stage_config.params.ddconfig.ch_mult.length;
    const weights = new Map([...networks.state(), ...evacParts.publishedAutoencoder(vae, levels)]);
    const state = new Map([
      ...stored(weights, settings.store),
      ...evacParts.scheduleBuffers(description.params),
    ]);
    writeTorchState(join(world, evacParts.evacFiles.checkpoint), state);
    writeJsonFile(join(world, evacParts.evacFiles.description), description);
  });
  training.dispose();
}

/** A world that goes on keeps its predictor unless another is asked for; an interrupted training always does. */
async function followerFor(
  frames: RecordedFrames,
  recorded: readonly (readonly number[])[],
  settings: EvacDenoiserSettings,
  world: string,
  { resumeFile, say }: LoopHooks,
): Promise<PoseFollower> {
  if (settings.init_from && !settings.new_predictor) return readPredictor(settings.init_from, frames);
  if (resumeFile !== undefined && existsSync(resumeFile)) return readPredictor(world, frames);
  say?.(`the action predictor learns first: ${settings.predictor_steps} steps`);
  const follower = await trainPredictor(frames, recorded, settings, world);
  const steps = 2 * settings.chunk;
  const meters = followingError(frames, recorded, walkedPoses(follower, frames, recorded), steps);
  say?.(`the action predictor is ${(1000 * meters).toFixed(1)} mm off after ${steps} actions`);
  return follower;
}

function describe(
  frames: RecordedFrames,
  recorded: readonly (readonly number[])[],
  believed: readonly (readonly number[])[],
  params: evacParts.EvacSizes,
  { n_previous }: EvacDenoiserSettings,
): evacParts.EvacDescription {
  const { camera, drawing } = handView(frames, recorded);
  const changes = frames.episodes.flatMap(({ first, length }) =>
    Array.from({ length }, (_, i) => evacParts.poseChange(believed[first + i]!, believed[first + i + 1]!)),
  );
  const [low, high] = drawing.gripper_range;
  return {
    params,
    n_previous,
    sample_size: frames.size,
    camera,
    drawing,
    statistics: evacParts.measureStatistics(changes, Math.max(Math.abs(low), Math.abs(high))),
    normalise_poses: true,
    condition_fps: conditionFps,
    domain_id: domain,
  };
}

const readDescription = (world: string): evacParts.EvacDescription =>
  evacParts.evacDescription.parse(readJsonFile(join(world, evacParts.evacFiles.description)));

/** Layers that add to what they were given add nothing at first. */
const silent = /diffusion_model\.(.*\.)?(out_layers\.3|conv4\.3|proj_out|out\.2)\.weight$/;
/** Vectors that constructors leave unset. */
const unset = /(class_embedding|logit_scale|in_proj_bias)$/;

function newNetworks(
  sizes: evacParts.EvacSizes,
  { device }: RecordedFrames,
  { seed, init_from, precision }: EvacDenoiserSettings,
): evacParts.EvacNetworks {
  const networks = new evacParts.EvacNetworks(sizes, { device });
  initialize(networks, seed, (name) => silent.test(name));
  noGrad(() => {
    for (const [name, weight] of networks.namedParameters()) if (unset.test(name)) weight.zero_();
  });
  if (init_from) {
    const source = join(init_from, evacParts.evacFiles.checkpoint);
    const own = networks.state();
    const weights = [...readTorchState(source)].filter(([name]) => own.has(name));
    networks.loadState(new Map(weights), { source });
  }
  // One robot, always the same: its embedding would only learn what biases do.
  networks.requiresGrad_(false, (name) => name.includes("domain_embedding"));
  return precision === "bf16" ? networks.to({ dtype: "bfloat16" }) : networks;
}

function lossIn(
  networks: evacParts.EvacNetworks,
  { camera, sample_size, condition_fps, domain_id }: evacParts.EvacDescription,
  vae: AutoencoderKL,
  { device }: RecordedFrames,
  batch: number,
  dtype: DType,
): (lesson: evacParts.VelocityLesson) => Tensor {
  const around = {
    rays: keep(evacParts.rayPlanes(camera, sample_size, vae.downscale, { device, dtype })),
    fps: keep(full([batch], condition_fps, { device })),
    domain: keep(full([batch], domain_id, { dtype: "int64", device })),
  };
  return (lesson) => evacParts.velocityLoss(networks, around, lesson);
}
