/**
 * Opens the environment that a configuration's `env.train` or `env.eval` describes, found by `env_type` and loaded only when asked for.
 *
 * What the loop around an env needs beyond playing is the same for all: how actions are read, where its random streams and episodes
 * stand (for checkpoints), and, for benchmarks with stored starts, which start each slot plays (for evaluation).
 */
import { Registry, UserError } from "#registry";
import type { ChunkWatcher, FilmView } from "#simulators";
import type { Device, DType, Tensor } from "#tensor";
import type { VectorEnv } from "./env.ts";
import type { Imagination } from "./learned/release.ts";

type Section = Readonly<Record<string, unknown>> & { readonly env_type: string };

export interface EnvPlace {
  /** Slots of this env, and where they stand among all of the run. */
  readonly size: number;
  readonly firstSlot: number;
  readonly slots: number;
  /** Added to the section's own seed. */
  readonly seedOffset: number;
  readonly device: Device;
  readonly dtype?: DType;
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
  imagination?(): Pick<Imagination, "world" | "judge">;
  /** For imagined envs: the episodes to come are imagined and judged by what the changed section names. */
  replaceWorld?(section: Section): Promise<void>;
}

export interface EnvFamily {
  readonly actions: {
    readonly size: number;
    readonly gripper: "minus_one_opens" | "plus_one_opens" | "as_is";
  };
  /** The sentences that a policy will be told, where they are known before the env is opened. */
  sentences?(section: Section): Promise<readonly string[]>;
  open(section: Section, place: EnvPlace): Promise<OpenedEnv>;
}

const robosuiteActions = { size: 7, gripper: "minus_one_opens" } as const;
const learned = async (): Promise<EnvFamily> => ({
  actions: robosuiteActions, // that of the simulator which the worlds imitate
  open: async (section, place) => (await import("./learned/opened.ts")).openImagined(section, place),
});

export const environments = new Registry<EnvFamily>("environment (env_type)", {
  libero: async () => ({
    actions: robosuiteActions,
    sentences: async (section) => (await import("./vector/opened.ts")).sentencesOf(section),
    open: async (section, place) => (await import("./vector/opened.ts")).openSimulator(section, place),
  }),
  opensora_wm: learned,
  wan_wm: learned,
  evac_wm: learned,
});

/** The family of a section, or an error that says what this checkout can play. */
export async function environmentFamily(section: Section): Promise<EnvFamily> {
  if (environments.has(section.env_type)) return environments.get(section.env_type);
  throw new UserError(unplayableText(section.env_type));
}

/** Of an environment whose section of a configuration is understood, but that nobody opens. */
export const unplayableText = (type: string): string =>
  `env_type ${type} is validated (--dry-run) but cannot run yet: its simulator is not part of this system yet; ` +
  `what can run: ${environments.names().join(", ")}`;
