/** The env on the tabletop suites: contract, groups, flags, evaluation, saved states, and workers that die. */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { processLauncher } from "#cluster";
import type { EnvStep } from "#data";
import { randn, scope, type Tensor, tensor } from "#tensor";
import { simulatorEnvSettings } from "./settings.ts";
import { SimulatorEnv, type SimulatorEnvParts } from "./simulator-env.ts";

const small = { camera_heights: 48, camera_widths: 64 };
const make = (size: number, changes: Record<string, unknown> = {}, parts: SimulatorEnvParts = {}) => {
  const settings = simulatorEnvSettings.parse({
    task_suite_name: "tabletop_spatial",
    max_episode_steps: 12,
    init_params: small,
    env_workers: 0,
    ...changes,
  });
  return new SimulatorEnv(size, settings, { launcher: processLauncher, ...parts });
};
/** The same small random motions for everybody who asks with the same number. */
const motions = (size: number, chunk: number, number: number): Tensor =>
  scope(() => {
    const values = Float32Array.from({ length: size * chunk * 7 }, (_, i) =>
      Math.sin(12.9898 * (i + 1) * (number + 1)),
    );
    return tensor(values, { shape: [size, chunk, 7] });
  });
const numbers = (value: Tensor): number[] => value.toArray().map(Number);

test("a reset shows every slot: pictures, eight numbers of the robot, the task's words", async () => {
  const env = make(2);
  const { mainImages, wristImages, states, taskDescriptions } = await env.reset();
  assert.deepEqual(mainImages.shape, [2, 48, 64, 3]);
  assert.equal(mainImages.dtype, "uint8");
  assert.deepEqual(wristImages?.shape, [2, 1, 48, 64, 3]);
  assert.deepEqual(states.shape, [2, 8]);
  const words = new Set(env.suite.tasks.map(({ language }) => language));
  assert.ok(taskDescriptions.every((sentence) => words.has(sentence)));
  const pixels = numbers(mainImages);
  assert.ok(Math.max(...pixels) - Math.min(...pixels) > 50, "there is something to see");
  await env.close();
});

test("slots of a group begin alike to the bit, and diverge when their actions do", async () => {
  const env = make(4, { group_size: 2 });
  const { states, mainImages } = await env.reset();
  assert.equal(env.resetIds[0], env.resetIds[1]);
  const row = (value: Tensor, i: number) => numbers(value.select(0, i));
  assert.deepEqual(row(states, 0), row(states, 1));
  assert.deepEqual(row(mainImages, 2), row(mainImages, 3));
  const { observation } = await env.step(motions(4, 4, 0));
  assert.notDeepEqual(row(observation.states, 0), row(observation.states, 1));
  await env.close();
});

test("time running out is flagged at its own action, and at the last one where slots reset themselves", async () => {
  const raw = make(1, { max_episode_steps: 6 });
  await raw.reset();
  await raw.step(motions(1, 4, 0));
  const step = await raw.step(motions(1, 4, 1));
  assert.deepEqual(numbers(step.truncated), [0, 1, 1, 1]);
  assert.equal(step.finalObservation, undefined);
  assert.deepEqual([...step.episode.episode_len!], [8]);
  await raw.close();
  const renewing = make(1, { max_episode_steps: 6, auto_reset: true });
  await renewing.reset();
  await renewing.step(motions(1, 4, 0));
  const last = await renewing.step(motions(1, 4, 1));
  assert.deepEqual(numbers(last.truncated), [0, 0, 0, 1]);
  assert.ok(last.finalObservation, "the sight before the reset is kept");
  assert.deepEqual([...last.episode.episode_len!], [8], "of the finished episode");
  const next = await renewing.step(motions(1, 4, 2));
  assert.deepEqual([...next.episode.episode_len!], [4], "a new clock");
  await renewing.close();
});

test("an evaluation plays each start once and then rests", async () => {
  const filter = { is_eval: true, auto_reset: true, task_id_filter: [0], max_episode_steps: 2 };
  const env = make(16, filter);
  env.restartEvaluation();
  await env.reset();
  let finished = 0;
  for (let i = 0; i < 5; i++) {
    const { truncated, terminated } = await env.step(motions(16, 2, i));
    finished += numbers(truncated.logicalOr(terminated)).reduce((sum, flag) => sum + flag, 0);
  }
  assert.equal(finished, 50);
  assert.equal(env.taskResults.get(0)?.total, 50);
  assert.equal(env.isPlaying(0), false);
  await env.close();
});

test("a saved env goes on elsewhere with the same bits", async () => {
  const first = make(2, { auto_reset: true, max_episode_steps: 10 });
  await first.reset();
  await first.step(motions(2, 4, 0));
  const saved = structuredClone(first.save());
  const second = make(2, { auto_reset: true, max_episode_steps: 10 });
  await second.load(saved);
  for (let i = 1; i < 5; i++) {
    const [a, b] = [await first.step(motions(2, 4, i)), await second.step(motions(2, 4, i))];
    assert.deepEqual(fingerprint(b), fingerprint(a), `step ${i}`);
  }
  await Promise.all([first.close(), second.close()]);
});

