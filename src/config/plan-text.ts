/**
 * A plan as text for people: workers and devices, the arithmetic of a step, memory, disk, and what to know.
 */

import type { Process } from "./placement.ts";
import type { Plan } from "./plan.ts";
import { type Problem, problemText } from "./problem.ts";

export function planText(plan: Plan): string {
  const { checked } = plan;
  const { actor, algorithm, env } = checked.config;
  return [
    `${checked.name}: ${actor.model.model_type} learns by ${algorithm.adv_type} in ${env.train.env_type}`,
    "",
    ...workers(plan),
    "",
    ...step(plan),
    "",
    ...memory(plan),
    ...disk(plan),
    ...remarks(plan),
  ].join("\n");
}

function workers(plan: Plan): string[] {
  const { shape, placement, config } = plan.checked;
  const machine =
    shape.devices === 0
      ? "no accelerator: every worker runs on the CPU"
      : `${shape.devices} ${shape.simulated ? "simulated " : ""}accelerators`;
  return [
    `workers   ${shape.nodes} node(s), ${machine}; placement ${plan.mode}, ${config.rollout.pipeline_stage_num} pipeline stage(s)`,
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
  return offload[name] ? ", offloaded between phases" : "";
}

function step({ batch, checked }: Plan): string[] {
  const { train } = checked.config.env;
  const { num_action_chunks: chunk } = checked.config.actor.model;
  const { global_batch_size: global, micro_batch_size: micro } = checked.config.actor;
  const { group_size: size } = checked.config.algorithm;
  const slots = `${train.rollout_epoch} rollout epoch(s) × ${batch.slots} slots`;
  const steps = `${batch.microBatches} micro-batches of ${micro} on ${checked.worlds.actor} rank(s)`;
  return [
    "one training step",
    `  collect   ${slots} × ${batch.decisions} decisions of ${chunk} actions = ${batch.samples} samples`,
    `            ${batch.environmentSteps} env steps, ${batch.slotsPerStage} slots per env worker and stage`,
    `            ${batch.samplesPerAnswer} observations per answer, ${batch.groups} group(s) of ${size}`,
    `  learn     ${batch.samples} samples ÷ ${global} × ${batch.updateEpochs} epoch(s) = ${batch.optimizerSteps} optimiser steps`,
    `            each ${steps}`,
    `  run       ${batch.trainingSteps} training steps, ${batch.trainingSteps * batch.optimizerSteps} optimiser steps`,
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
  if (checkpointBytes === 0) return [`disk      ${checkpoints} checkpoint(s), size unknown`];
  return [
    `disk      ${checkpoints} checkpoint(s) × ${gigabytes(checkpointBytes)} = ${gigabytes(totalBytes)}`,
  ];
}

function remarks(plan: Plan): string[] {
  const { problems } = plan.checked;
  const section = (title: string, severity: "warning" | "note"): string[] => {
    const lines = grouped(problems.filter((each) => each.severity === severity));
    return lines.length > 0 ? ["", title, ...lines.map((line) => `  ${line}`)] : [];
  };
  return [...section("warnings", "warning"), ...section("notes", "note")];
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

function gigabytes(bytes: number): string {
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${Math.ceil(bytes / 1e6)} MB`;
}
