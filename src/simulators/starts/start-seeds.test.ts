import assert from "node:assert/strict";
import { test } from "node:test";
import { planEpisodes as planDemonstrations } from "../../cli/collect/collect.ts";
import { collectSettingsSchema } from "../../recordings/demonstrations/collect-settings.ts";
import { recordingSettings } from "../../recordings/footage/recording-settings.ts";
import { planEpisodes as planRecordings } from "../../world-training/recording/recording.ts";
import { examJob } from "../../world-training/truth/truth-source.ts";
import { findSuite } from "../suites.ts";
import {
  freshStartSeed,
  freshStartsPerTask,
  indexOfSeed,
  purposeOf,
  readStarts,
  type StartPurpose,
  seedRanges,
  startSeed,
  storedStartOf,
  storedStartSeed,
} from "./start-seeds.ts";

const suites = ["tabletop_spatial", "tabletop_object", "tabletop_goal", "tabletop_long"];

test("no two ranges of seeds meet, and all of them fit into 32 bits", () => {
  const ranges = Object.values(seedRanges)
    .map(({ first, collections, size }) => ({ first, end: first + collections * size }))
    .sort((a, b) => a.first - b.first);
  for (const [i, { end }] of ranges.entries()) assert.ok(end <= (ranges[i + 1]?.first ?? 2 ** 32), `${end}`);
});

test("demonstrations of any seed hold no stored start of any suite", () => {
  for (const suite of suites) {
    const { tasks } = findSuite(suite);
    for (const seed of [0, 4000]) {
      const settings = collectSettingsSchema.parse({ suite, seed });
      const jobs = planDemonstrations({ settings, tasks: [...tasks.keys()], episodesPerTask: 700 });
      const stored = jobs.filter((job) => storedStartOf(findSuite(suite), job.task, job.seed) !== undefined);
      assert.deepEqual(stored, [], `${suite}, seed ${seed}`);
    }
  }
});

/** The seeds that each command draws with, for many of the seeds that a user may give. */
function everySeed(): Map<StartPurpose, Set<number>> {
  const drawn = new Map<StartPurpose, Set<number>>();
  const draw = (purpose: StartPurpose, seeds: readonly number[]): void => {
    const all = drawn.get(purpose) ?? new Set();
    for (const seed of seeds) all.add(seed);
    drawn.set(purpose, all);
  };
  const suite = "tabletop_object";
  const seedOf = ({ seed }: { readonly seed: number }): number => seed;
  draw(
    "stored",
    Array.from({ length: 26 * 50 }, (_, i) => storedStartSeed(Math.floor(i / 50), i % 50)),
  );
  for (const seed of [0, 1, 2, 11, 999, 1000, 3999, 4000]) {
    const settings = collectSettingsSchema.parse({ suite, seed });
    draw(
      "demonstrations",
      planDemonstrations({ settings, tasks: [0, 1], episodesPerTask: 3000 }).map(seedOf),
    );
    for (const purpose of ["recordings", "exams"] as const)
      draw(purpose, planRecordings(recordingSettings.parse({ suite, seed, purpose }), 6000).map(seedOf));
    draw(
      "exams",
      Array.from({ length: 6000 }, (_, i) => examJob(6, seed, i).seed),
    );
    if (seed < seedRanges.fresh.collections)
      draw(
        "fresh",
        Array.from({ length: 6 * freshStartsPerTask }, (_, i) =>
          freshStartSeed(seed, i % 6, Math.floor(i / 6)),
        ),
      );
  }
  return drawn;
}

test("stored starts, demonstrations, recordings, exams and fresh starts have no scene in common", () => {
  const owner = new Map<number, StartPurpose>();
  for (const [purpose, seeds] of everySeed()) {
    for (const seed of seeds) {
      assert.equal(owner.get(seed), undefined, `seed ${seed} of ${purpose}`);
      assert.equal(purposeOf(seed), purpose);
      owner.set(seed, purpose);
    }
  }
  assert.ok(owner.size > 100_000);
});

test("fresh starts lie above every seed that earlier versions drew with", () => {
  const oldest = 4000 * 1_000_000 + 999_999; // seed × 1,000,000 + episode, seeds up to 4000
  assert.ok(seedRanges.fresh.first > oldest);
});

test("a seed knows its place in its collection", () => {
  assert.equal(indexOfSeed(startSeed("recordings", 3, 1234)), 1234);
  assert.equal(indexOfSeed(startSeed("exams", 0, 0)), 0);
});

test("a seed without room is refused with the number that there is", () => {
  assert.throws(() => startSeed("recordings", 4001, 0), /recordings have seeds from 0 to 4000/);
  assert.throws(() => startSeed("exams", 0, 250_000), /room for 250000 scenes/);
  assert.throws(() => freshStartSeed(0, 0, 1000), /1000 fresh starts/);
});

test("starts are named stored, fresh or fresh:SEED, and nothing else", () => {
  assert.deepEqual(readStarts("stored"), { kind: "stored", seed: 0 });
  assert.deepEqual(readStarts("fresh"), { kind: "fresh", seed: 0 });
  assert.deepEqual(readStarts("fresh:7"), { kind: "fresh", seed: 7 });
  for (const text of ["new", "fresh:", "fresh:-1", "fresh:1.5", "stored:1"])
    assert.throws(() => readStarts(text), /"stored", "fresh" or "fresh:SEED"/, text);
  assert.throws(() => readStarts("fresh:900"), /seeds from 0 to 899/);
});

test("the stored starts of the repository are those of their seeds", async () => {
  const { drawStart } = await import("../tabletop/make-starts.ts");
  const { assembleScene, readBddl, SceneSimulation } = await import("#engine");
  const { Mt19937 } = await import("#random");
  const { pack, tasks } = findSuite("tabletop_object");
  const entry = tasks[2]!;
  const scene = assembleScene(pack, readBddl(pack.resolve(entry.bddl)));
  using world = new SceneSimulation(scene, SceneSimulation.compile(scene));
  const index = Object.values(pack.suites).flat().indexOf(entry);
  const { data, width } = pack.readInitStates(entry);
  for (const start of [0, 49]) {
    const drawn = drawStart(world, new Mt19937(storedStartSeed(index, start)), false);
    const stored = data.subarray(start * width + 1, start * width + 1 + drawn.length);
    assert.deepEqual([...Float32Array.from(drawn)], [...stored]);
  }
});
