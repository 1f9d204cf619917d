/**
 * Opens a learned env from an env block of a configuration: its world, its judge, its starts.
 *
 * Families differ in where their blocks keep the judge and the starts; that difference is written here once, so
 * that the env itself never knows which world it has.
 */
import { join } from "node:path";
import { z } from "zod";
import type { Film } from "#pictures";
import { UserError } from "#registry";
import { JudgeEnsemble, loadReward, type RewardModel, type RewardSettings } from "#rewards";
import type { Device, DType } from "#tensor";
import { worlds } from "#worlds";
import type { Pictures } from "../films.ts";
import { DreamFilm } from "./dream-film.ts";
import { imaginedHorizon } from "./horizon.ts";
import { LearnedEnv } from "./learned-env.ts";
import type { LearnedEnvParts } from "./parts.ts";
import type { Imagination } from "./release.ts";
import { type LearnedEnvSettings, learnedEnvSettings } from "./settings.ts";
import { Starts } from "./starts.ts";
import { worldFolder } from "./world-folder.ts";

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
  reward_model_cfg: z
    .looseObject({ pretrained_checkpoint: z.string(), type: z.string().default("RewModel") })
    .optional(),
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

export interface OpenExtras extends Pick<LearnedEnvParts, "noise" | "watcher"> {
  /** Makes the films of this env's pictures. */
  readonly filmsOf?: (pictures: Pictures) => readonly Film[];
}

export async function openLearnedEnv(
  block: unknown,
  options: OpenOptions,
  { filmsOf, ...extra }: OpenExtras = {},
): Promise<LearnedEnv> {
  const parsed = parse(envBlock, block);
  const settings = parse(learnedEnvSettings, block);
  const { world, judge } = await openImagination(block, options);
  const own = {
    ...settings,
    seed: settings.seed + (options.seedOffset ?? 0),
    max_episode_steps: imaginedHorizon(settings, world.chunk, reportOf(parsed, settings)),
  };
  const starts = new Starts(parsed.initial_image_path, world, { enableKir: parsed.enable_kir });
  const [height, width] = world.imageSize;
  const films = filmsOf?.({ width, height, seed: own.seed }) ?? [];
  const film = films.length > 0 ? new DreamFilm(films) : undefined;
  return new LearnedEnv(options.size, own, { ...extra, world, judge, starts, film });
}

/** The two networks of an env block: what imagines, and what judges. */
export async function openImagination(
  block: unknown,
  options: Pick<OpenOptions, "device" | "dtype">,
): Promise<Imagination> {
  const parsed = parse(envBlock, block);
  const family = await worlds.get(families[parsed.env_type] ?? parsed.env_type);
  const place = { device: options.device ?? "cpu", dtype: options.dtype ?? "float32" } as const;
  return {
    world: family.load(parse(family.settings, block), place),
    judge: openJudges(parsed, parse(learnedEnvSettings, block), place.device),
  };
}

/** Judges are small, and always in float32. */
function openJudges(
  block: EnvBlock,
  { judges, judge_vote }: LearnedEnvSettings,
  device: Device,
): RewardModel {
  const first = judgeOf(block);
  const open = (from_pretrained: string): RewardModel =>
    loadReward({ ...first, from_pretrained }, { device });
  const more = judges ?? [];
  const named = open(first.from_pretrained);
  return more.length === 0 ? named : new JudgeEnsemble([named, ...more.map(open)], judge_vote);
}

function reportOf(block: EnvBlock, { truth_report: given }: LearnedEnvSettings): string | undefined {
  const folder = worldFolder(block);
  return given ?? (folder === undefined ? undefined : join(folder, "truth.json"));
}

function judgeOf(block: EnvBlock): RewardSettings {
  const named = block.reward_model ?? block.world_model_cfg?.reward_model;
  const plain = block.reward_model_cfg;
  const [type, from_pretrained] = named
    ? [named.type, named.from_pretrained]
    : [plain?.type, plain?.pretrained_checkpoint];
  if (type === undefined || from_pretrained === undefined)
    throw new UserError("the env block names no reward_model: nothing judges success");
  return {
    type,
    from_pretrained,
    ...(block.task_suite_name && { task_suite_name: block.task_suite_name }),
    ...(named?.instructions && { instructions: named.instructions }),
  };
}

function parse<S extends z.ZodType>(schema: S, value: unknown): z.infer<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new UserError(`this env block cannot be opened:\n${z.prettifyError(result.error)}`);
}
