/**
 * A plan as text for people: workers and devices, the arithmetic of a step, memory, disk, and what to know.
 */

import type { FamilySettings } from "#registry";
import { evaluationSlots } from "./batch.ts";
import type { EnvironmentConfig } from "./frame/index.ts";
import { sharesWeights } from "./memory.ts";
import type { Process } from "./placement.ts";
import type { Plan } from "./plan.ts";
import { type Problem, problemText } from "./problem.ts";
import type { CheckedConfig } from "./read-config.ts";
import { samplingMode } from "./sampling.ts";
import { shardingOf } from "./sharding.ts";

export function planText(plan: Plan): string {
  const { checked } = plan;
  const { actor, algorithm, env, runner } = checked.config;
  if (runner.only_eval) return evaluationText(plan);
  return [
    `${checked.name}: ${actor.model.model_type} learns by ${algorithm.adv_type} in ${placeText(env.train, checked.families.train)}`,
    "",
    ...workers(plan),
    "",
    ...step(plan),
    ...honesty(plan),
    "",
    ...memory(plan),
    ...disk(plan),
    ...remarks(plan),
  ].join("\n");
}

/** Of a run that only evaluates: no step, no actor, nothing kept but results. */
function evaluationText(plan: Plan): string {
  const { config, name, ranks } = plan.checked;
  const { actor, env } = config;
  const played = env.eval ?? env.train;
  return [
    `${name}: ${actor.model.model_type} is evaluated in ${placeText(played, plan.checked.families[config.env.eval ? "eval" : "train"])}`,
    "",
    ...workers(plan).filter((line) => !line.startsWith("  actor")),
    "",
    "one evaluation",
    `  play      ${count(played.rollout_epoch, "pass", "es")} over the starts, ${count(evaluationSlots(config, ranks), "slot")} at a time`,
    `            ${count(played.max_episode_steps, "action")} at most, ${actor.model.num_action_chunks} per decision`,
    ...remarks(plan),
  ].join("\n");
}

/** "libero_10", "libero_10 as imagined (wan_wm)", or the kind of env where there are no suites. */
function placeText(
  { task_suite_name: suite, env_type: type }: EnvironmentConfig,
  family?: FamilySettings,
): string {
  if (typeof suite !== "string") return type;
  return family?.plays === "dream" ? `${suite} as imagined (${type})` : suite;
}

function workers(plan: Plan): string[] {
  const { shape, placement, config } = plan.checked;
  const machine =
    shape.devices === 0
      ? "no accelerator: every worker runs on the CPU"
      : count(shape.devices, `${shape.simulated ? "simulated " : ""}accelerator`);
  return [
    `workers   ${count(shape.nodes, "machine")}, ${machine}; placement ${plan.mode}, ${count(config.rollout.pipeline_stage_num, "pipeline stage")}`,
    ...[...placement].map(
      ([name, processes]) =>
        `  ${name.padEnd(8)}${processes.length} × ${whereText(processes)}${offloadText(plan, name)}`,
    ),
  ];
}

function whereText(processes: readonly Process[]): string {
  const devices = [...new Set(processes.flatMap((process) => process.devices))].sort((a, b) => a - b);
  if (devices.length === 0)
    return `node ${[...new Set(processes.map((process) => process.node))].join(", ")}`;
  const spans = devices.reduce<[number, number][]>((list, device) => {
    const last = list.at(-1);
    if (last && last[1] === device - 1) last[1] = device;
    else list.push([device, device]);
    return list;
  }, []);
  const text = spans.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(",");
  return `device${devices.length > 1 ? "s" : ""} ${text}`;
}

function offloadText(plan: Plan, name: string): string {
  const { config } = plan.checked;
  const offload: Readonly<Record<string, boolean>> = {
    actor: config.actor.enable_offload,
    rollout: config.rollout.enable_offload,
    env: config.env.train.enable_offload,
  };
  const shares =
    name === "rollout" && !config.runner.only_eval && sharesFirst(plan)
      ? ", with the first actor's weights beside it"
      : "";
  return `${shares}${offload[name] ? ", offloaded between phases" : ""}`;
}

/** Where a rollout worker needs no weights of its own. */
function sharesFirst({ checked: { config, placement } }: Plan): boolean {
  const device = placement.get("actor")?.[0]?.devices[0];
  return device !== undefined && sharesWeights(config, placement, device);
}

function step({ batch, checked }: Plan): string[] {
  const { train } = checked.config.env;
  const { num_action_chunks: chunk } = checked.config.actor.model;
  const { global_batch_size: global, micro_batch_size: micro } = checked.config.actor;
  const { group_size: size } = checked.config.algorithm;
  const slots = `${count(train.rollout_epoch, "rollout epoch")} × ${count(batch.slots, "slot")}`;
  const steps = `${count(batch.microBatches, "micro-batch", "es")} of ${micro} on ${count(checked.ranks.actor, "rank")}`;
  return [
    "one training step",
    `  collect   ${slots} × ${count(batch.decisions, "decision")} of ${count(chunk, "action")} = ${count(batch.samples, "sample")}`,
    `            ${count(batch.environmentSteps, "env step")}, ${count(batch.slotsPerStage, "slot")} per env worker and stage`,
    `            ${count(batch.samplesPerAnswer, "observation")} per answer, ${count(batch.groups, "group")} of ${size}`,
    `            ${actingText(checked)}`,
    `  learn     ${count(batch.samples, "sample")} ÷ ${global} × ${count(batch.updateEpochs, "epoch")} = ${count(batch.optimizerSteps, "optimizer step")}`,
    `            each ${steps}`,
    ...spread(checked),
    `  run       ${count(batch.trainingSteps, "training step")}, ${count(batch.trainingSteps * batch.optimizerSteps, "optimizer step")}`,
  ];
}

