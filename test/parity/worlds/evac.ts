/** Compares an EVAC world with recordings of the reference: networks, schedule, pose drawing, conditions, rollout. */
import { join } from "node:path";
import { Starts } from "#envs";
import { type JsonObject, readJsonFile, readNpy } from "#formats";
import { loadReward } from "#rewards";
import { cat, noGrad, scope, stack, type Tensor, tensor } from "#tensor";
import { OpenClip } from "../../../src/worlds/evac/clip.ts";
import { clipPicture } from "../../../src/worlds/evac/clip-picture.ts";
import type { EvacWorld } from "../../../src/worlds/evac/evac-world.ts";
import { followHands } from "../../../src/worlds/evac/follow-hand.ts";
import { evac } from "../../../src/worlds/evac/index.ts";
import type { ClipSizes } from "../../../src/worlds/evac/sizes.ts";
import { loadActionPredictor } from "../../../src/worlds/evac/weights.ts";
import { Cases, get, type ParityCase, type Recorded, recorded, tolerances } from "./case.ts";
import { comparePoseDrawing } from "./evac-poses.ts";
import { compareSchedule } from "./evac-schedule.ts";
import { RecordedNoise } from "./recorded-noise.ts";
import { compareReward } from "./reward.ts";
import { chunkCount, gray, playRollout } from "./rollout.ts";

type Tiny = { size: number; steps: number; clipw: number; clipl: number };

export async function compareEvac(folder: string, prefix: string): Promise<ParityCase[]> {
  const cases = new Cases(prefix);
  const config = readJsonFile(join(folder, "config.json"));
  let world: EvacWorld | undefined;
  await cases.part("loading", () => {
    world = load(folder, config);
  });
  if (!world) return cases.list;
  const loaded = world;
  const file = (name: string): string => join(folder, `${name}.safetensors`);
  const quietly = (body: () => void) => () => noGrad(() => scope(body));
  await cases.part(
    "denoiser",
    quietly(() => compareDenoiser(cases, loaded, recorded(file("denoiser")))),
  );
  await cases.part(
    "vae",
    quietly(() => compareAutoencoder(cases, loaded, file)),
  );
  await cases.part(
    "clip",
    quietly(() => compareClip(cases, loaded, recorded(file("clip")))),
  );
  await cases.part(
    "schedule",
    quietly(() => compareSchedule(cases, loaded, recorded(file("schedule")))),
  );
  await cases.part(
    "poses",
    quietly(() => comparePoseDrawing(cases, loaded, recorded(file("traj256")))),
  );
  await cases.part(
    "action predictor",
    quietly(() => comparePredictor(cases, file)),
  );
  await cases.part("reward", () => compareReward(cases, folder, "RewModel"));
  await cases.part(
    "conditions",
    quietly(() => compareConditions(cases, loaded, folder)),
  );
  await cases.part("rollout", () => compareRollout(cases, loaded, folder));
  return cases.list;
}

function load(folder: string, config: JsonObject): EvacWorld {
  const tiny = config.tiny as Tiny;
  const rest = recorded(join(folder, "weights_rest.safetensors"));
  const shape = (name: string): readonly number[] => get(rest, `embedder.model.${name}`).shape;
  const params = structuredClone(config.params) as { img_cond_stage_config: { params: object } };
  const clip = {
    width: tiny.clipw,
    layers: tiny.clipl,
    text_width: shape("text_projection")[0],
    context_length: shape("positional_embedding")[0],
    vocabulary: shape("token_embedding.weight")[0],
  };
  Object.assign(params.img_cond_stage_config.params, clip, { heads: clipHeads(folder, clip) });
  const weights = ["weights_unet", "weights_rest"].map((name) => join(folder, `${name}.safetensors`));
  const settings = evac.settings.parse({
    world_model_cfg: { pretrained_checkpoint: weights, params },
    action_predictor_cfg: { pretrained_checkpoint: join(folder, "action_predictor.safetensors") },
    sample_size: [tiny.size, tiny.size],
    chunk: (config.params as { chunk?: number }).chunk,
    ddim_steps: config.ddim_steps,
    ddim_eta: config.ddim_eta,
    vae_micro_batch_size: (config.params as { ae_batch_size?: number }).ae_batch_size,
    reference_quirks: true,
  });
  return evac.load(settings, {}) as EvacWorld;
}

