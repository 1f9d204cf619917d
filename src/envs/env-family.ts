/**
 * What a kind of environment is: how its section of a configuration looks, and how it is opened.
 *
 * What the loop around an env needs beyond playing is the same for all: how actions are read, where its random streams and episodes
 * stand (for checkpoints), and, for benchmarks with stored starts, which start each slot plays (for evaluation).
 */
import type { z } from "zod";
import type { ActionSpec } from "#data";
import type { FamilySettings, Launcher } from "#registry";
import type { ChunkWatcher, FilmView } from "#simulators";
import type { Device, DType, Tensor } from "#tensor";
import type { VectorEnv } from "./env.ts";
import type { Imagination } from "./imagination.ts";

/** A configuration's `env.train` or `env.eval`, checked: the keys that all envs share (docs/configs.md), and the family's own. */
export type EnvSection<S extends z.ZodType = z.ZodType> = z.infer<S> &
  Readonly<Record<string, unknown>> & {
    readonly env_type: string;
    readonly seed?: number;
    readonly group_size?: number;
    readonly max_episode_steps?: number;
    readonly auto_reset?: boolean;
    readonly ignore_terminations?: boolean;
    readonly is_eval?: boolean;
  };

export interface EnvPlace {
  /** Slots of this env, and where they stand among all of the run. */
  readonly size: number;
  readonly firstSlot: number;
  readonly slots: number;
  /** Added to the section's own seed. */
  readonly seedOffset: number;
  readonly device: Device;
  readonly dtype?: DType;
  /** Starts workers, for envs that simulate in several. */
  readonly launcher?: Launcher | undefined;
  readonly say?: ((line: string) => void) | undefined;
  readonly watcher?: ChunkWatcher | undefined;
  /** How a simulator draws what the watcher films; absent: as the policy sees it. */
  readonly film?: FilmView | undefined;
}

/** Where an env stands: plain JSON, and tensors by name. */
export interface EnvCursor {
  readonly plain: unknown;
  readonly tensors: ReadonlyMap<string, Tensor>;
}

/** The starts of a benchmark, stored or fresh, each played once per evaluation. */
export interface StartPool {
  readonly tasks: readonly string[];
  /** How many there are in all. */
  readonly starts: number;
  /** Of each task, by its number; 0 for those that are not played. */
  readonly trials: readonly number[];
  restart(): void;
  /** What a slot plays; undefined when it rests because all starts are dealt. */
  startOf(slot: number): { readonly task: number; readonly trial: number } | undefined;
}

export interface OpenedEnv {
  readonly env: VectorEnv;
  readonly pool?: StartPool | undefined;
  /** `running`: also the episodes that are under way. */
  save(running: boolean): EnvCursor;
  load(cursor: EnvCursor): Promise<void>;
  offload?(): void;
  onload?(device: Device): void;
  /** For imagined envs: what imagines and what judges, for those who measure them. They stay the env's. */
  imagination?(): Pick<Imagination, "world" | "rewardModel">;
  /** For imagined envs: the episodes to come are imagined and judged by what the changed section names. */
  replaceWorld?(section: EnvSection): Promise<void>;
}

/** One whose section is understood, but that nobody can open here, has no `open`. */
export interface EnvFamily<S extends z.ZodType = z.ZodType> extends FamilySettings {
  readonly settings: S;
  /** How an action is read; goes with `open`. */
  actions?(section: EnvSection<S>): ActionSpec;
  /** The sentences that a policy will be told, where they are known before the env is opened. */
  sentences?(section: EnvSection<S>): Promise<readonly string[]>;
  /** Loads what it needs itself, so that a configuration is checked without a simulator. */
  open?(section: EnvSection<S>, place: EnvPlace): Promise<OpenedEnv>;
}

/** A family that can be played. */
export type PlayableEnv<S extends z.ZodType = z.ZodType> = EnvFamily<S> &
  Required<Pick<EnvFamily<S>, "actions" | "open">>;

/** Gives a family its types: `open` gets what `settings` parses. */
export const defineEnv = <S extends z.ZodType>(family: PlayableEnv<S>): PlayableEnv<S> => family;
