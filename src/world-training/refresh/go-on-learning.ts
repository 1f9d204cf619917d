/**
 * A world's networks go on learning from where they are: its denoiser by its family's own training, and its judge.
 *
 * The autoencoder stays, so that latents keep their meaning: episodes under way, cached memories and the other network all rely on it.
 */
import { join } from "node:path";
import { z } from "zod";
import { readJsonFile } from "#formats";
import { UserError } from "#registry";
import { trainEvacDenoiser } from "../evac/denoiser.ts";
import { evacDenoiserSettings } from "../evac/settings.ts";
import type { RecordedFrames } from "../frames/recorded-frames.ts";
import type { LoopHooks } from "../learning/training-loop.ts";
import { familyOf, openJudge, type WorldFamilyName } from "../open-world.ts";
import { denoiserSettings, trainDenoiser } from "../opensora/denoiser.ts";
import { judgeSettings, trainJudge } from "../reward-model/training.ts";
import { trainWanDenoiser, wanDenoiserSettings } from "../wan/denoiser.ts";
import type { RefreshSettings } from "./refresh.ts";

/** What a denoiser's training shares with its beginning: which weights, how fast, how long. */
interface Continuation {
  readonly init_from: string;
  readonly steps: number;
  readonly batch_size: number;
  readonly lr: number;
  readonly lr_warmup_steps: number;
  readonly precision: "fp32" | "bf16";
  readonly cuda_graph: boolean;
  readonly seed: number;
}

type Learner = (
  lessons: RecordedFrames,
  from: Continuation,
  candidate: string,
  hooks: LoopHooks,
) => Promise<void>;

/** The keys of a world's own description that decide the shape of its denoiser. */
const keysOf = (world: string, keys: readonly string[]): Record<string, unknown> => {
  const written = z.looseObject({}).parse(readJsonFile(join(world, "config.json")));
  return Object.fromEntries(
    keys.flatMap((key) => (Object.hasOwn(written, key) ? [[key, written[key]]] : [])),
  );
};

const openSoraKeys = "depth hidden_size num_heads patch_size text_weights chunk condition_frame_length".split(
  " ",
);
const wanKeys = "dim num_heads ffn_dim num_layers patch_size sigma_shift".split(" ");

const denoisers: Readonly<Partial<Record<WorldFamilyName, Learner>>> = {
  opensora: (lessons, from, candidate, hooks) => {
    const settings = denoiserSettings.parse({ ...keysOf(from.init_from, openSoraKeys), ...from });
    return trainDenoiser(lessons, settings, candidate, hooks);
  },
  // Its description holds all sizes, and goes on with the weights.
  evac: (lessons, from, candidate, hooks) =>
    trainEvacDenoiser(lessons, evacDenoiserSettings.parse(from), candidate, hooks),
  wan: (lessons, from, candidate, hooks) => {
    const settings = wanDenoiserSettings.parse({ ...keysOf(from.init_from, wanKeys), ...from });
    return trainWanDenoiser(lessons, settings, candidate, hooks);
  },
};

/** Refused before anything is learnt or recorded. */
export function requireLearner(world: string): void {
  const family = familyOf(world);
  if (!Object.hasOwn(denoisers, family))
    throw new UserError(
      `${world} is a world of ${family}; worlds of these can go on learning: ${Object.keys(denoisers).join(", ")}`,
    );
}

/** `candidate` is a copy of `world`, and gets the networks that learnt. `hooksOf` names what is being learnt. */
export async function goOnLearning(
  world: string,
  candidate: string,
  lessons: RecordedFrames,
  settings: RefreshSettings,
  hooksOf: (what: "denoiser" | "judge") => LoopHooks,
): Promise<void> {
  requireLearner(world);
  const {
    steps,
    judge_steps,
    minutes,
    judge_minutes,
    batch_size,
    lr,
    judge_lr,
    precision,
    cuda_graph,
    seed,
  } = settings;
  const shared = { batch_size, cuda_graph, seed, init_from: world, lr_warmup_steps: 50 };
  await denoisers[familyOf(world)]?.(
    lessons,
    { ...shared, steps, lr, precision },
    candidate,
    limited(hooksOf("denoiser"), minutes),
  );
  const widths = judgeWidths(world);
  if (widths.includes(0) || lessons.tasks.length < 2) return; // a judge without tasks is left as it is
  const judge = { ...shared, widths, steps: judge_steps, lr: judge_lr };
  await trainJudge(lessons, judgeSettings.parse(judge), candidate, limited(hooksOf("judge"), judge_minutes));
}

const limited = (hooks: LoopHooks, minutes: number | null | undefined): LoopHooks =>
  minutes ? { ...hooks, timeLimit: 60 * minutes } : hooks;

function judgeWidths(world: string): number[] {
  const state = openJudge(world, "cpu").state();
  return [1, 2, 3, 4].map((stage) => state.get(`visual_encoder.${stage}.0.conv1.weight`)?.shape[0] ?? 0);
}
