/** Which renderers draw on this machine, and how fast, each tried in a process of its own. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { RendererReport } from "#mujoco";
import type { Fault } from "./libraries.ts";

export interface RendererFinding extends RendererReport {
  /** Of the demonstration's scene at 256 × 256 pixels; absent when it does not draw. */
  readonly framesPerSecond?: number;
}

const trial = fileURLToPath(new URL("./renderer-trial.ts", import.meta.url));
const longestTrial = 60_000; // ms; a driver that hangs is ended

export async function examineRenderers(): Promise<readonly RendererFinding[] | Fault> {
  try {
    const reports = (await runTrial("list", process.env)) as RendererReport[];
    const findings: RendererFinding[] = [];
    for (const report of reports) findings.push(await measure(report)); // one at a time: they share the cores
    return findings;
  } catch (error) {
    return { error: reasonOf(error) };
  }
}

async function measure(report: RendererReport): Promise<RendererFinding> {
  if (!report.works) return report;
  try {
    const choice = `${report.backend}:${report.device}`;
    const speed = (await runTrial("speed", { ...process.env, REVERIE_GL: choice })) as number;
    return { ...report, framesPerSecond: Math.round(speed) };
  } catch (error) {
    return {
      ...report,
      works: false,
      description: `${report.description}, but drawing failed: ${reasonOf(error)}`,
    };
  }
}

async function runTrial(what: string, env: NodeJS.ProcessEnv): Promise<unknown> {
  const args = ["--import", import.meta.resolve("tsx"), trial, what];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env, timeout: longestTrial });
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}

/** The most telling line of a failed child: its error message rather than the command that was run. */
function reasonOf(error: unknown): string {
  const { stderr = "", message = String(error) } = error as { stderr?: string; message?: string };
  return /^\w*Error: (.*)$/m.exec(stderr)?.[1] ?? message.split("\n")[0] ?? "no reason given";
}