test("workers that are killed at any moment change nothing but the time it takes", async () => {
  const settings = { auto_reset: true, max_episode_steps: 8 };
  const calm = make(4, settings);
  const lines: string[] = [];
  const stormy = make(
    4,
    { ...settings, env_workers: 2, worker_timeout: 60 },
    { say: (line) => lines.push(line) },
  );
  assert.deepEqual(
    fingerprint({ observation: await stormy.reset() }),
    fingerprint({ observation: await calm.reset() }),
  );
  for (let i = 0; i < 6; i++) {
    const answer = stormy.step(motions(4, 4, i));
    const victim = stormy.workers.pids[i % 2]!;
    if (i % 2 === 0) setTimeout(() => process.kill(victim, "SIGKILL"), 3 * i);
    assert.deepEqual(fingerprint(await answer), fingerprint(await calm.step(motions(4, 4, i))), `step ${i}`);
  }
  assert.ok(stormy.workers.losses >= 2, `${stormy.workers.losses} losses`);
  assert.match(lines[0] ?? "", /the env worker .*SIGKILL; worker \d is replaced/);
  await Promise.all([calm.close(), stormy.close()]);
});

test("an env that is closed while its workers are busy starts no new ones", async () => {
  const env = make(2, { env_workers: 2, worker_timeout: 60 });
  await env.reset();
  const step = env.step(motions(2, 4, 0));
  const before = env.workers.pids;
  await env.close();
  await assert.rejects(step, /was closed|SIGKILL/);
  assert.deepEqual(env.workers.pids, before);
  assert.equal(env.workers.losses, 0);
});

/** Runs with worker processes that take so many seconds longer to start. */
async function withSlowStart<T>(seconds: number, body: () => Promise<T>): Promise<T> {
  const before = process.env.NODE_OPTIONS;
  const pause = `await new Promise((resume) => setTimeout(resume, ${1000 * seconds}))`;
  process.env.NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(pause)}`;
  try {
    return await body();
  } finally {
    if (before === undefined) delete process.env.NODE_OPTIONS;
    else process.env.NODE_OPTIONS = before;
  }
}

test("the time that a worker takes to start is not counted as silence", async () => {
  await withSlowStart(9, async () => {
    const slow = make(1, { env_workers: 1, worker_timeout: 8 });
    await slow.reset();
    assert.equal(slow.workers.losses, 0);
    await slow.close();
  });
});

test("a worker that never starts ends the run, and the message says what was waited for", async () => {
  await withSlowStart(60, async () => {
    const env = make(1, { env_workers: 1, worker_start_timeout: 0.3 });
    await assert.rejects(
      env.reset(),
      /the env worker \(process \d+\) did not start within 0\.3 s, 3 times in a row/,
    );
    await env.close();
  });
});

test("signals to the whole group are the run's business: workers live on, and leave no file in shared memory", async () => {
  const files = () =>
    readdirSync("/dev/shm").filter((name) => name.startsWith(`reverie-frames-${process.pid}-`));
  const env = make(1, { env_workers: 1, worker_timeout: 60 });
  assert.deepEqual(files(), []);
  await env.reset();
  for (const signal of ["SIGINT", "SIGHUP", "SIGTERM"] as const) process.kill(env.workers.pids[0]!, signal);
  await env.step(motions(1, 2, 0));
  await env.step(motions(1, 2, 1));
  assert.equal(env.workers.losses, 0);
  await env.close();
});

test("a worker that hangs past its time-out is replaced", async () => {
  const env = make(1, { env_workers: 1, worker_timeout: 8 });
  await env.reset();
  process.kill(env.workers.pids[0]!, "SIGSTOP");
  const { episode } = await env.step(motions(1, 2, 0));
  assert.deepEqual([...episode.episode_len!], [2]);
  assert.equal(env.workers.losses, 1);
  await env.close();
});

const wrong: [string, () => Tensor, RegExp][] = [
  ["of the wrong width", () => randn([1, 2, 6]), /\[1, 2, 6\]; this env takes \[1, C, 7\]/],
  ["for another number of slots", () => randn([3, 2, 7]), /this env takes \[1, C, 7\]/],
  ["without a chunk", () => randn([1, 7]), /this env takes/],
  [
    "with NaN",
    () => tensor([[[0, 0, 0, Number.NaN, 0, 0, 0]]]),
    /env 0, step 0 of the chunk, has NaN as number 3/,
  ],
];
for (const [what, actions, message] of wrong) {
  test(`actions ${what} are refused before anything moves`, async () => {
    const env = make(1);
    await env.reset();
    await assert.rejects(env.step(actions()), message);
    const { episode } = await env.step(motions(1, 1, 0));
    assert.deepEqual([...episode.episode_len!], [1]);
    await env.close();
  });
}

test("an unknown suite and an impossible group are refused by name", () => {
  assert.throws(
    () => make(1, { task_suite_name: "libero_space" }),
    /no suite named "libero_space"; there are: .*libero_spatial/,
  );
  assert.throws(() => make(3, { group_size: 2 }), /3 envs cannot be split into groups of 2/);
});

/** Everything in an answer, as comparable values. */
function fingerprint(step: Partial<EnvStep>): unknown {
  const { observation, rewards, terminated, truncated, episode, finalObservation } = step;
  const seen = [observation, finalObservation].map(
    (sight) => sight && [numbers(sight.states), numbers(sight.mainImages), sight.taskDescriptions],
  );
  return [seen, [rewards, terminated, truncated].map((value) => value && numbers(value)), episode];
}
