/** The home's experts play every stored start of every task by the real command, and one core's physics is timed. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assembleScene, drawScene, readBddl, restAction, SceneSimulation } from "#engine";
import { Mt19937 } from "#random";
import { openDemonstrations } from "#recordings";
import { findSuite, makeExpert, storedStart, suiteNames } from "#simulators";
import { Checks, type Proof } from "../proof.ts";
import { RunningCommand } from "../running-command.ts";

const starts = 50;
const leastSolved = 49; // 98 %
const leastSpeed = 2000; // control steps per second of one core

export const proof: Proof = {
  claim:
    "Each of the 40 tasks of the embedded behavior suites is solved by its scripted expert from at least 98 % of 50 stored starts.",
  goal: `at least ${leastSolved} of ${starts} for each of 40 tasks; at least ${leastSpeed} control steps per CPU second`,
  minutes: 8,
  async run(say) {
    const checks = new Checks(say);
    const folder = mkdtempSync(join(tmpdir(), "reverie-experts-"));
    try {
      let solved = 0;
      for (const suite of suiteNames(2)) solved += await collect(suite, join(folder, suite), checks);
      checkRest(checks);
      const speed = measureSpeed();
      checks.check(`${Math.round(speed)} control steps per CPU second without pictures`, speed >= leastSpeed);
      const { ok, figure } = checks.outcome();
      const all = suiteNames(2).reduce((sum, suite) => sum + findSuite(suite).tasks.length, 0) * starts;
      return { ok, figure: `${figure}; ${solved} of ${all} starts solved, ${Math.round(speed)} steps/s` };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** Answers how many starts were solved; every task is a check. */
async function collect(suite: string, out: string, checks: Checks): Promise<number> {
  const { by, text } = await RunningCommand.reverie(
    ...["collect", suite, "--out", out, "--episodes", String(starts), "--starts", "stored"],
    ...["--noise", "0", "--size", "16"],
  ).ended;
  if (by !== 0) throw new Error(`reverie collect ${suite} failed: ${text.slice(-1000)}`);
  const { info, episodes } = openDemonstrations(out);
  for (const [task, sentence] of info.tasks.entries()) {
    const own = episodes.filter((episode) => episode.task === task && episode.succeeded);
    const lengths = own.map(({ length }) => length).sort((a, b) => a - b);
    const middle = lengths[Math.floor(lengths.length / 2)];
    const figure = `${own.length} of ${starts}, median ${middle} steps`;
    checks.check(`${suite}: ${sentence}: ${figure}`, own.length >= leastSolved);
  }
  return episodes.filter(({ succeeded }) => succeeded).length;
}

/** Nothing solves itself: the first stored start of each task, left alone for 300 steps. */
function checkRest(checks: Checks): void {
  const moved = suiteNames(2).flatMap((name) => {
    const suite = findSuite(name);
    return suite.tasks.flatMap(({ bddl, language }, task) => {
      const scene = assembleScene(suite.pack, readBddl(suite.pack.resolve(bddl)));
      using world = new SceneSimulation(scene, SceneSimulation.compile(scene));
      drawScene(world, new Mt19937(0));
      world.setState(storedStart(suite, task, 0));
      const rest = restAction(suite.pack, -1);
      const solved = Array.from({ length: 300 }, () => world.step(rest)).includes(true);
      return solved ? [language] : [];
    });
  });
  checks.check("no start solves its task in 300 steps of rest", moved.length === 0, moved.join("; "));
}

/** Physics, control and the goal's predicates, over the actions of experts; steps per second of CPU time. */
function measureSpeed(): number {
  let [steps, microseconds] = [0, 0];
  for (const name of suiteNames(2)) {
    const suite = findSuite(name);
    for (const task of [0, 4, 9]) {
      const scene = assembleScene(suite.pack, readBddl(suite.pack.resolve(suite.tasks[task]!.bddl)));
      using world = new SceneSimulation(scene, SceneSimulation.compile(scene));
      const expert = makeExpert(world);
      const begin = () => {
        drawScene(world, new Mt19937(0));
        world.setState(storedStart(suite, task, 0));
      };
      begin();
      const actions = Array.from({ length: 60 }, () => {
        const action = expert.act();
        world.step(action);
        return action;
      });
      for (let round = 0; round < 8; round++) {
        begin();
        const before = process.cpuUsage();
        for (const action of actions) world.step(action);
        const { user, system } = process.cpuUsage(before);
        if (round < 2) continue; // the compiler's
        microseconds += user + system;
        steps += actions.length;
      }
    }
  }
  return steps / (microseconds / 1e6);
}
