/**
 * `npm run bench -- tabletop`: are all tasks solvable, and how fast do they run on this machine's cores?
 *
 * Every task is tried by its expert from all 50 stored starts. Throughput is of whole episodes, resets and settling
 * included, in as many processes as there are cores (at most two), without pictures and with one per chunk of eight.
 */
import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { findSuite, suiteNames } from "../src/simulators/suites.ts";
import { type BenchRow, holds } from "./row.ts";
import type { Runner, Throughput } from "./tabletop-runner.ts";
import { openTask } from "./tabletop-task.ts";

const suites = suiteNames().filter((name) => name.startsWith("tabletop_"));
const seconds = 6;
const requiredShare = 0.95;

export async function bench(): Promise<BenchRow[]> {
  const rows = suites.flatMap(solvability);
  for (const pictureSize of [0, 64, 128]) rows.push(...(await throughput("tabletop_object", pictureSize)));
  return rows;
}

function solvability(suite: string): BenchRow[] {
  const tasks = findSuite(suite).tasks.map((_, index) => openTask(suite, index));
  const shares = tasks.map((task) => {
    const results = Array.from({ length: task.starts }, (_, start) => task.run(start));
    return results.filter(({ success }) => success).length / task.starts;
  });
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  const hard = shares.filter((share) => share < requiredShare).length;
  return [
    plain(`${suite}: solved by the expert`, "share of starts", mean),
    holds(`${suite}: tasks solved from less than 95 % of their starts`, hard, "tasks"),
  ];
}

async function throughput(suite: string, pictureSize: number): Promise<BenchRow[]> {
  const processes = Math.min(2, availableParallelism());
  const runs = await Promise.all(
    Array.from({ length: processes }, () => runProcess({ suite, seconds, pictureSize })),
  );
  const sum = (rate: (run: Throughput) => number) => runs.reduce((total, run) => total + rate(run), 0);
  const how = pictureSize > 0 ? `one ${pictureSize} px picture per 8 steps` : "no pictures";
  return [
    plain(
      `${suite}, ${how}, ${processes} processes`,
      "control steps/s",
      sum((run) => run.steps / run.wallSeconds),
    ),
    plain(
      `${suite}, ${how}, per core`,
      "control steps/CPU-s",
      sum((run) => run.steps / run.cpuSeconds) / processes,
    ),
  ];
}

function runProcess(runner: Runner): Promise<Throughput> {
  const program = fileURLToPath(new URL("./tabletop-runner.ts", import.meta.url));
  const child = fork(program, { execArgv: ["--import", import.meta.resolve("tsx")] });
  return new Promise((resolve, reject) => {
    child.once("message", (answer) => resolve(answer as Throughput));
    child.once("exit", (code) => reject(new Error(`a bench process ended with code ${code}`)));
    child.send(runner);
  });
}

const plain = (name: string, unit: string, ours: number): BenchRow => ({
  name,
  unit,
  ours,
  reference: null,
  limit: null,
  ratio: null,
  goal: null,
  ok: null,
});
