/**
 * World and policy learn in turns: every so many training steps the policy plays in the simulator, and the world in which it is trained
 * learns from what happened there, is measured, and is kept or rolled back.
 *
 * VLAW (https://arxiv.org/abs/2602.12063) and WMPO (https://arxiv.org/abs/2511.09515) report that their gains rest on this; the seeds leave
 * it to the user. Here a round is part of a training step: it blocks the run, so that what follows is imagined by one world throughout, and
 * the version of the world is part of every checkpoint. A failed round is reported and leaves the world as it is.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { CheckedConfig, EnvironmentConfig } from "#config";
import { withWorldFolder, worldFolder } from "#envs";
import type { Metrics } from "#metrics";
import { refreshSeed } from "#random";
import { infoPath, openDemonstrations } from "#recordings";
import { UserError, WorkerLost } from "#registry";
import { openRewardModel, type RefreshSettings, refreshSettings, trainingOfWorld } from "#world-training";
import { deviceOf } from "../assemble.ts";
import type { Crew, Progress } from "../crew.ts";
import { asPlayed, measuredTogether } from "./closed-loop.ts";
import { examFolder, playedFolder, playRound } from "./play-round.ts";
import {
  type RefreshAnswer,
  type RefreshOrder,
  type RefreshProgress,
  refreshApart,
} from "./refresh-order.ts";
import { appendRound, cutRounds, type Round, roundMetrics } from "./rounds.ts";
import { WorldVersions } from "./world-versions.ts";

export class CoEvolution {
  /** The configuration, with the run's own copy of the world in `env.train`. */
  readonly checked: CheckedConfig;
  readonly #given: CheckedConfig;
  readonly #root: string;
  readonly #versions: WorldVersions;
  readonly #say: (line: string) => void;
  readonly #size: number;
  #version: number;

  /** Undefined where the configuration does not ask for it. `from`: steps done and version of a checkpoint. */
  static async open(
    given: CheckedConfig,
    say: (line: string) => void,
    from: { readonly step: number; readonly version: number } = { step: 0, version: 0 },
  ): Promise<CoEvolution | undefined> {
    const { enabled, episodes } = given.config.runner.co_evolution;
    if (!enabled) return undefined;
    const world = folderOf(given.config.env.train);
    if (episodes > 0) {
      await trainingOfWorld(world); // refused before anything is recorded or learned
      openRewardModel(world, "cpu"); // one that lies elsewhere could not learn
    }
    return new CoEvolution(given, world, say, from);
  }

  private constructor(
    given: CheckedConfig,
    world: string,
    say: (line: string) => void,
    from: { readonly step: number; readonly version: number },
  ) {
    const { logger } = given.config.runner;
    this.#given = given;
    this.#say = say;
    this.#root = join(logger.log_path, logger.experiment_name, "co-evolution");
    this.#size = pictureSize(given);
    this.#versions = new WorldVersions(join(this.#root, "worlds"));
    this.#versions.begin(world);
    this.#versions.require(from.version);
    this.#version = from.version;
    this.checked = withTrain(given, this.#section());
  }

  /** Forgets the rounds after this step: they are done again. */
  goOnFrom(step: number): void {
    cutRounds(this.#roundsFile, step);
  }

  /** The training step after which the present world took over. */
  get version(): number {
    return this.#version;
  }

  /** A round after the given step, where one is due. After the last step there is nothing left to learn for: the world is only measured. */
  due(step: number, isLast: boolean): "learn" | "measure" | undefined {
    const { interval, episodes } = this.#given.config.runner.co_evolution;
    if (isLast) return "measure";
    if (step % interval !== 0) return undefined;
    return episodes > 0 ? "learn" : "measure";
  }

  /** `signal` gives the round up: the world stays as it is, and nothing is noted. */
  async round(
    step: number,
    what: "learn" | "measure",
    crew: Crew,
    onProgress: Progress,
    signal?: AbortSignal,
  ): Promise<Metrics> {
    const began = performance.now();
    const result = await this.#attempt(step, what, crew, onProgress, signal);
    signal?.throwIfAborted();
    const round: Round = {
      step,
      seconds: (performance.now() - began) / 1000,
      ...result,
      world: this.#version,
    };
    appendRound(this.#roundsFile, round);
    this.#say(`co-evolution after step ${step}: ${round.outcome} (${round.reason})`);
    return roundMetrics(round);
  }

  async #attempt(
    step: number,
    what: "learn" | "measure",
    crew: Crew,
    onProgress: Progress,
    signal: AbortSignal | undefined,
  ): Promise<Omit<Round, "step" | "seconds" | "world">> {
    try {
      const answer = await this.#play(step, what, crew, onProgress, signal);
      signal?.throwIfAborted();
      if (answer.accepted) await this.#adopt(step, crew);
      else this.#versions.refuse();
      const { accepted, ...rest } = answer;
      const outcome = what === "measure" ? "measured" : accepted ? "refreshed" : "rolled back";
      return { outcome, ...rest };
    } catch (error) {
      this.#versions.refuse();
      return { outcome: "failed", reason: error instanceof Error ? error.message : String(error) };
    }
  }

  async #play(
    step: number,
    what: "learn" | "measure",
    crew: Crew,
    onProgress: Progress,
    signal: AbortSignal | undefined,
  ): Promise<RefreshAnswer> {
    const { config } = this.#given;
    const { co_evolution: wishes } = config.runner;
    const folder = this.#roundFolder(step);
    await crew.makeWhole();
    await playRound({
      config,
      policy: crew.actors.first.policy,
      step,
      folder,
      size: this.#size,
      episodes: what === "learn" ? wishes.episodes : 0,
      ...(wishes.acted_in === "dream" && {
        dream: { world: this.#versions.folder(this.#version), device: deviceOf(this.#given, "env", 0) },
      }),
      onProgress,
      signal,
    });
    const order: RefreshOrder = {
      world: this.#versions.folder(this.#version),
      candidate: what === "learn" ? this.#versions.candidate : undefined,
      old: wishes.data,
      oldEpisodes: wishes.old_episodes ?? undefined,
      fresh: this.#playedUpTo(step),
      exam: examFolder(folder),
      section: this.#section(),
      device: deviceOf(this.#given, "env", 0),
      settings: this.#settings(step),
    };
    return this.#refresh(order, onProgress, signal);
  }

  /** Capturing CUDA graphs is the fast way; should it fail on this machine, the plain way still refreshes the world. */
  async #refresh(order: RefreshOrder, onProgress: Progress, signal?: AbortSignal): Promise<RefreshAnswer> {
    const told = ({ done, total }: RefreshProgress): void => onProgress(done, total);
    const captures = order.device !== "cpu" && order.settings.cuda_graph;
    try {
      return await refreshApart(order, told, signal);
    } catch (error) {
      const hung = error instanceof WorkerLost && error.hung;
      if (!captures || hung || error instanceof UserError || signal?.aborted) throw error;
      this.#say(`the refresh failed and is tried once more without CUDA graphs: ${firstLine(error)}`);
      return refreshApart({ ...order, settings: { ...order.settings, cuda_graph: false } }, told, signal);
    }
  }

  async #adopt(step: number, crew: Crew): Promise<void> {
    this.#versions.adopt(step);
    this.#version = step;
    await crew.replaceWorld(this.#section());
  }

  /** Learns as the configuration says; is measured as the envs imagine and judge. */
  #settings(step: number): RefreshSettings {
    const { config } = this.#given;
    const { refresh, exam_episodes: episodes } = config.runner.co_evolution;
    const { chunks, threshold, holdFrames } = asPlayed(config);
    return refreshSettings.parse({
      ...refresh,
      episodes,
      chunks,
      batch: measuredTogether,
      threshold,
      hold_frames: holdFrames,
      seed: refreshSeed(config.runner.seed, step),
    });
  }

  #section(): EnvironmentConfig {
    const { train } = this.#given.config.env;
    return withWorldFolder(train, folderOf(train), this.#versions.folder(this.#version));
  }

  get #roundsFile(): string {
    return join(this.#root, "rounds.jsonl");
  }

  #roundFolder(step: number): string {
    return join(this.#root, "rounds", `step_${step}`);
  }

  /** All recordings of rounds up to this step; one that failed while it played left none. */
  #playedUpTo(step: number): string[] {
    const { interval } = this.#given.config.runner.co_evolution;
    const steps = Array.from({ length: Math.floor(step / interval) }, (_, i) => (i + 1) * interval);
    return steps
      .map((each) => playedFolder(this.#roundFolder(each)))
      .filter((folder) => existsSync(infoPath(folder)));
  }
}

const firstLine = (error: unknown): string => String(error).split("\n")[0] ?? "";

function folderOf(section: EnvironmentConfig): string {
  const folder = worldFolder(section);
  if (folder !== undefined) return folder;
  throw new UserError("runner.co_evolution: env.train names no folder of a world that could be copied");
}

const withTrain = (checked: CheckedConfig, train: EnvironmentConfig): CheckedConfig => ({
  ...checked,
  config: { ...checked.config, env: { ...checked.config.env, train } },
});

/** New recordings must fit the old ones; where there are none, env.eval's camera decides. Reads the old ones, so that mistakes are told early. */
function pictureSize({ config }: CheckedConfig): number {
  const [first] = config.runner.co_evolution.data.map((folder) => openDemonstrations(folder).info);
  const camera = config.env.eval?.init_params as { camera_heights?: number } | undefined;
  if (first && first.suite !== config.env.eval?.task_suite_name)
    throw new UserError(
      `runner.co_evolution.data holds episodes of ${first.suite}, and env.eval is ${String(config.env.eval?.task_suite_name)}`,
    );
  return first?.width ?? camera?.camera_heights ?? 256;
}
