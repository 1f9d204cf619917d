import assert from "node:assert/strict";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openLearnedEnv } from "#envs";
import { readSafetensors } from "#formats";
import { xorshift32 } from "#random";
import { loadReward } from "#rewards";
import { noGrad, tensor, zeros } from "#tensor";
import { openSoraParts } from "#worlds";
import { tinyRecording } from "../../../test/support/tiny-recording.ts";
import { RecordedFrames } from "../frames/recorded-frames.ts";
import { writeStarts } from "../frames/starts.ts";
import { WindowSampler } from "../imagined/window-sampler.ts";
import type { StepProgress } from "../learning/training-loop.ts";
import { acceptance, refreshSettings, refreshWorld } from "../refresh/refresh.ts";
import { rewardModelSettings, trainRewardModel } from "../reward-model/training.ts";
import { proportion } from "../truth/meters.ts";
import type { TruthReport } from "../truth/truth.ts";
import { openSoraAutoencoderSettings, trainOpenSoraAutoencoder } from "./autoencoder.ts";
import { actionStatistics, openSoraDenoiserSettings, trainOpenSoraDenoiser } from "./denoiser.ts";

const frames = new RecordedFrames([tinyRecording(40)], "cpu");
const world = mkdtempSync(join(tmpdir(), "reverie-world-"));
const small = { lr_warmup_steps: 5, ema_decay: 0.9 };
const vaeSettings = openSoraAutoencoderSettings.parse({
  ...small,
  steps: 150,
  batch_size: 32,
  lr: 4e-3,
  block_out_channels: [8, 16],
  norm_num_groups: 4,
});
const dit = { depth: 1, hidden_size: 32, num_heads: 2, patch_size: [1, 2, 2] };

/** Collects the losses that a training reports. */
function losses(): {
  seen: number[];
  hooks: { reportEvery: number; onProgress(progress: StepProgress): void };
} {
  const seen: number[] = [];
  return { seen, hooks: { reportEvery: 5, onProgress: ({ loss }) => void seen.push(loss) } };
}

test("a window's memory repeats an episode's first frame, and its actions lead to its frames", () => {
  const sampler = new WindowSampler(frames, { memory: 4, chunk: 8 });
  const { memory, fresh, actions } = sampler.draw(64, xorshift32(1));
  const firsts = new Set(frames.episodes.map(({ first }) => first));
  for (let row = 0; row < 64; row++) {
    const [old, next, done] = [memory, fresh, actions].map((each) =>
      each.select(0, row).toArray().map(Number),
    );
    assert.equal(next![0], done![0]! + 1);
    assert.equal(old![3], done![0]);
    if (old![0] === old![1]) assert.ok(firsts.has(old![0]!));
  }
});

test("statistics are percentiles, and numbers that never move keep the range [-1, 1]", () => {
  const { low, high } = actionStatistics(frames);
  assert.deepEqual(low, [-2, -2, -1, -1, -1, -1, -1]);
  assert.deepEqual(high, [2, 2, 1, 1, 1, 1, 1]);
});

test("an autoencoder learns to give back what it saw, with latents of unit spread", async () => {
  const { seen, hooks } = losses();
  await trainOpenSoraAutoencoder(frames, vaeSettings, world, hooks);
  assert.ok(seen.at(-1)! < seen[0]! / 3, `${seen[0]} to ${seen.at(-1)}`);
  const vae = openSoraParts.loadAutoencoder(join(world, "vae"), {});
  noGrad(() => {
    const spread = Number(
      vae
        .encode(frames.pick(frames.every(3)))
        .std()
        .item(),
    );
    assert.ok(Math.abs(spread - 1) < 0.1, `spread ${spread}`);
  });
});

test("a denoiser's loss falls, and an interrupted training ends with the same weights", async () => {
  const settings = openSoraDenoiserSettings.parse({ ...small, ...dit, steps: 30, batch_size: 16, lr: 2e-3 });
  const { seen, hooks } = losses();
  await trainOpenSoraDenoiser(frames, settings, world, hooks);
  assert.ok(seen.at(-1)! < seen[0]!, `${seen[0]} to ${seen.at(-1)}`);
  const straight = weights();
  const resumeFile = join(world, "resume.safetensors");
  await assert.rejects(
    trainOpenSoraDenoiser(frames, settings, world, {
      resumeFile,
      saveEvery: 10,
      reportEvery: 1,
      onProgress: ({ step }) => {
        if (step === 15) throw new Error("interrupted");
      },
    }),
    /interrupted/,
  );
  await trainOpenSoraDenoiser(frames, settings, world, { resumeFile });
  assert.deepEqual(weights(), straight);
  rmSync(resumeFile);
});

const weights = (): number[] =>
  readSafetensors(join(world, "model-00001.safetensors"))
    .get("final_layer.linear.weight")!
    .toArray()
    .map(Number);

test("a reward model learns which frames show success of which task", async () => {
  const settings = rewardModelSettings.parse({
    ...small,
    steps: 120,
    batch_size: 64,
    lr: 3e-3,
    widths: [8, 8, 16, 16],
  });
  await trainRewardModel(frames, settings, world);
  const rewardModel = loadReward({
    type: "TaskEmbedResnetRewModel",
    from_pretrained: join(world, "taskemb_resnet_rm.pth"),
  });
  const rows = frames.episodes.flatMap(({ first, length, task }) =>
    Array.from({ length }, (_, i) => ({ row: first + i, task })),
  );
  const pictures = frames.pick(tensor(BigInt64Array.from(rows, ({ row }) => BigInt(row))));
  const answers = noGrad(() =>
    rewardModel
      .judge(
        pictures,
        rows.map(({ task }) => frames.tasks[task]!),
      )
      .round()
      .toArray()
      .map(Number),
  );
  const truth = frames.success.toArray().map(Number);
  const right = rows.filter(({ row }, i) => answers[i] === truth[row]).length;
  assert.ok(right / rows.length > 0.9, `${right} of ${rows.length} frames judged rightly`);
});

