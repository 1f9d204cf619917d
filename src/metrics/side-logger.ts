/**
 * W&B and SwanLab through their own SDKs, in a Python process beside the run.
 *
 * The SDKs exist only in Python and start threads, network queues and exit hooks of their own; apart from us
 * they can neither slow a training step nor take it down. If the process dies, the run warns once and goes on;
 * its numbers are in metrics.jsonl anyway.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Late, setUpFolder, UserError, within } from "#registry";
import type { Metrics, MetricsWriter } from "./metric.ts";

export type Service = "wandb" | "swanlab";

export interface SideLoggerOptions {
  readonly service: Service;
  readonly project: string;
  readonly experiment: string;
  /** Where the SDK keeps its files. */
  readonly folder: string;
  readonly config: unknown;
  /** In the service's own words: W&B online, offline, disabled; SwanLab cloud, local, offline, disabled. */
  readonly mode?: string | undefined;
  readonly entity?: string | undefined;
  readonly proxy?: string | undefined;
  /** Continues the service's run with this id. */
  readonly run_id?: string | undefined;
  readonly warn: (text: string) => void;
  /** A service that does not answer must not keep a run from starting forever. */
  readonly timeoutSeconds?: number;
}

export interface SideLogger extends MetricsWriter {
  /** What the SDK says of the run: its id, address and folder, where it has them; and the process's id. */
  readonly facts: Readonly<Record<string, string | number | null>>;
}

const root = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** The interpreter that has the SDKs: REVERIE_LOGGER_PYTHON, else `.deps/loggers`, else the machine's own. */
export function loggerPython(): string {
  const own = join(setUpFolder(), ".deps", "loggers", "bin", "python");
  return process.env.REVERIE_LOGGER_PYTHON ?? (existsSync(own) ? own : "python3");
}

/** Starts the service's process and waits until its run is open. */
export async function openSideLogger(options: SideLoggerOptions): Promise<SideLogger> {
  const { warn: _warn, timeoutSeconds: _timeout, ...start } = options;
  mkdirSync(options.folder, { recursive: true });
  const child = spawn(loggerPython(), ["-uB", root(`bridges/loggers/${options.service}_logger.py`)], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  const ended = new Promise<number>((resolve) => {
    child.once("close", (code) => resolve(code ?? 1));
    child.once("error", () => resolve(127));
  });
  child.stdin.on("error", () => {}); // seen as the process's end
  let said = "";
  child.stderr.on("data", (text: Buffer) => {
    said = (said + text.toString()).slice(-2000);
  });
  child.stdin.write(`${JSON.stringify(start)}\n`);
  const answer = await firstAnswer(child, ended, options);
  if (!answer.ready) {
    child.kill("SIGKILL");
    throw refusal(options, answer, said);
  }
  return sideLogger(child, ended, options, answer.ready as SideLogger["facts"], () => said);
}

/** Seconds that a service may take to send the last numbers; all of them are in metrics.jsonl anyway. */
const lastUpload = 300;

type Answer = Readonly<Record<string, unknown>>;

function firstAnswer(
  child: ChildProcess,
  ended: Promise<number>,
  options: SideLoggerOptions,
): Promise<Answer> {
  const { timeoutSeconds = 120 } = options;
  return new Promise((resolve) => {
    const timer = setTimeout(
      () => resolve({ failed: `no answer within ${timeoutSeconds} s` }),
      timeoutSeconds * 1000,
    );
    const settle = (answer: Answer): void => {
      clearTimeout(timer);
      resolve(answer);
    };
    createInterface({ input: child.stdout! }).on("line", (line) => settle(parseAnswer(line)));
    void ended.then((code) => settle({ failed: `its process ended with code ${code}` }));
  });
}

function parseAnswer(line: string): Answer {
  try {
    return JSON.parse(line) as Answer;
  } catch {
    return { failed: `it answered ${line.slice(0, 200)}` };
  }
}

function refusal({ service }: SideLoggerOptions, answer: Answer, said: string): UserError {
  if (answer.missing) {
    const commands = `python3 -m venv .deps/loggers && .deps/loggers/bin/pip install ${service}`;
    return new UserError(
      `logger_backends names ${service}, but the Python package is not installed (${loggerPython()}); run: ${commands}`,
    );
  }
  const detail = said.trim().split("\n").slice(-3).join("\n");
  return new UserError(`${service} could not start: ${answer.failed}${detail && `\n${detail}`}`);
}

function sideLogger(
  child: ChildProcess,
  ended: Promise<number>,
  { service, warn }: SideLoggerOptions,
  facts: SideLogger["facts"],
  said: () => string,
): SideLogger {
  let open = true;
  void ended.then((code) => {
    if (open)
      warn(
        `${service} stopped (code ${code}); the run goes on, see metrics.jsonl. ${said().trim().slice(-300)}`,
      );
    open = false;
  });
  return {
    facts,
    write(step: number, metrics: Metrics): void {
      if (!open) return;
      const numbers = Object.entries(metrics).map(([name, value]) => [
        name,
        Number.isFinite(value) ? value : String(value),
      ]);
      child.stdin!.write(`${JSON.stringify({ step, metrics: Object.fromEntries(numbers) })}\n`);
    },
    async close(): Promise<void> {
      if (!open) return;
      open = false;
      child.stdin!.end();
      const code = await within(ended, lastUpload, "no end").catch((error: unknown) => {
        if (!(error instanceof Late)) throw error;
        child.kill("SIGKILL");
        said = () => `the run waited ${lastUpload} s for its last upload`;
        return 1;
      });
      if (code !== 0) warn(`${service} did not finish cleanly (code ${code}): ${said().trim().slice(-300)}`);
    },
  };
}
