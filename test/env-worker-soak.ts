/**
 * `node --import tsx test/env-worker-soak.ts [--kills SECONDS] [suite…]`: evaluates whole suites while env workers are
 * killed at random, and compares every episode with an undisturbed run of the same seed.
 *
 * Each stored start must be played exactly once and end in the same state after the same number of actions. Without
 * suites: all that this machine has files for.
 */
import { parseArgs } from "node:util";
import { processLauncher } from "#cluster";
import { SimulatorEnv, simulatorEnvSettings } from "#envs";
import { findSuite, suiteNames } from "#simulators";
import { tensor } from "#tensor";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    kills: { type: "string", default: "0.3" },
    slots: { type: "string", default: "16" },
    workers: { type: "string", default: "2" },
    tasks: { type: "string" }, // only the first so many of each suite
  },
});
const tasksOf = (suite: string) =>
  findSuite(suite).tasks.slice(0, values.tasks === undefined ? undefined : Number(values.tasks));
const chunk = 4;
const steps = 8; // per episode: what is tested is the env around the physics
const size = Number(values.slots);

interface Outcome {
  readonly plays: number;
  readonly lastHash: string;
  readonly success: boolean;
}

/** Plays each start of the suite once; actions depend on the start and the step alone. */
async function evaluate(
  suite: string,
  meanSecondsBetweenKills: number,
): Promise<{ episodes: Map<string, Outcome>; losses: number }> {
  const episodes = new Map<string, Outcome>();
  const ends = new Map<number, Outcome & { key: string }>();
  const settings = simulatorEnvSettings.parse({
    task_suite_name: suite,
    max_episode_steps: steps,
    is_eval: true,
    task_id_filter: tasksOf(suite).map((_, task) => task),
    auto_reset: true,
    wrist_camera: false,
    settle_steps: 2,
    init_params: { camera_heights: 16, camera_widths: 16 },
    env_workers: Number(values.workers),
  });
  const close = (slot: number) => {
    const ended = ends.get(slot);
    if (!ended) return;
    episodes.set(ended.key, { ...ended, plays: (episodes.get(ended.key)?.plays ?? 0) + 1 });
    ends.delete(slot);
  };
  const env = new SimulatorEnv(size, settings, {
    launcher: processLauncher,
    watcher: {
      began: ({ slot, task, trial }) => {
        close(slot);
        ends.set(slot, { key: `${suite}/${task}/${trial}`, plays: 0, lastHash: "", success: false });
      },
      played: ({ slot, sight, account }) => {
        const ended = ends.get(slot)!;
        ends.set(slot, {
          ...ended,
          lastHash: `${account.elapsed}:${sight.hash}`,
          success: account.successOnce,
        });
      },
    },
  });
  const reaper = killAtRandom(env, meanSecondsBetweenKills);
  const played = Array<number>(size).fill(0);
  await env.reset();
  while (ends.size > 0) {
    const before = Array.from({ length: size }, (_, slot) => env.startOf(slot));
    const actions = before.flatMap((start, slot) =>
      motion(start?.task ?? 0, start?.trial ?? 0, played[slot]!),
    );
    await env.step(tensor(Float32Array.from(actions), { shape: [size, chunk, 7] }));
    for (let slot = 0; slot < size; slot++) {
      played[slot] = env.startOf(slot) === before[slot] ? played[slot]! + 1 : 0;
      if (!env.isPlaying(slot)) close(slot);
    }
  }
  reaper.stop();
  const { losses } = env.workers;
  await env.close();
  return { episodes, losses };
}

const motion = (task: number, trial: number, round: number): number[] =>
  Array.from({ length: chunk * 7 }, (_, i) =>
    Math.sin(1 + 12.9898 * (i + 1) + 78.233 * task + 37.719 * trial + round),
  );

function killAtRandom(env: SimulatorEnv, mean: number): { stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  const strike = () => {
    const { pids } = env.workers;
    const victim = pids[Math.floor(Math.random() * pids.length)];
    try {
      if (victim !== undefined) process.kill(victim, "SIGKILL");
    } catch {} // it died by itself meanwhile
    timer = setTimeout(strike, -Math.log(1 - Math.random()) * 1000 * mean);
  };
  if (mean > 0) timer = setTimeout(strike, 1000 * mean);
  return { stop: () => clearTimeout(timer) };
}

function hasFiles(suite: string): boolean {
  try {
    const { pack, tasks } = findSuite(suite);
    for (const task of tasks) pack.readInitStates(task);
    return true;
  } catch {
    return false;
  }
}

const suites = positionals.length > 0 ? positionals : suiteNames().filter(hasFiles);
let [episodes, faults, kills] = [0, 0, 0];
for (const suite of suites) {
  const calm = await evaluate(suite, 0);
  const stormy = await evaluate(suite, Number(values.kills));
  const { pack } = findSuite(suite);
  const expected = tasksOf(suite).reduce((sum, task) => sum + pack.readInitStates(task).count, 0);
  const keys = new Set([...calm.episodes.keys(), ...stormy.episodes.keys()]);
  const wrong = [...keys].filter((key) => {
    const [a, b] = [calm.episodes.get(key), stormy.episodes.get(key)];
    return !a || !b || a.plays !== 1 || b.plays !== 1 || a.lastHash !== b.lastHash || a.success !== b.success;
  });
  const missing = expected - stormy.episodes.size;
  console.log(
    `${suite}: ${stormy.episodes.size} episodes, ${stormy.losses} workers killed, ${wrong.length} differ, ${missing} missing`,
  );
  episodes += stormy.episodes.size;
  kills += stormy.losses;
  faults += wrong.length + Math.abs(missing);
}
console.log(`${episodes} episodes, ${kills} kills, ${faults} faults`);
if (faults > 0) process.exitCode = 1;
