/** The live view of a run on the terminal, the same as plain lines in `run.log`, and Ctrl-C. */
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { TerminalView } from "#metrics";
import type { EngineHandle, EngineWatcher } from "#training";

export interface RunScreen extends EngineWatcher {
  close(): Promise<void>;
}

/** @param totalSteps 0 for an evaluation; else known when the run has opened. */
export function openScreen(title: string, folder: string, totalSteps?: number): RunScreen {
  mkdirSync(folder, { recursive: true });
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

/**
 * The first Ctrl-C (or SIGTERM) asks a run to save and end, the second ends it at once; so does the first where there is nothing to
 * save. Gives a function that undoes this.
 */
export function stopOnSignals(
  engine: EngineHandle,
  say: (line: string) => void,
  { saves }: { readonly saves: boolean },
): () => void {
  let asked = !saves;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (asked) {
      void engine.kill().then(() => process.exit(signal === "SIGINT" ? 130 : 143));
      return;
    }
    asked = true;
    say("stopping after this step, with a checkpoint; once more ends at once");
    engine.stop();
  };
  const signals = ["SIGINT", "SIGTERM"] as const;
  for (const signal of signals) process.on(signal, onSignal);
  return () => {
    for (const signal of signals) process.off(signal, onSignal);
  };
}
