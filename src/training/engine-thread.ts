/**
 * The program of the thread in which a run lives, so that the main thread stays free for the screen and signals.
 *
 * It reads the configuration itself (what was checked holds functions, which do not travel), runs, and reports by messages.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { beatHeart } from "#cluster";
import { remarkLines } from "#config";
import { asUserError } from "#registry";
import type { EngineRequest, FromEngine, ToEngine } from "./engine.ts";
import { evaluateOnly } from "./evaluate-only.ts";
import { describeEvaluation, writeEvaluation } from "./evaluation/results.ts";
import { readRun } from "./read-run.ts";
import type { Reporter } from "./reporter.ts";
import { Run, writeSettings } from "./run.ts";
import { train } from "./train.ts";

const { data: request } = workerData as { data: EngineRequest };
const port = parentPort;
if (!port) throw new Error("internal: the engine runs in a thread of its own");
const send = (message: FromEngine): void => port.postMessage(message);

beatHeart(() => send({ kind: "alive" }));

const reporter: Reporter = {
  doing: (phase, done, total) => send({ kind: "doing", phase, done, total }),
  say: (line) => send({ kind: "say", line }),
  told: (step, metrics) => send({ kind: "told", step, metrics: { ...metrics } }),
};

let stopAsked = false;
const part = { share: request.work === "evaluate" ? (request.share ?? 1) : 1 };
let running: Run | undefined;
port.on("message", (message: ToEngine) => {
  if (message.kind === "shorten") {
    part.share = Math.min(part.share, message.share);
    return;
  }
  if (message.kind === "finish") return running?.finish();
  stopAsked = true;
  running?.stop();
});

async function work(): Promise<void> {
  reporter.doing("read_config");
  const checked = await readRun(request.config, {
    overrides: request.overrides,
    requireFiles: true,
    ...(request.configPath !== undefined && { configPath: request.configPath }),
  });
  for (const severity of ["warning", "note"] as const)
    for (const line of remarkLines(checked.problems, severity)) reporter.say(`${severity}: ${line}`);
  if (request.work === "evaluate") {
    const trained = existsSync(join(checked.config.runner.logger.log_path, "metrics.jsonl"));
    writeSettings(checked, trained ? "eval-config.yaml" : "config.yaml"); // a run's own configuration stays
    const file = describeEvaluation(checked, await evaluateOnly(checked, reporter, part));
    writeEvaluation(request.resultFile, file);
    return;
  }
  running = await Run.open(checked, reporter);
  send({ kind: "opened", step: running.step, totalSteps: running.totalSteps });
  if (stopAsked) running.stop();
  try {
    await train(running);
  } finally {
    await running.close();
  }
}

work()
  .then(
    () => send({ kind: "done", stopped: running?.stopping ?? false }),
    (error: unknown) => {
      const fixable = asUserError(error);
      const { message, stack } = error instanceof Error ? error : new Error(String(error));
      send({
        kind: "failed",
        error: fixable?.message ?? stack ?? message,
        isUserError: fixable !== undefined,
      });
    },
  )
  .finally(() => port.close());