test("a network in bfloat16 learns with float32 masters", async () => {
  const settings = openSoraDenoiserSettings.parse({
    ...small,
    ...dit,
    steps: 20,
    batch_size: 8,
    lr: 2e-3,
    precision: "bf16",
  });
  const { seen, hooks } = losses();
  await trainOpenSoraDenoiser(frames, settings, world, hooks);
  assert.ok(seen.at(-1)! < seen[0]!, `${seen[0]} to ${seen.at(-1)}`);
});

test("an autoencoder in bfloat16 learns too, and is written with latents of unit spread", async () => {
  const other = mkdtempSync(join(tmpdir(), "reverie-world-"));
  const { seen, hooks } = losses();
  const settings = { ...vaeSettings, steps: 60, precision: "bf16" as const };
  await trainOpenSoraAutoencoder(frames, settings, other, hooks);
  assert.ok(seen.at(-1)! < seen[0]! / 2, `${seen[0]} to ${seen.at(-1)}`);
  const vae = openSoraParts.loadAutoencoder(join(other, "vae"), {});
  const spread = noGrad(() =>
    Number(
      vae
        .encode(frames.pick(frames.every(3)))
        .std()
        .item(),
    ),
  );
  assert.ok(Math.abs(spread - 1) < 0.1, `spread ${spread}`);
});

test("a time limit ends training early, and the world is written all the same", async () => {
  const settings = openSoraDenoiserSettings.parse({
    ...small,
    ...dit,
    steps: 1_000_000,
    batch_size: 4,
    lr: 1e-3,
  });
  const hasty = mkdtempSync(join(tmpdir(), "reverie-world-"));
  cpSync(join(world, "vae"), join(hasty, "vae"), { recursive: true });
  let last = 0;
  await trainOpenSoraDenoiser(frames, settings, hasty, {
    timeLimit: 1,
    reportEvery: 1,
    onProgress: ({ step }) => {
      last = step;
    },
  });
  assert.ok(last > 0 && last < 1_000_000);
  assert.ok(existsSync(join(hasty, "model-00001.safetensors")));
});

test("the folder that training leaves is an environment as it is", async () => {
  writeStarts(frames, world, { count: 6 });
  const env = await openLearnedEnv(
    {
      env_type: "opensora_wm",
      opensora_wm_hf_ckpt_path: world,
      initial_image_path: join(world, "dataset"),
      max_episode_steps: 16,
      world_model_cfg: {
        image_size: [16, 16],
        num_sampling_steps: 2,
        scheduler: { use_timestep_transform: false },
        reward_model: {
          type: "TaskEmbedResnetRewModel",
          from_pretrained: join(world, "taskemb_resnet_rm.pth"),
        },
      },
    },
    { size: 4 },
  );
  const { taskDescriptions } = await env.reset();
  assert.ok(taskDescriptions.every((sentence) => frames.tasks.includes(sentence)));
  const { observation, rewards } = await env.step(zeros([4, 8, 7]));
  assert.deepEqual(observation.mainImages.shape, [4, 16, 16, 3]);
  assert.ok(rewards.toArray().every((value) => Number.isFinite(Number(value))));
  await env.close();
});

test("a refreshed world takes the old one's place only when the meters are no worse", async () => {
  const settings = refreshSettings.parse({
    steps: 2,
    judge_steps: 1,
    batch_size: 4,
    lr: 1e-5,
    judge_lr: 1e-6,
    episodes: 4,
    chunks: 1,
    batch: 4,
    tolerance: 1,
  });
  const before = weights();
  const kept = await refreshWorld(world, frames, frames, settings);
  assert.equal(kept.accepted, true);
  assert.notDeepEqual(weights(), before);
  const now = weights();
  const [lies, exam] = [0, 1].map((success) => {
    const recorded = new RecordedFrames([tinyRecording(40)], "cpu");
    noGrad(() => recorded.success.fill_(success));
    return recorded;
  });
  const taught = {
    ...settings,
    judge_steps: 150,
    judge_lr: 1e-2,
    batch_size: 32,
    threshold: 0.5,
    episodes: 40,
    tolerance: 0,
  };
  const refused = await refreshWorld(world, lies!, exam!, taught); // nothing succeeds, it is taught
  assert.equal(refused.accepted, false, `accepted: ${refused.reason}`);
  assert.deepEqual(weights(), now);
  const rounds = readFileSync(join(world, "rounds.jsonl"), "utf8").trimEnd().split("\n");
  assert.equal(rounds.length, 2);
});

test("meters that worsen beyond the tolerance are refused, whichever it is", () => {
  const report = (lies: number, agreed: number) =>
    ({ falsePositive: proportion(lies, 10), agreement: proportion(agreed, 10) }) as TruthReport;
  assert.equal(acceptance(report(2, 8), report(2, 8), 0).accepted, true);
  assert.equal(acceptance(report(2, 8), report(3, 9), 0.05).accepted, false);
  assert.equal(acceptance(report(2, 8), report(1, 7), 0.05).accepted, false);
  assert.match(acceptance(report(2, 8), report(1, 9), 0).reason, /20\.0 to 10\.0 %.*80\.0 to 90\.0 %/);
});
