/**
 * Opens a learned env from an env block of a configuration: its world, its judge, its starts.
 *
 * Families differ in where their blocks keep the judge and the starts; that difference is written here once, so
 * that the env itself never knows which world it has.
 */
import { z } from "zod";
import { UserError } from "#registry";
import { loadReward, type RewardSettings } from "#rewards";
import type { Device, DType } from "#tensor";
import { worlds } from "#worlds";
import { LearnedEnv, type LearnedEnvParts } from "./learned-env.ts";
import { learnedEnvSettings } from "./settings.ts";
import { Starts } from "./starts.ts";

/** `env_type` to the world's family. */
const families: Readonly<Record<string, string>> = {
  opensora_wm: "opensora",
  wan_wm: "wan",
  evac_wm: "evac",
};

export const isLearnedEnv = (envType: string): boolean => Object.hasOwn(families, envType);

const judgeBlock = z.looseObject({
  type: z.string(),
  from_pretrained: z.string(),
  instructions: z.array(z.string()).optional(),
});

/** The keys that all blocks share, and the three places where a judge may be named. */
const envBlock = z.looseObject({
  env_type: z.string(),
  initial_image_path: z.string(),
  enable_kir: z.boolean().default(true),
  task_suite_name: z.string().nullish(),
  reward_model: judgeBlock.optional(),
  reward_model_cfg: z.looseObject({ pretrained_checkpoint: z.string() }).optional(),
  world_model_cfg: z.looseObject({ reward_model: judgeBlock.optional() }).optional(),
});
type EnvBlock = z.infer<typeof envBlock>;

export interface OpenOptions {
  /** Slots of this instance. */
  readonly size: number;
  /** Which instance of a run this is: added to the block's seed. */
  readonly seedOffset?: number;
  readonly device?: Device;
  readonly dtype?: DType;
}

export async function openLearnedEnv(
  block: unknown,
  options: OpenOptions,
  extra: Pick<LearnedEnvParts, "noise" | "watcher"> = {},
): Promise<LearnedEnv> {
  const parsed = parse(envBlock, block);
  const settings = parse(learnedEnvSettings, block);
  const family = await worlds.get(families[parsed.env_type] ?? parsed.env_type);
  const place = { device: options.device ?? "cpu", dtype: options.dtype ?? "float32" } as const;
  const world = family.load(parse(family.settings, block), place);
  const seeded = { ...settings, seed: settings.seed + (options.seedOffset ?? 0) };
  return new LearnedEnv(options.size, seeded, {
    ...extra,
    world,
    judge: loadReward(judgeOf(parsed), { device: place.device }), // small, and always in float32
    starts: new Starts(parsed.initial_image_path, world, { enableKir: parsed.enable_kir }),
  });
}

function judgeOf(block: EnvBlock): RewardSettings {
  const named = block.reward_model ?? block.world_model_cfg?.reward_model;
  const path = block.reward_model_cfg?.pretrained_checkpoint;
  if (!named && path === undefined)
    throw new UserError("the env block names no reward_model: nothing judges success");
  return {
    type: named?.type ?? "RewModel",
    from_pretrained: named?.from_pretrained ?? path!,
    ...(block.task_suite_name && { task_suite_name: block.task_suite_name }),
    ...(named?.instructions && { instructions: named.instructions }),
  };
}

function parse<S extends z.ZodType>(schema: S, value: unknown): z.infer<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new UserError(`this env block cannot be opened:\n${z.prettifyError(result.error)}`);
}