/** The recording does not say how many heads its CLIP has: the number that comes closest to its tokens. */
function clipHeads(folder: string, sizes: { width: number; layers: number }): number {
  const [io, rest] = ["clip", "weights_rest"].map((name) => recorded(join(folder, `${name}.safetensors`)));
  const distance = (heads: number): number =>
    noGrad(() =>
      scope(() => {
        const clip = new OpenClip({ ...sizes, heads } as ClipSizes);
        clip.loadState(rest!, { prefix: "embedder.model." });
        return Number(clip.forward(get(io!, "preprocessed")).sub(get(io!, "embedding")).abs().max().item());
      }),
    );
  const candidates = [4, 16, 8, 2, 1].filter((heads) => sizes.width % heads === 0);
  return candidates.reduce((best, heads) => (distance(heads) < distance(best) ? heads : best));
}

function compareDenoiser(cases: Cases, world: EvacWorld, io: Recorded): void {
  const context = get(io, "context");
  const questions = world.parts.model.image_proj_model.latents.shape[1]!;
  const ours = world.parts.model.model.diffusion_model.forward(get(io, "x"), {
    timestep: get(io, "timesteps"),
    fps: get(io, "fs"),
    domain: get(io, "domain_id"),
    image: context.narrow(1, 0, questions),
    actions: context.narrow(1, questions, context.shape[1]! - questions),
  });
  cases.compare("denoiser", ours, get(io, "output"), tolerances.forward);
}

function compareAutoencoder(cases: Cases, world: EvacWorld, file: (name: string) => string): void {
  const [encode, decode] = [recorded(file("vae_encode")), recorded(file("vae_decode"))];
  const vae = world.parts.model.first_stage_model;
  const { mean, logvar } = vae.posterior(get(encode, "image"));
  cases.compare("vae encode mean", mean, get(encode, "mean"), tolerances.forward);
  cases.compare("vae encode log-variance", logvar, get(encode, "logvar"), tolerances.forward);
  const sample = vae.encode(get(encode, "image"), get(encode, "eps"));
  cases.compare("vae encode sample", sample, get(encode, "latents"), tolerances.forward);
  cases.compare("vae decode", vae.decode(get(decode, "latents")), get(decode, "image"), tolerances.forward);
}

function compareClip(cases: Cases, world: EvacWorld, io: Recorded): void {
  const { model } = world.parts;
  for (const tail of ["", "256"]) {
    const ours = clipPicture(get(io, `image${tail}`));
    cases.compare(
      `clip preprocessing ${tail}`.trim(),
      ours,
      get(io, `preprocessed${tail}`),
      tolerances.forward,
    );
  }
  const tokens = model.embedder.model.forward(get(io, "preprocessed"));
  cases.compare("clip tokens", tokens, get(io, "embedding"), tolerances.forward);
  const image = model.image_proj_model.forward(get(io, "embedding"));
  cases.compare("image resampler", image, get(io, "image_proj"), tolerances.forward);
  const actions = model.cond_stage_model.forward(get(io, "delta_action"));
  cases.compare("action resampler", actions, get(io, "action_proj"), tolerances.forward);
}

function comparePredictor(cases: Cases, file: (name: string) => string): void {
  const io = recorded(file("action_predictor_io"));
  const { predictor, scale } = loadActionPredictor(file("action_predictor"), {});
  const [action, pose] = [get(io, "delta"), get(io, "prev")];
  cases.compare("action predictor", predictor.forward(action, pose), get(io, "forward"), tolerances.forward);
  const scaled = predictor.forwardScaled(action, pose, scale!);
  cases.compare("action predictor, normalized", scaled, get(io, "get_ee_pose"), tolerances.forward);
}

