/**
 * What a recipe of a world says: whose world of which suite, what is recorded, how long each network learns, and how the result is
 * measured. The settings of the trainings are the family's own.
 */
import { z } from "zod";
import { type Finding, readStrictFile } from "#config";
import { recordingSettings } from "#recordings";
import { UserError } from "#registry";
import { findSuite } from "#simulators";
import { rewardModelSettings, trainingOfFamily, type WorldTraining } from "#world-training";
import { settingFaults } from "../../option-values.ts";
import { startsSettings } from "../parts.ts";
import { policySection } from "../policy-section.ts";

const { seed, size, steps } = recordingSettings.shape;

const scripted = z.strictObject({ episodes: z.int().positive(), seed });
const played = z.strictObject({
  episodes: z.int().positive(),
  seed,
  temperatures: z.array(z.number().min(0)).min(1).default([1]).describe("dealt to episodes in turn"),
});

const rate = z.number().positive().nullish();

/** The denoiser's settings of a further training: what it changes of the first. */
const stage = z.record(z.string(), z.unknown());

const frameFor = ({ autoencoder, denoiser }: WorldTraining) =>
  z.strictObject({
    family: z.string(),
    suite: z.string(),
    out: z.string().describe("world, recordings and reports go here"),
    data: z.string().nullish().describe("recordings of another world, to learn from the same; absent: out"),
    policy: z.string().nullish().describe("a checkpoint; without one only scripted episodes are recorded"),
    model: z.record(z.string(), z.unknown()).default({}).describe("keys of the policy's model section"),
    device: z.string().default("cuda"),
    workers: z.int().positive().nullish().describe("recording processes; absent: one per core"),
    minutes: z.number().positive().nullish().describe("the most that each training may take"),
    recordings: z.strictObject({
      size,
      steps,
      scripted,
      played: played.nullish().describe("the policy's own episodes"),
      tested: played.describe("kept apart for the meters"),
      played_more: played.nullish().describe("further episodes of the policy, for the denoiser"),
    }),
    autoencoder: autoencoder.settings.prefault({}),
    denoiser: denoiser.settings.prefault({}),
    more: stage.nullish().describe("the denoiser a second time, with the learning rate raised again"),
    reward_model: rewardModelSettings.prefault({}),
    starts: startsSettings.prefault({}),
    rounds: z
      .array(
        z.strictObject({
          recorded: played.nullish().describe("episodes that the policy acts in the dream"),
          denoiser: stage,
        }),
      )
      .default([])
      .describe("the denoiser continues to learn from all recordings"),
    report: z
      .strictObject({
        num_sampling_steps: z.int().positive().default(2),
        hold_frames: z.int().positive().default(2),
        batch: z.int().positive().default(128),
        dreamt: z
          .int()
          .min(0)
          .default(256)
          .describe("episodes in which the policy acts in the dream; 0: none"),
      })
      .prefault({}),
    rates: z
      .strictObject({
        measured: z.string().describe("on which machine, and where that is written"),
        episodes: rate,
        dreamt: rate,
        autoencoder: rate,
        denoiser: rate,
        reward_model: rate,
      })
      .nullish()
      .describe("episodes and training steps a second, for the plan"),
  });

type Settings = Readonly<Record<string, unknown>>;
type Frame = z.infer<ReturnType<typeof frameFor>>;
export type WorldRecipe = Omit<Frame, "autoencoder" | "denoiser"> & {
  readonly autoencoder: Settings;
  readonly denoiser: Settings;
};

/** What every further training of the denoiser takes from the first: all but what its rate and length depend on. */
export function continued(first: Settings, changes: Settings): Settings {
  const { steps: _steps, lr: _lr, lr_scheduler: _schedule, ema_decay: _average, ...kept } = first;
  return { ...kept, ...changes };
}

/** Checked whole before anything starts: its own keys, the family's settings, the suite and the policy. */
export async function readWorldRecipe(path: string, overrides: readonly string[]): Promise<WorldRecipe> {
  const naming = overrides.filter((each) => /^\+*family=/.test(each));
  const { family } = readStrictFile(path, {
    schema: z.looseObject({ family: z.string() }),
    overrides: naming,
  });
  const training = await trainingOfFamily(family);
  const recipe = readStrictFile(path, {
    schema: frameFor(training) as unknown as z.ZodType<WorldRecipe>,
    overrides,
    rules: (read) => [...suiteFindings(read), ...stageFindings(read, training)],
  });
  const { suite, policy, model } = recipe;
  if (policy) await policySection(policy, suite, model); // refused where there is none
  return recipe;
}

function suiteFindings({ suite }: WorldRecipe): Finding[] {
  try {
    findSuite(suite);
    return [];
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return [{ path: "suite", message: error.message }];
  }
}

/** A further training's settings are whole only with those of the first. */
function stageFindings({ denoiser, more, rounds }: WorldRecipe, training: WorldTraining): Finding[] {
  const stages = [
    ...(more ? [{ path: "more", changes: more }] : []),
    ...rounds.map((round, i) => ({ path: `rounds.${i}.denoiser`, changes: round.denoiser })),
  ];
  return stages.flatMap(({ path, changes }) =>
    settingFaults(training.denoiser.settings, continued(denoiser, changes)).map((message) => ({
      path,
      message,
    })),
  );
}
