/**
 * A claim's file: what is asked, which runs and controls answer it, how they are evaluated, and what decides.
 *
 * `reverie claim` does what it says. The true runs are those of `config`, `overrides` and `seeds`; every arm beside them takes the same
 * settings and lays its own over them.
 */
import { z } from "zod";
import { type Finding, parseOverride, readStrictFile } from "#config";
import { UserError } from "#registry";
import { readStarts } from "#simulators";

/** What an arm changes, and whether it may gain: a control must not, a comparison may. */
export const armKinds = {
  shuffled_advantages: { control: true, overrides: ["algorithm.shuffle_advantages=true"] },
  shuffled_within_groups: {
    control: true,
    overrides: ["algorithm.shuffle_advantages=true", "algorithm.shuffle_within_groups=true"],
  },
  random_reward_model: { control: true, overrides: ["env.train.random_judge=true"] },
  frozen_world: { control: false, overrides: ["runner.co_evolution.episodes=0"] },
  control: { control: true, overrides: [] },
  comparison: { control: false, overrides: [] },
} as const satisfies Record<string, { readonly control: boolean; readonly overrides: readonly string[] }>;
export type ArmKind = keyof typeof armKinds;

const overrides = z.array(z.string()).default([]).describe("key=value, as for reverie train");
const seeds = z.array(z.int().nonnegative()).min(1);

const arm = z.strictObject({
  kind: z.enum(Object.keys(armKinds) as [ArmKind, ...ArmKind[]]),
  config: z.string().optional().describe("another configuration than the true run's"),
  overrides,
  seeds: seeds.optional().describe("other seeds than the true run's"),
});

const limits = z.strictObject({
  minutes: z
    .number()
    .positive()
    .optional()
    .describe("of one run; then it ends after its step, with a checkpoint"),
  at_once: z.int().positive().default(1).describe("runs or evaluations at the same time"),
  device: z.enum(["cpu", "cuda"]).optional().describe("absent: accelerators are used where there are any"),
  cores: z.int().positive().optional().describe("shared out as the env workers of evaluations"),
});

const evaluation = z.strictObject({
  config: z.string().optional().describe("absent: the true run's"),
  starts: z.string().default("stored").describe("stored, fresh or fresh:SEED"),
  per_task: z.int().positive().optional().describe("how many fresh starts of each task"),
  greedy: z.boolean().default(false).describe("the most probable action instead of a sampled one"),
  seed: z.int().nonnegative().optional().describe("of sampled actions; absent: the configuration's"),
  overrides,
});

export const goalSchema = z.strictObject({
  evaluation: z.string().describe("which evaluation decides"),
  gain_points: z.number().optional().describe("every true run gains at least so many points"),
  p_below: z.number().positive().max(1).optional().describe("of the exact McNemar test, for every true run"),
  control_below: z.boolean().optional().describe("every control ends below every true run"),
  control_gain_points: z.number().optional().describe("no control gains more than so many points"),
});
export type Goal = z.infer<typeof goalSchema>;

export const claimSchema = z.strictObject({
  question: z.string().min(1),
  config: z.string(),
  overrides,
  seeds,
  arms: z.record(z.string(), arm).default({}),
  limits: limits.prefault({}),
  evaluations: z.record(z.string(), evaluation),
  goal: goalSchema.optional(),
  plot: z.strictObject({ title: z.string().default("Success rate in training") }).prefault({}),
  expected: z
    .strictObject({
      run_minutes: z.number().positive().describe("of one training, with as many at once as the limits say"),
      evaluation_minutes: z.number().positive(),
      origin: z.string().min(1).describe("who measured it, where"),
    })
    .optional(),
});
export type Claim = z.infer<typeof claimSchema>;

export const readClaim = (path: string, given: readonly string[] = []): Claim =>
  readStrictFile(path, { schema: claimSchema, overrides: given, rules });

export interface Arm {
  readonly name: string;
  readonly kind: "true" | ArmKind;
  readonly config: string;
  readonly overrides: readonly string[];
  readonly seeds: readonly number[];
}

/** The true run first, then the others as the file has them. */
export function armsOf(claim: Claim): Arm[] {
  const { config, overrides: shared, seeds: own } = claim;
  const others = Object.entries(claim.arms).map(([name, given]) => ({
    name,
    kind: given.kind,
    config: given.config ?? config,
    overrides: [...shared, ...armKinds[given.kind].overrides, ...given.overrides],
    seeds: given.seeds ?? own,
  }));
  return [{ name: "true", kind: "true", config, overrides: shared, seeds: own }, ...others];
}

