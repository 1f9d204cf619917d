/** The checkpoint that fine-tuning begins with: one that exists, or a new small one made for the demonstrations. */
import { join } from "node:path";
import { type MiniSizes, miniSizes, writeFreshCheckpoint } from "#policies";
import type { Demonstrations } from "#recordings";
import { UserError } from "#registry";
import { demonstrationStatistics, untrained, writeTrainedOn } from "#training";
import type { SftArguments } from "./arguments.ts";

/** The statistics' key of new policies: the asset pack's name, shared by its suites. */
function packOf(sets: readonly Demonstrations[]): string {
  const packs = [...new Set(sets.map(({ info }) => info.pack))];
  if (packs.length === 1) return packs[0]!;
  throw new UserError(
    `one policy learns one pack, whose actions have one meaning; given: ${packs.join(", ")}`,
  );
}

/** The model section that loads it, as a config would have it. */
export function makeBase(wishes: SftArguments, sets: readonly Demonstrations[]): Record<string, unknown> {
  const { fresh, model, modelKeys } = wishes;
  if (fresh === undefined) return { model_type: "openvla_oft", model_path: model, ...modelKeys };
  const sizes = Object.fromEntries(
    Object.entries(modelKeys).filter(([key]) => Object.hasOwn(miniSizes, key)),
  );
  const keys = Object.fromEntries(
    Object.entries(modelKeys).filter(([key]) => !Object.hasOwn(miniSizes, key)),
  );
  const folder = join(wishes.out, "base");
  const unnormKey = packOf(sets);
  const statistics = demonstrationStatistics(sets);
  writeFreshCheckpoint(folder, {
    tasks: [...new Set(sets.flatMap(({ info }) => info.tasks))],
    normStats: { [unnormKey]: { ...statistics, action: { ...statistics.action } } },
    unnormKey,
    seed: wishes.settings.seed,
    sizes: sizes as Partial<MiniSizes>,
  });
  writeTrainedOn(folder, untrained);
  return {
    model_type: "openvla_oft",
    model_path: folder,
    unnorm_key: unnormKey,
    max_prompt_length: 32,
    ...keys,
  };
}
