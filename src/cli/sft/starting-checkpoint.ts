/** The checkpoint that fine-tuning begins with: one that exists, or a new small one made for the demonstrations. */
import { join } from "node:path";
import { freshPolicy, recognizePolicy } from "#policies";
import type { Demonstrations } from "#recordings";
import { UserError } from "#registry";
import { demonstrationStatistics } from "#sft";
import { untrained, writeTrainedOn } from "#training";
import type { SftArguments } from "./arguments.ts";

/** The statistics' key of new policies: the asset pack's name, shared by its suites. */
function packOf(sets: readonly Demonstrations[]): string {
  const packs = [...new Set(sets.map(({ info }) => info.pack))];
  if (packs.length === 1) return packs[0]!;
  throw new UserError(
    `one policy learns one pack, whose actions have one meaning; given: ${packs.join(", ")}`,
  );
}

/** Of the robot that was recorded. */
export const handsOfSets = (sets: readonly Demonstrations[]): number => sets[0]?.info.hands ?? 1;

/** The model section that loads it, as a config would have it. */
export async function makeBase(
  wishes: SftArguments,
  sets: readonly Demonstrations[],
): Promise<Record<string, unknown>> {
  const { fresh: size, model = "", modelKeys } = wishes;
  if (size === undefined) {
    const model_type = modelKeys.model_type ?? (await recognizePolicy(model));
    return { model_type, model_path: model, ...modelKeys };
  }
  const { modelType, family, fresh } = await freshPolicy(size);
  const [sizes, keys] = split(modelKeys, (key) => Object.hasOwn(fresh.sizes, key));
  const folder = join(wishes.out, "base");
  const unnormKey = packOf(sets);
  const statistics = demonstrationStatistics(sets);
  fresh.write(folder, {
    tasks: [...new Set(sets.flatMap(({ info }) => info.tasks))],
    normStats: { [unnormKey]: { ...statistics, action: { ...statistics.action } } },
    unnormKey,
    seed: wishes.settings.seed,
    sizes,
  });
  writeTrainedOn(folder, untrained);
  return {
    model_type: modelType,
    model_path: folder,
    ...family.sectionFor?.({
      pack: unnormKey,
      hands: handsOfSets(sets),
      wrists: sets.every(({ info }) => info.wrist),
    }),
    ...keys,
  };
}

type Keys = Readonly<Record<string, unknown>>;

function split(all: Keys, isFirst: (key: string) => boolean): [Keys, Keys] {
  const entries = Object.entries(all);
  const part = (wanted: boolean) => Object.fromEntries(entries.filter(([key]) => isFirst(key) === wanted));
  return [part(true), part(false)];
}
