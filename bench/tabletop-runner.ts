/**
 * One process of the tabletop bench: a suite's tasks by their experts, with a picture after every eight steps, for the
 * asked seconds; answers how much it did.
 */
import { findSuite } from "../src/simulators/suites.ts";
import { openTask } from "./tabletop-task.ts";

export interface Runner {
  readonly suite: string;
  readonly seconds: number;
  readonly pictureSize: number;
}

export interface Throughput {
  readonly steps: number;
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
}

function measure({ suite, seconds, pictureSize }: Runner): Throughput {
  const tasks = findSuite(suite).tasks.map((_, index) => openTask(suite, index, pictureSize));
  const runAll = (start: number): number =>
    tasks.reduce((sum, task) => sum + task.run(start % task.starts).steps, 0);
  runAll(0); // everything compiled and touched
  const [began, cpu] = [performance.now(), process.cpuUsage()];
  let steps = 0;
  for (let start = 1; performance.now() - began < 1000 * seconds; start++) steps += runAll(start);
  const { user, system } = process.cpuUsage(cpu);
  return { steps, wallSeconds: (performance.now() - began) / 1000, cpuSeconds: (user + system) / 1e6 };
}

process.on("message", (runner: Runner) => {
  process.send?.(measure(runner), () => process.disconnect());
});