/** Everything that the first chunk of the recorded rollout was conditioned on. */
function compareConditions(cases: Cases, world: EvacWorld, folder: string): void {
  const recording = recorded(join(folder, "rollout.safetensors"));
  const starts = new Starts(join(folder, "dataset"), world, { enableKir: false });
  const ids = findStarts(starts, get(recording, "obs0"));
  const noise = recordedNoise(recording, ids.length, world);
  const slots = ids.map((_, slot) => slot);
  const memories = world.begin(
    ids.map((id) => starts.load(id)),
    slots,
    noise,
  );
  const window = stack(memories.map(({ latents }) => latents!.transpose(0, 1)));
  const memory = world.parts.memoryFrames;
  cases.compare("first latents", window, get(recording, "c0_z").narrow(2, 0, memory), tolerances.forward);
  const buffer = get(recording, "c0_action_buffer").narrow(2, 0, 8).nested() as unknown as number[][][];
  const { poses } = followHands(world.parts, memories, get(recording, "c0_policy_action"));
  const theirs = buffer.map((rows) => rows.slice(memory - 1));
  cases.compare(
    "predicted poses",
    tensor(poses.map((rows) => rows.map((row) => [...row]))),
    tensor(theirs),
    tolerances.forward,
  );
  const { pictures, image, actions } = world.conditions(memories, poses, window, slots, noise);
  const z = window.shape[1]!;
  const parts = [z, 1, z, 3, 3];
  const [img, mask, traj, directions, origins] = pictures.split(parts, 1);
  cases.compare("condition pictures", img!, get(recording, "c0_cond_img"), tolerances.forward);
  cases.compare("condition mask", mask!, get(recording, "c0_cond_mask"), tolerances.forward);
  cases.compare("condition poses", traj!, get(recording, "c0_cond_traj"), tolerances.forward);
  cases.compare("ray directions", directions!, get(recording, "c0_ray_d"), tolerances.forward);
  cases.compare("ray origins", origins!, get(recording, "c0_ray_o"), tolerances.forward);
  cases.compare(
    "condition tokens",
    cat([image, actions], 1),
    get(recording, "c0_crossattn"),
    tolerances.forward,
  );
}

async function compareRollout(cases: Cases, world: EvacWorld, folder: string): Promise<void> {
  const recording = recorded(join(folder, "rollout.safetensors"));
  const starts = new Starts(join(folder, "dataset"), world, { enableKir: false });
  const ids = findStarts(starts, get(recording, "obs0"));
  const noise = recordedNoise(recording, ids.length, world);
  const rewardModel = loadReward({
    type: "RewModel",
    from_pretrained: join(folder, "resnet_rm.safetensors"),
  });
  await playRollout(
    cases,
    recording,
    { world, rewardModel, starts, noise, ids },
    (c, { latents, frames }) => {
      cases.compare(
        `rollout chunk ${c} latents`,
        latents,
        get(recording, `c${c}_samples`),
        tolerances.latents,
      );
      const theirs = get(recording, `c${c}_frames`).squeeze(2).transpose(1, 2);
      cases.compare(`rollout chunk ${c} frames`, gray(frames), gray(theirs), tolerances.gray);
    },
  );
}

/** The draws of the reference cover frames whose latents are thrown away; ours are those of the frames that count. */
function recordedNoise(recording: Recorded, envs: number, world: EvacWorld): RecordedNoise {
  const noise = new RecordedNoise();
  const memory = world.parts.memoryFrames;
  const frames = memory + world.chunk;
  for (let c = 0; c < chunkCount(recording); c++) {
    const eps = get(recording, `c${c}_enc_eps`).unflatten(0, [-1, envs, frames]); // video pass (chunk 0), pose pass
    if (c === 0) noise.push("posterior", eps.select(0, 0).narrow(1, 0, memory));
    noise.push("condition-posterior", eps.select(0, -1).narrow(1, memory, world.chunk));
    noise.push("latents", get(recording, `c${c}_init_noise`));
    for (const step of get(recording, `c${c}_step_noise`).unbind(0)) {
      noise.push("step", step.narrow(2, memory, world.chunk));
    }
  }
  return noise;
}

/** The recording does not say which starts it drew; their first pictures do. */
function findStarts(starts: Starts, pictures: Tensor): number[] {
  const firsts = starts.files.map((path) => {
    const [record] = (readNpy(path) as { data: readonly unknown[] }).data as Map<
      string,
      { data: Uint8Array; shape: number[] }
    >[];
    const image = record!.get("image")!;
    return tensor(image.data, { shape: image.shape });
  });
  return pictures.unbind(0).map((picture) => {
    const distances = firsts.map((first) => Number(first.double().sub(picture.double()).abs().sum().item()));
    return distances.indexOf(Math.min(...distances));
  });
}
