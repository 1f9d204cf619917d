/**
 * Which seeds draw which scenes: the one place where they are dealt, so that what is trained on is never what is evaluated on.
 *
 * Every scene is drawn by the same samplers from a 32-bit seed of MT19937, so two purposes that share a seed share a scene.
 * Each purpose has a range of its own. Within a range, a collection (the `--seed` that a user gives) has a block of seeds.
 *
 * | purpose        | who draws from it                                                                | trains a policy or world |
 * | -------------- | -------------------------------------------------------------------------------- | ------------------------ |
 * | stored         | stored starts of the tabletop and the home (`scripts/make-stored-starts.ts`); RL in simulators begins from them | yes   |
 * | demonstrations | `reverie collect`                                                                | yes                      |
 * | recordings     | `reverie world collect`, rounds of co-evolution: what worlds and judges learn from, and where dreams begin | yes |
 * | exams          | `reverie world evaluate` in the simulator, exams of co-evolution, `world collect --set purpose=exam` | no   |
 * | fresh          | `reverie eval --starts fresh`, the second evaluation of `npm start`              | no                       |
 *
 * LIBERO's stored starts come from its own files. Its other scenes are drawn from the same ranges by its own placement sampler.
 *
 * Until 2026-11-16 demonstrations and recordings both used `seed × 1,000,000 + episode`, which with seed 0 meets the stored
 * starts. `fresh` lies above all that those could reach, so that it is new to older checkpoints too.
 */
import { UserError } from "#registry";
import type { Suite } from "../suites.ts";
import { isMirrored } from "../tabletop/suites.ts";

export type StartPurpose = "stored" | "demonstrations" | "recordings" | "exams" | "fresh";

interface SeedRange {
  readonly first: number;
  /** How many collections there are, numbered from 0. */
  readonly collections: number;
  /** Seeds of one collection. */
  readonly size: number;
}

export const seedRanges: Readonly<Record<StartPurpose, SeedRange>> = {
  stored: { first: 0, collections: 1, size: 1_000_000 },
  demonstrations: { first: 1_000_000, collections: 4001, size: 250_000 },
  recordings: { first: 1_100_000_000, collections: 4001, size: 250_000 },
  exams: { first: 2_200_000_000, collections: 4001, size: 250_000 },
  fresh: { first: 4_100_000_000, collections: 900, size: 200_000 },
};

/** Fresh starts of one task that a collection has room for. */
export const freshStartsPerTask = 1000;
const storedStartsPerTask = 1000;

/** The seed of one scene. */
export function startSeed(purpose: StartPurpose, collection: number, index: number): number {
  const { first, collections, size } = seedRanges[purpose];
  if (!Number.isInteger(collection) || collection < 0 || collection >= collections)
    throw new UserError(
      `seed ${collection}: ${purpose} have seeds from 0 to ${collections - 1}; each draws scenes that no other command draws`,
    );
  if (!Number.isInteger(index) || index < 0 || index >= size)
    throw new UserError(
      `a seed has room for ${size} scenes, not for one with number ${index}: use several seeds`,
    );
  return first + collection * size + index;
}

/** The number that a pack's first task has among those with stored starts of ours. Never changes: they are in the repository. */
export const firstStoredTask: Readonly<Record<string, number>> = { tabletop: 0, home: 100 };

/** Of start `start` of task `task`, counted over all suites of its pack from `firstStoredTask` on. */
export const storedStartSeed = (task: number, start: number): number =>
  startSeed("stored", 0, storedStartsPerTask * (task + 1) + start);

/** Which stored start of its task a drawn scene is: that of demonstrations made before the ranges were divided may be one. */
export function storedStartOf({ pack, tasks }: Suite, task: number, seed: number): number | undefined {
  const entry = tasks[task];
  if (!entry || pack.name !== "tabletop" || isMirrored(entry.name)) return undefined; // mirrored ones are drawn otherwise
  const index = Object.values(pack.suites)
    .flat()
    .findIndex(({ name }) => name === entry.name);
  const start = seed - storedStartSeed(index, 0);
  return start >= 0 && start < pack.readInitStates(entry).count ? start : undefined;
}

/** Of a fresh start of a suite's task. It does not depend on how many are played. */
export function freshStartSeed(collection: number, task: number, trial: number): number {
  if (trial >= freshStartsPerTask)
    throw new UserError(`a task has ${freshStartsPerTask} fresh starts for each seed: use several seeds`);
  return startSeed("fresh", collection, task * freshStartsPerTask + trial);
}

/** Whose a seed is; undefined for one that no purpose has. */
export function purposeOf(seed: number): StartPurpose | undefined {
  const names = Object.keys(seedRanges) as StartPurpose[];
  return names.find((name) => {
    const { first, collections, size } = seedRanges[name];
    return seed >= first && seed < first + collections * size;
  });
}

/** Which scene of its collection a seed draws: the inverse of `startSeed`. */
export function indexOfSeed(seed: number): number {
  const purpose = purposeOf(seed);
  if (!purpose) throw new Error(`internal: no purpose has the seed ${seed}`);
  const { first, size } = seedRanges[purpose];
  return (seed - first) % size;
}

/** How `--starts` and `env.eval.starts` name them: `stored`, `fresh` (seed 0) or `fresh:SEED`. */
export interface ChosenStarts {
  readonly kind: "stored" | "fresh";
  /** The collection of fresh ones. */
  readonly seed: number;
}

export const startsPattern = /^(stored|fresh(:\d+)?)$/;

export function readStarts(text: string): ChosenStarts {
  if (!startsPattern.test(text))
    throw new UserError(`starts are "stored", "fresh" or "fresh:SEED" (such as fresh:1), not "${text}"`);
  const [kind, seed = "0"] = text.split(":");
  if (kind === "stored") return { kind: "stored", seed: 0 };
  startSeed("fresh", Number(seed), 0); // refuses a seed that there is not
  return { kind: "fresh", seed: Number(seed) };
}
