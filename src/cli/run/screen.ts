/** The live view of a run on the terminal, the same as plain lines in `run.log`. */
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { sweepTemporaries } from "#formats";
import { TerminalView } from "#metrics";
import type { EngineWatcher } from "#training";

export interface RunScreen extends EngineWatcher {
  close(): Promise<void>;
}

/** @param totalSteps 0 for an evaluation; else known when the run has opened. */
export function openScreen(title: string, folder: string, totalSteps?: number): RunScreen {
  mkdirSync(folder, { recursive: true });
  sweepTemporaries(folder); // half-made films of a run that was killed
  const file = openSync(join(folder, "run.log"), "a");
  const toFile = { write: (text: string) => writeSync(file, text) };
  const views = [
    new TerminalView({ title, totalSteps }),
    new TerminalView({ title, totalSteps, screen: toFile }),
  ];
  const each = (tell: (view: TerminalView) => void): void => views.forEach(tell);
  return {
    opened: (step, total) => each((view) => view.opened(step, total)),
    doing: (phase, done, total) => each((view) => view.doing(phase, done, total)),
    say: (line) => each((view) => view.say(line)),
    told: (step, metrics) => each((view) => view.write(step, metrics)),
    async close() {
      await Promise.all(views.map((view) => view.close()));
      closeSync(file);
    },
  };
}
