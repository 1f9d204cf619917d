/** Compares an OpenSora world with recordings of the reference: pieces, networks, schedule, rollout. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Starts } from "#envs";
import { type JsonObject, readJsonFile } from "#formats";
import { rotateInterleaved, timestepEmbedding } from "#nn";
import { loadReward } from "#rewards";
import { noGrad, scope, tensor } from "#tensor";
import { opensora } from "../../../src/worlds/opensora/index.ts";
import type { OpenSoraWorld } from "../../../src/worlds/opensora/opensora-world.ts";
import { spatialPositions, temporalRotary } from "../../../src/worlds/opensora/rotary.ts";
import { rectifiedFlowSteps } from "../../../src/worlds/opensora/schedule.ts";
import { Cases, get, type ParityCase, recorded, tolerances } from "./case.ts";
import { RecordedNoise } from "./recorded-noise.ts";
import { compareReward } from "./reward.ts";
import { chunkCount, gray, playRollout } from "./rollout.ts";
import { timesOf } from "./time-waves.ts";

export async function compareOpenSora(folder: string, prefix: string): Promise<ParityCase[]> {
  const cases = new Cases(prefix);
  const config = readJsonFile(join(folder, "config.json"));
  let world: OpenSoraWorld | undefined;
  await cases.part("loading", () => {
    world = load(folder, config);
  });
  if (!world) return cases.list;
  const loaded = world;
  const file = (name: string): string => join(folder, `${name}.safetensors`);
  for (const name of ["denoiser", "denoiser_256"].filter((name) => existsSync(file(name)))) {
    await cases.part(name, () => compareDenoiser(cases, loaded, file(name), name));
  }
  await cases.part("pieces", () => comparePieces(cases, loaded, folder));
  await cases.part("schedule", () => compareSchedule(cases, file("schedule"), config));
  await cases.part("vae", () => compareAutoencoder(cases, loaded, folder));
  await cases.part("reward", () => compareReward(cases, folder, "ResnetRM"));
  await cases.part("rollout", () => compareRollout(cases, loaded, folder));
  return cases.list;
}

function load(folder: string, config: JsonObject): OpenSoraWorld {
  const size = Number(config.size ?? 256);
  const settings = opensora.settings.parse({
    opensora_wm_hf_ckpt_path: folder,
    world_model_cfg: {
      image_size: [size, size],
      chunk: config.chunk,
      condition_frame_length: config.condition_frame_length,
      num_sampling_steps: config.num_sampling_steps,
    },
  });
  return opensora.load(settings, {}) as OpenSoraWorld;
}

function compareDenoiser(cases: Cases, world: OpenSoraWorld, path: string, name: string): void {
  const io = recorded(path);
  noGrad(() =>
    scope(() => {
      const [x, t, y, mask] = ["x", "timestep", "y", "x_mask"].map((key) => get(io, key));
      const ours = world.parts.denoiser.forward(x!, t!, y!, mask!);
      cases.compare(name, ours, get(io, "output"), tolerances.forward);
    }),
  );
}

function comparePieces(cases: Cases, world: OpenSoraWorld, folder: string): void {
  const pieces = recorded(join(folder, "pieces.safetensors"));
  const denoiser = recorded(join(folder, "denoiser.safetensors"));
  const model = world.parts.denoiser;
  noGrad(() =>
    scope(() => {
      const positions = get(pieces, "pos_embed");
      const side = Math.sqrt(positions.shape[1]!);
      const scale =
        world.imageSize[0] / Number(readJsonFile(join(folder, "config.json")).input_sq_size ?? 512);
      const grid = { rows: side, columns: side, scale, width: positions.shape[2]! };
      cases.compare("positions", spatialPositions(grid, positions), positions, tolerances.forward);
      const rope = get(pieces, "rope_in");
      const turned = rotateInterleaved(rope, temporalRotary(model.rope.freqs, rope.shape.at(-2)!));
      cases.compare("rotary", turned, get(pieces, "rope_out"), tolerances.forward);
      const waves = get(pieces, "t_freq");
      const t = timesOf(waves);
      cases.compare("time waves", timestepEmbedding(t, waves.shape[1]!), waves, tolerances.forward);
      cases.compare("time embedding", model.t_embedder.forward(t), get(pieces, "t_emb"), tolerances.forward);
      const actions = model.action_embedder.forward(get(denoiser, "y")).flatten(0, 1);
      cases.compare("action embedding", actions, get(pieces, "action_emb"), tolerances.forward);
    }),
  );
}

function compareSchedule(cases: Cases, path: string, config: JsonObject): void {
  const tables = recorded(path);
  const size = Number(config.size ?? 256);
  for (const [name, side] of [
    ["timesteps", size],
    ["timesteps_256", 256],
  ] as const) {
    const theirs = get(tables, name);
    const ours = rectifiedFlowSteps(theirs.numel, [side, side]).map(({ timestep }) => timestep);
    cases.compare(`schedule ${name}`, tensor(ours), theirs, tolerances.latents);
  }
}

function compareAutoencoder(cases: Cases, world: OpenSoraWorld, folder: string): void {
  const encode = recorded(join(folder, "vae_encode.safetensors"));
  const decode = recorded(join(folder, "vae_decode.safetensors"));
  noGrad(() =>
    scope(() => {
      const video = get(encode, "video");
      const [batch = 0, , frames = 0] = video.shape;
      const images = video.transpose(1, 2).flatten(0, 1);
      const { mean, logvar } = world.parts.vae.posterior(images);
      cases.compare("vae encode mean", mean, get(encode, "mean"), tolerances.forward);
      cases.compare("vae encode log-variance", logvar, get(encode, "logvar"), tolerances.forward);
      const latents = world.parts.vae
        .encode(images, get(encode, "eps"))
        .unflatten(0, [batch, frames])
        .transpose(1, 2);
      cases.compare("vae encode sample", latents, get(encode, "latents"), tolerances.forward);
      const decoded = world.decode(get(decode, "latents")).transpose(1, 2);
      cases.compare("vae decode", decoded, get(decode, "video"), tolerances.forward);
    }),
  );
}

async function compareRollout(cases: Cases, world: OpenSoraWorld, folder: string): Promise<void> {
  const recording = recorded(join(folder, "rollout.safetensors"));
  const noise = new RecordedNoise();
  const ids = get(recording, "reset_state_ids").toArray().map(Number);
  const eps = get(recording, "encode_eps");
  noise.push("posterior", eps.unflatten(0, [ids.length, -1]));
  for (let c = 0; c < chunkCount(recording); c++) noise.push("latents", get(recording, `c${c}_noise`));
  const starts = new Starts(join(folder, "dataset"), world, { enableKir: false });
  const rewardModel = loadReward({ type: "ResnetRM", from_pretrained: join(folder, "resnet_rm.pth") });
  await playRollout(
    cases,
    recording,
    { world, rewardModel, starts, noise, ids },
    (c, { latents, frames }) => {
      const actions = world.normalize(get(recording, `c${c}_policy_action`));
      cases.compare(
        `rollout chunk ${c} actions`,
        actions,
        get(recording, `c${c}_action_norm`),
        tolerances.forward,
      );
      cases.compare(
        `rollout chunk ${c} latents`,
        latents,
        get(recording, `c${c}_pred_latents`),
        tolerances.latents,
      );
      const theirs = get(recording, `c${c}_images`).squeeze(2).transpose(1, 2);
      cases.compare(`rollout chunk ${c} frames`, gray(frames), gray(theirs), tolerances.gray);
    },
  );
}
