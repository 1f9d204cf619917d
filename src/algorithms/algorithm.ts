/**
 * What an algorithm is: its settings, how it gives advantages, and its loss.
 *
 * `defineAlgorithm` makes a family from one file that reads like its paper; the catalogue (index.ts) names it. The rest of the
 * house asks a family for `groups` and `needsCritic`, never for its name.
 */
import type { z } from "zod";
import type { Minibatch, PolicyEvaluation, Rollout } from "#data";
import type { FamilySettings } from "#registry";
import type { Advantages, Columns } from "./advantages.ts";
import type { Horizon } from "./aggregate.ts";
import { countLossTotals, type Loss, type LossTotals, type PartOfMinibatch } from "./loss.ts";
import type { Ranks } from "./ranks.ts";
import { type AlgorithmSettings, withSharedRules } from "./settings.ts";

/** `S`: the algorithm's own settings, the shared ones among them. */
export interface AlgorithmDefinition<S extends AlgorithmSettings> extends Traits {
  /** A strict object: `sharedSettings` and what the algorithm adds. It must accept what it returned. */
  readonly settings: z.ZodType<S>;
  /** From what happened to what to learn from it. */
  advantages(rollout: Rollout, context: Columns & { readonly settings: S }): Promise<Advantages>;
  /** Of a micro-batch, from what the policy says of its samples now, in float32. */
  loss(now: PolicyEvaluation, batch: Minibatch, context: PartOfMinibatch & { readonly settings: S }): Loss;
}

interface Traits extends Pick<FamilySettings, "unused" | "check"> {
  /** What people call the method; a configuration names it by its key in the catalogue (`adv_type`). */
  readonly name: string;
  /** Episodes are compared with others from the same start: the members of a group share it, and no env restarts. */
  readonly groups: boolean;
  /** Advantages are measured against a critic, which the loss trains. */
  readonly needsCritic: boolean;
}

/** An algorithm as the rest of the house sees it. */
export interface AlgorithmFamily extends FamilySettings, Traits {
  /** With the `algorithm` section of a run. */
  open(section: Readonly<Record<string, unknown>>): Algorithm;
}

/** An algorithm with the settings of a run. */
export interface Algorithm {
  readonly settings: AlgorithmSettings;
  advantages(rollout: Rollout, columns: Columns): Promise<Advantages>;
  /** The denominators of one minibatch (this rank's samples), put together over all ranks. */
  countTotals(minibatch: Minibatch, horizon: Horizon, ranks?: Ranks): Promise<LossTotals>;
  loss(now: PolicyEvaluation, batch: Minibatch, part: PartOfMinibatch): Loss;
}

export function defineAlgorithm<S extends AlgorithmSettings>(
  definition: AlgorithmDefinition<S>,
): AlgorithmFamily {
  const schema = withSharedRules(definition.settings, definition.groups);
  return {
    ...definition,
    settings: schema,
    open(section) {
      const settings = schema.parse(section);
      return {
        settings,
        advantages: (rollout, columns) => definition.advantages(rollout, { ...columns, settings }),
        countTotals: (minibatch, horizon, ranks) => countLossTotals(minibatch, settings, horizon, ranks),
        loss: (now, batch, part) => definition.loss(inFloat32(now), batch, { ...part, settings }),
      };
    },
  };
}

/** Once, before any term reads it: gradients of several terms then meet in float32. */
function inFloat32({ logProbs, entropy, values }: PolicyEvaluation): PolicyEvaluation {
  return {
    logProbs: logProbs.float(),
    ...(entropy && { entropy: entropy.float() }),
    ...(values && { values: values.float() }),
  };
}
