/** Opens a learned env from an env block of a configuration: its world, its reward model, its starts. */
import { join } from "node:path";
import { z } from "zod";
import type { Film } from "#pictures";
import { UserError } from "#registry";
import { loadReward, type RewardModel, RewardModelEnsemble, type RewardSettings } from "#rewards";
import type { Device, DType } from "#tensor";
import { envTypeOf, type NamedRewardModel, namedRewardModel, type WorldFamily, worlds } from "#worlds";
import type { Pictures } from "../films.ts";
import type { Imagination } from "../imagination.ts";
import { DreamFilm } from "./dream-film.ts";
import { imaginedHorizon } from "./horizon.ts";
import { LearnedEnv } from "./learned-env.ts";
import type { LearnedEnvParts } from "./parts.ts";
import { type LearnedEnvSettings, learnedEnvSettings } from "./settings.ts";
import { Starts } from "./starts.ts";
import { worldFolder } from "./world-folder.ts";

/** The keys that all blocks share. */
const envBlock = z.looseObject({
  env_type: z.string(),
  initial_image_path: z.string(),
  enable_kir: z.boolean().default(true),
  task_suite_name: z.string().nullish(),
  reward_model: namedRewardModel.optional(),
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
  const { world, rewardModel } = await openImagination(block, options);
  const own = {
    ...settings,
    seed: settings.seed + (options.seedOffset ?? 0),
    max_episode_steps: imaginedHorizon(settings, world.chunk, reportOf(parsed, settings)),
  };
  const starts = new Starts(parsed.initial_image_path, world, { enableKir: parsed.enable_kir });
  const [height, width] = world.imageSize;
  const films = filmsOf?.({ width, height, seed: own.seed }) ?? [];
  const film = films.length > 0 ? new DreamFilm(films) : undefined;
  return new LearnedEnv(options.size, own, { ...extra, world, rewardModel, starts, film });
}

/** The two networks of an env block: what imagines, and what judges. */
export async function openImagination(
  block: unknown,
  options: Pick<OpenOptions, "device" | "dtype">,
): Promise<Imagination> {
  const parsed = parse(envBlock, block);
  const family = await familyOf(parsed.env_type);
  const own = parse(family.settings, block);
  const place = { device: options.device ?? "cpu", dtype: options.dtype ?? "float32" } as const;
  const first = rewardSettings(
    parsed,
    family.rewardModelOf ? family.rewardModelOf(own) : parsed.reward_model,
  );
  return {
    world: family.load(own, place),
    rewardModel: openRewardModels(first, parse(learnedEnvSettings, block), place.device),
  };
}

const familyOf = (envType: string): Promise<WorldFamily> =>
  worlds.get(worlds.names().find((name) => envTypeOf(name) === envType) ?? envType);

/** Reward models are small, and always in float32. */
function openRewardModels(
  first: RewardSettings,
  { judges, judge_vote }: LearnedEnvSettings,
  device: Device,
): RewardModel {
  const open = (from_pretrained: string): RewardModel =>
    loadReward({ ...first, from_pretrained }, { device });
  const more = judges ?? [];
  const named = open(first.from_pretrained);
  return more.length === 0 ? named : new RewardModelEnsemble([named, ...more.map(open)], judge_vote);
}

function reportOf(block: EnvBlock, { truth_report: given }: LearnedEnvSettings): string | undefined {
  const folder = worldFolder(block);
  return given ?? (folder === undefined ? undefined : join(folder, "truth.json"));
}

function rewardSettings({ task_suite_name }: EnvBlock, named: NamedRewardModel | undefined): RewardSettings {
  if (!named) throw new UserError("the env block names no reward_model: nothing judges success");
  const { type, from_pretrained, instructions } = named;
  return {
    type,
    from_pretrained,
    ...(task_suite_name && { task_suite_name }),
    ...(instructions && { instructions }),
  };
}

function parse<S extends z.ZodType>(schema: S, value: unknown): z.infer<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new UserError(`this env block cannot be opened:\n${z.prettifyError(result.error)}`);
}