export const isControl = (kind: string): boolean =>
  Object.hasOwn(armKinds, kind) && armKinds[kind as ArmKind].control;

function rules(claim: Claim): Finding[] {
  const armEntries = Object.entries(claim.arms);
  const evaluations = Object.entries(claim.evaluations);
  return [
    ...(evaluations.length === 0
      ? [{ path: "evaluations", message: "is empty: nothing would be measured" }]
      : []),
    ...armEntries.flatMap(([name]) => nameFaults(`arms.${name}`, name)),
    ...evaluations.flatMap(([name]) => nameFaults(`evaluations.${name}`, name)),
    ...seedFaults("seeds", claim.seeds),
    ...armEntries.flatMap(([name, given]) => seedFaults(`arms.${name}.seeds`, given.seeds ?? [])),
    ...overrideFaults("overrides", claim.overrides),
    ...armEntries.flatMap(([name, given]) => overrideFaults(`arms.${name}.overrides`, given.overrides)),
    ...evaluations.flatMap(([name, given]) => [
      ...overrideFaults(`evaluations.${name}.overrides`, given.overrides),
      ...startsFaults(`evaluations.${name}`, given),
    ]),
    ...goalFaults(claim),
  ];
}

/** Names become parts of folder names: arm_seed_evaluation. */
function nameFaults(path: string, name: string): Finding[] {
  if (["true", "base"].includes(name))
    return [
      { path, message: `the name ${name} is taken: it stands for the claim's own run, or where that began` },
    ];
  const fine = /^[a-z][a-z0-9-]*$/.test(name);
  return fine
    ? []
    : [{ path, message: "a name has small letters, digits and hyphens, and begins with a letter" }];
}

function seedFaults(path: string, given: readonly number[]): Finding[] {
  const twice = given.filter((seed, i) => given.indexOf(seed) !== i);
  return twice.map((seed) => ({ path, message: `has ${seed} twice` }));
}

/** What the claim itself says to every run. */
const ours: Readonly<Record<string, string>> = {
  "runner.seed": "seeds",
  "runner.logger.log_path": "--out",
  "runner.resume_dir": "--resume",
};

function overrideFaults(path: string, given: readonly string[]): Finding[] {
  return given.flatMap((text, i) => {
    const at = `${path}.${i}`;
    try {
      const { key } = parseOverride(text);
      return Object.hasOwn(ours, key)
        ? [{ path: at, message: `${key} is the claim's to set: ${ours[key]} decides it` }]
        : [];
    } catch (error) {
      if (error instanceof UserError) return [{ path: at, message: error.message }];
      throw error;
    }
  });
}

function startsFaults(path: string, { starts, per_task }: z.infer<typeof evaluation>): Finding[] {
  try {
    const { kind } = readStarts(starts);
    return per_task === undefined || kind === "fresh"
      ? []
      : [
          {
            path: `${path}.per_task`,
            message: "is for fresh starts: the stored ones are as many as they are",
          },
        ];
  } catch (error) {
    if (error instanceof UserError) return [{ path: `${path}.starts`, message: error.message }];
    throw error;
  }
}

function goalFaults({ goal, evaluations, arms }: Claim): Finding[] {
  if (!goal) return [];
  const names = Object.keys(evaluations);
  const { evaluation: decides, control_below, control_gain_points, gain_points, p_below } = goal;
  const asksControls = control_below === true || control_gain_points !== undefined;
  const asksAnything = asksControls || gain_points !== undefined || p_below !== undefined;
  const hasControls = Object.values(arms).some(({ kind }) => isControl(kind));
  return [
    ...(names.includes(decides)
      ? []
      : [{ path: "goal.evaluation", message: `is "${decides}"; there are: ${names.join(", ")}` }]),
    ...(asksAnything
      ? []
      : [{ path: "goal", message: "asks for nothing: gain_points, p_below or control_below is missing" }]),
    ...(asksControls && !hasControls
      ? [
          {
            path: "goal",
            message:
              "asks for a control, and no arm is one; add arms: { control: { kind: shuffled_advantages } }",
          },
        ]
      : []),
  ];
}
