/** Compares a Wan world with recordings of the reference: pieces, networks in float32 and bf16, schedule, rollout. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Starts } from "#envs";
import { type JsonObject, readJsonFile } from "#formats";
import { loadReward } from "#rewards";
import { noGrad, scope, stack, type Tensor, tensor } from "#tensor";
import { wan } from "../../../src/worlds/wan/index.ts";
import { WanDiT } from "../../../src/worlds/wan/model.ts";
import { axisAngles, timeWaves } from "../../../src/worlds/wan/rotary.ts";
import { flowLevels } from "../../../src/worlds/wan/schedule.ts";
import type { WanWorld } from "../../../src/worlds/wan/wan-world.ts";
import { Cases, get, type ParityCase, recorded, tolerances } from "./case.ts";
import { RecordedNoise } from "./recorded-noise.ts";
import { compareReward, compareTaskReward } from "./reward.ts";
import { chunkCount, playRollout } from "./rollout.ts";
import { timesOf } from "./time-waves.ts";

export async function compareWan(folder: string, prefix: string): Promise<ParityCase[]> {
  const cases = new Cases(prefix);
  const config = readJsonFile(join(folder, "config.json"));
  let world: WanWorld | undefined;
  await cases.part("loading", () => {
    world = load(folder, config);
  });
  if (!world) return cases.list;
  const loaded = world;
  const file = (name: string): string => join(folder, `${name}.safetensors`);
  for (const name of ["denoiser", "denoiser_256", "denoiser_bf16"].filter((name) => existsSync(file(name)))) {
    await cases.part(name, () => compareDenoiser(cases, loaded, file(name), name));
  }
  await cases.part("pieces", () => comparePieces(cases, file("pieces")));
  await cases.part("schedule", () => compareSchedule(cases, file("schedule"), loaded));
  await cases.part("vae", () => compareAutoencoder(cases, loaded, folder));
  await cases.part("reward", () => compareReward(cases, folder, "ResnetRewModel"));
  const meta = config.rollout_meta as { reward_te_instructions?: string[] } | undefined;
  await cases.part("task reward", () => compareTaskReward(cases, folder, meta?.reward_te_instructions ?? []));
  await cases.part("rollout", () => compareRollout(cases, loaded, folder, config));
  return cases.list;
}

function load(folder: string, config: JsonObject): WanWorld {
  const size = Number(config.size ?? 256);
  const settings = wan.settings.parse({
    model_path: join(folder, "dit.safetensors"),
    VAE_path: join(folder, "vae.safetensors"),
    image_size: [size, size],
    chunk: config.chunk,
    condition_frame_length: config.condition_frame_length,
    num_frames: config.num_frames,
    num_inference_steps: config.num_inference_steps,
  });
  return wan.load(settings, {}) as WanWorld;
}

function compareDenoiser(cases: Cases, world: WanWorld, path: string, name: string): void {
  const io = recorded(path);
  const [latents, timestep, action] = ["latents", "timestep", "action"].map((key) => get(io, key));
  const theirs = get(io, "output");
  noGrad(() =>
    scope(() => {
      const half = theirs.dtype === "bfloat16";
      const model = half ? bf16Copy(world) : world.parts.denoiser;
      const ours = model.forward(latents!, timestep!, action!);
      // A unit in the last place of bf16 is 1/128 of the value: equal up to one rounding of the largest output.
      const tolerance = half ? Number(theirs.double().abs().max().item()) / 128 : tolerances.forward;
      cases.compare(name, ours, theirs, tolerance);
    }),
  );
}

function bf16Copy(world: WanWorld): WanDiT {
  const model = new WanDiT(world.parts.sizes, { dtype: "bfloat16" });
  model.loadState(world.parts.denoiser.state());
  return model;
}

function comparePieces(cases: Cases, path: string): void {
  const pieces = recorded(path);
  scope(() => {
    for (const axis of ["rope_f", "rope_h", "rope_w"]) {
      const theirs = get(pieces, axis); // [positions, pairs, (cos, sin)]
      const [length = 0, pairs = 0] = theirs.shape;
      const angles = axisAngles(length, 2 * pairs, "cpu");
      cases.compare(axis, stack([angles.cos(), angles.sin()], 2), theirs, 1e-12);
    }
    const waves = get(pieces, "sin_emb");
    cases.compare("time waves", timeWaves(timesOf(waves), waves.shape[1]!), waves, tolerances.forward);
  });
}

function compareSchedule(cases: Cases, path: string, world: WanWorld): void {
  const tables = recorded(path);
  const column = (theirs: Tensor, read: (level: ReturnType<typeof flowLevels>[number]) => number): Tensor =>
    tensor(flowLevels(theirs.numel, world.parts.sizes.sigma_shift).map(read));
  for (const [name, theirs] of tables) {
    const ours = column(theirs, (level) => (name.startsWith("sigmas") ? level.sigma : level.timestep));
    cases.compare(`schedule ${name}`, ours, theirs, tolerances.latents);
  }
}

function compareAutoencoder(cases: Cases, world: WanWorld, folder: string): void {
  const encode = recorded(join(folder, "vae_encode.safetensors"));
  const decode = recorded(join(folder, "vae_decode.safetensors"));
  noGrad(() =>
    scope(() => {
      const { vae } = world.parts;
      for (const tail of ["", "13"]) {
        const ours = vae.encode(get(encode, `video${tail}`));
        cases.compare(
          `vae encode ${tail || "5"} pictures`,
          ours,
          get(encode, `latents${tail}`),
          tolerances.forward,
        );
      }
      cases.compare(
        "vae decode",
        vae.decode(get(decode, "latents")),
        get(decode, "video"),
        tolerances.forward,
      );
    }),
  );
}

async function compareRollout(
  cases: Cases,
  world: WanWorld,
  folder: string,
  config: JsonObject,
): Promise<void> {
  const recording = recorded(join(folder, "rollout.safetensors"));
  const ids = get(recording, "reset_state_ids").toArray().map(Number);
  const noise = new RecordedNoise();
  for (let c = 0; c < chunkCount(recording); c++) noise.push("latents", get(recording, "noise"));
  const starts = new Starts(join(folder, "dataset"), world, {
    enableKir: config.kir !== false,
    kirByLength: true,
  });
  const rewardModel = loadReward({
    type: "ResnetRewModel",
    from_pretrained: join(folder, "resnet_rm.safetensors"),
  });
  await playRollout(cases, recording, { world, rewardModel, starts, noise, ids }, (c, { steps, frames }) => {
    const theirs = get(recording, `c${c}_latents_steps`);
    cases.compare(`rollout chunk ${c} latents of every step`, stack(steps), theirs, tolerances.latents);
    const bytes = get(recording, `c${c}_frames`).narrow(1, world.parts.memoryFrames, world.chunk);
    const ours = frames.add(1).mul(127.5).round().to({ dtype: "uint8" }).permute([0, 1, 3, 4, 2]);
    cases.compare(`rollout chunk ${c} frames`, ours, bytes, tolerances.gray);
  });
}
