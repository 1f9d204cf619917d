/** Evaluates a policy in `env.eval`: all workers together, some passes over the starts, one result. */

import { type CheckedConfig, evaluationSlots, type SamplingMode, samplingMode } from "#config";
import type { OpenedEnv } from "#envs";
import { envSeedOffset, RandomStream } from "#random";
import { UserError } from "#registry";
import { type Decider, EpisodeLog, type PolicyLine } from "#workers";
import { openStages, type Stage } from "../assemble.ts";
import { playTogether } from "../play-together.ts";
import {
  type EpisodeResult,
  type EvaluationShare,
  type PassResult,
  type PassRules,
  playPass,
  startsWithin,
} from "./play.ts";

export interface EvaluationResult {
  readonly episodes: readonly EpisodeResult[];
  readonly metrics: Record<string, number>; // eval/…
  readonly sampling: SamplingMode;
  readonly passes: number;
  /** The part of every task's starts that was played; 1: all. */
  readonly share: number;
  readonly seconds: number;
}

export interface EvaluationWishes {
  /** `budget`: as many episodes as `rollout_epoch` and `max_steps_per_rollout_epoch` allow. `all`: every start, in whole passes. */
  readonly extent: "budget" | "all";
  /** With `all`: which part of every task's starts. May be lowered while the evaluation runs. */
  readonly part?: EvaluationShare | undefined;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  /** Gives the evaluation up; what was played counts for nothing. */
  readonly signal?: AbortSignal | undefined;
}

export class Evaluator {
  readonly #checked: CheckedConfig;
  readonly #rollouts: readonly Decider[];
  readonly #say: (line: string) => void;
  #stages: Stage[] | undefined; // opened at the first evaluation, then kept

  constructor(checked: CheckedConfig, rollouts: readonly Decider[], say: (line: string) => void) {
    this.#checked = checked;
    this.#rollouts = rollouts;
    this.#say = say;
  }

  async evaluate({
    extent,
    part = { share: 1 },
    onProgress,
    signal,
  }: EvaluationWishes): Promise<EvaluationResult> {
    const began = performance.now();
    const stages = await this.#open();
    const { config, ranks } = this.#checked;
    const section = this.#section();
    const starts = stages[0]?.opened.pool?.starts ?? stages.length * (stages[0]?.opened.env.size ?? 0);
    const decisions =
      section.rollout_epoch * (section.max_steps_per_rollout_epoch / config.actor.model.num_action_chunks);
    const passes = extent === "all" ? wholePasses(section, starts) : 1;
    const sampling = samplingMode(config, "eval");
    let done = 0;
    const { trials = [starts] } = stages[0]?.opened.pool ?? {};
    const total = (): number =>
      extent === "all"
        ? passes * trials.reduce((sum, count) => sum + startsWithin(count, part.share), 0)
        : Math.min(starts, this.#slots() * section.rollout_epoch);
    const onEpisodes = (count: number): void => {
      done += count;
      onProgress?.(Math.min(done, total()), total());
    };
    const rules = {
      stream: RandomStream.ofRun(config.runner.seed).branch("evaluation"),
      autoReset: section.auto_reset,
      extent: part,
      decisions: extent === "all" && stages[0]?.opened.pool ? Number.POSITIVE_INFINITY : decisions,
      onEpisodes,
    };
    const players = { stages, rollouts: this.#rollouts, ranks, sampling, signal };
    const played = await playTogether(players, (lines) =>
      Promise.all(stages.map(({ opened }, i) => playPasses(opened, lines[i] as PolicyLine, passes, rules))),
    );
    // Played before the evaluation was shortened; its fellows of other tasks were not.
    const { tasks = [] } = stages[0]?.opened.pool ?? {};
    const isWanted = ({ task, trial }: EpisodeResult): boolean =>
      part.share >= 1 || trial < startsWithin(trials[tasks.indexOf(task)] ?? 0, part.share);
    const log = new EpisodeLog();
    for (const pass of played.flat()) log.add(pass.log);
    for (const worker of this.#rollouts) worker.takeSeconds();
    return {
      episodes: inOrder(played.flat().flatMap(({ episodes }) => episodes)).filter(isWanted),
      metrics: log.metrics("eval"),
      sampling,
      passes,
      share: part.share,
      seconds: (performance.now() - began) / 1000,
    };
  }

  async close(): Promise<void> {
    await Promise.all((this.#stages ?? []).map(({ opened }) => opened.env.close()));
    this.#stages = undefined;
  }

  #section() {
    const section = this.#checked.config.env.eval;
    if (!section) throw new UserError("the configuration has no env.eval: nothing to evaluate in");
    // Without it starts are drawn as in training, again and again, and a whole evaluation would never end.
    return { ...section, is_eval: true };
  }

  #slots(): number {
    return evaluationSlots(this.#checked.config, this.#checked.ranks);
  }

  async #open(): Promise<Stage[]> {
    this.#stages ??= await openStages(this.#checked, {
      section: this.#section(),
      slots: this.#slots(),
      seedOffset: envSeedOffset(this.#checked.config.runner.seed),
      say: this.#say,
    });
    return this.#stages;
  }
}

async function playPasses(
  opened: OpenedEnv,
  line: PolicyLine,
  passes: number,
  rules: Omit<PassRules, "pass">,
): Promise<PassResult[]> {
  const results: PassResult[] = [];
  for (let pass = 0; pass < passes; pass++) results.push(await playPass(opened, line, { ...rules, pass }));
  return results;
}

/**
 * The episodes that the configuration pays for, rounded up to whole passes over all starts. Where the number of starts was asked for,
 * each is played once per rollout epoch.
 */
function wholePasses(
  section: { rollout_epoch: number; total_num_envs: number | null; starts_per_task?: unknown },
  starts: number,
): number {
  if (typeof section.starts_per_task === "number") return section.rollout_epoch;
  return Math.max(1, Math.ceil((section.rollout_epoch * (section.total_num_envs ?? 1)) / starts));
}

function inOrder(episodes: readonly EpisodeResult[]): EpisodeResult[] {
  return [...episodes].sort(
    (a, b) => a.pass - b.pass || a.task.localeCompare(b.task, "en") || a.trial - b.trial,
  );
}