/** How actions are chosen: what do_sample, top_k and the temperatures come to. */
function actingText({ config, families }: CheckedConfig): string {
  const [train, test] = (["train", "eval"] as const).map((phase) => {
    const { mode, temperature, topK } = samplingMode(config, phase);
    if (mode === "greedy") return "the most probable";
    if (!families.policy?.samplesTokens) return "sampled";
    return `sampled from ${topK > 0 ? `the ${topK} most probable tokens` : "all tokens"} at temperature ${temperature}`;
  });
  return train === test ? `actions: ${train}` : `actions: ${train}; in evaluations: ${test}`;
}

/** What several ranks hold in parts. */
function spread({ config, ranks }: CheckedConfig): string[] {
  const parts = `in ${ranks.actor} parts`;
  const lines = {
    none: [],
    updates: [`            moments and masters ${parts}, all weights on every rank`],
    weights: [`            weights, gradients, moments and masters ${parts}, whole one layer at a time`],
  };
  return lines[shardingOf(config, ranks.actor)];
}

/** What keeps a run in a world model honest, where something does. */
function honesty({ checked }: Plan): string[] {
  const { co_evolution: evolution, stop_when_gap_grows: gap } = checked.config.runner;
  const { refresh } = evolution;
  const limit = (minutes: number | null | undefined): string => (minutes ? `, at most ${minutes} min` : "");
  const learning = [
    `  learn     from ${count(evolution.episodes, "new episode")} and ${evolution.old_episodes ?? "all"} old ones (${count(evolution.data.length, "folder")})`,
    `            denoiser ${refresh.steps} steps${limit(refresh.minutes)}; judge ${refresh.judge_steps} steps${limit(refresh.judge_minutes)}`,
    `            rolled back when the meters get worse by more than ${refresh.tolerance}`,
  ];
  return [
    ...(evolution.enabled
      ? [
          "",
          `co-evolution every ${count(evolution.interval, "step")}, in ${String(checked.config.env.eval?.task_suite_name)}`,
          `  measure   on ${count(evolution.exam_episodes, "episode")} of the current policy`,
          ...(evolution.episodes > 0 ? learning : []),
        ]
      : []),
    ...(gap.enabled
      ? [
          `stops     when closed_loop_false_positive exceeds its smallest value by ${gap.threshold} in ${gap.patience} evaluations`,
        ]
      : []),
  ];
}

function memory(plan: Plan): string[] {
  if (plan.memory.length === 0) {
    const reason = plan.checked.shape.devices === 0 ? "no accelerators" : plan.memoryBasis;
    return [`memory    not predicted per device (${reason})`];
  }
  const rows = new Map<string, number[]>();
  for (const { device, collecting, training } of plan.memory) {
    const text = `${gigabytes(collecting)} collecting, ${gigabytes(training)} training`;
    rows.set(text, [...(rows.get(text) ?? []), device]);
  }
  const lines = [...rows].map(([text, devices]) => {
    const processes = devices.map((device) => ({ rank: 0, node: 0, devices: [device] }));
    return `  ${whereText(processes).padEnd(16)}${text}`;
  });
  return [`memory    predicted per device (${plan.memoryBasis})`, ...lines];
}

function disk(plan: Plan): string[] {
  const { checkpoints, checkpointBytes, totalBytes } = plan.disk;
  if (checkpointBytes === 0) return [`disk      ${count(checkpoints, "checkpoint")}, size unknown`];
  return [
    `disk      ${count(checkpoints, "checkpoint")} × ${gigabytes(checkpointBytes)} = ${gigabytes(totalBytes)}`,
  ];
}

function remarks(plan: Plan): string[] {
  const { problems } = plan.checked;
  const section = (title: string, severity: "warning" | "note"): string[] => {
    const lines = remarkLines(problems, severity);
    return lines.length > 0 ? ["", title, ...lines.map((line) => `  ${line}`)] : [];
  };
  return [...section("warnings", "warning"), ...section("notes", "note")];
}

/** What a plan and a run say about their configuration, of one kind, each with the place that wrote it. */
export function remarkLines(problems: readonly Problem[], severity: "warning" | "note"): string[] {
  return grouped(problems.filter((each) => each.severity === severity));
}

/** Settings that share a remark share a line. */
function grouped(problems: readonly Problem[]): string[] {
  const byMessage = new Map<string, Problem[]>();
  for (const each of problems) byMessage.set(each.message, [...(byMessage.get(each.message) ?? []), each]);
  return [...byMessage.values()].map((same) => {
    const [first] = same;
    const paths = same.map((each) => each.path).join(", ");
    return first ? problemText({ ...first, path: paths }) : "";
  });
}

const count = (number: number, thing: string, plural = "s"): string =>
  `${number} ${thing}${number === 1 ? "" : plural}`;

function gigabytes(bytes: number): string {
  if (bytes >= 1e12) return `${(bytes / 1e12).toFixed(1)} TB`;
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.ceil(bytes / 1e6)} MB`;
}
