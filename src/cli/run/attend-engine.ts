/** A run from start to end with its screen, and what signals do to it. */
import { type EnginePatience, type EngineRequest, startEngine } from "#training";
import { exitCodeOf, leave, leaveIfHung, onStopSignals, stopEngine } from "../stop-signals.ts";
import type { RunScreen } from "./screen.ts";

export interface Attendance {
  readonly patience: EnginePatience;
  readonly folder: string;
  /** The command that goes on where this one ended. */
  readonly again: string;
}

/** The screen is closed when this returns or throws. A run that hangs, and one with nothing to save, takes the process with it. */
export async function attendEngine(
  request: EngineRequest,
  screen: RunScreen,
  { patience, folder, again }: Attendance,
): Promise<{ readonly stopped: boolean }> {
  let canSave = false;
  let asked = false;
  let tellNoMore = (): void => {};
  const watcher = {
    ...screen,
    opened(step: number, totalSteps: number) {
      canSave = request.work === "train";
      screen.opened?.(step, totalSteps);
    },
  };
  const engine = startEngine(request, watcher, patience);
  const forget = onStopSignals((signal) => {
    if (asked || !canSave) {
      void screen.close();
      leave(exitCodeOf(signal), folder);
    }
    asked = true;
    tellNoMore = stopEngine(engine, patience, screen.say);
  });
  try {
    const ended = await engine.finished;
    if (ended.stopped) screen.say(`stopped; go on with: ${again}`);
    return ended;
  } catch (error) {
    leaveIfHung(error, folder, again);
    throw error;
  } finally {
    tellNoMore();
    forget();
    await screen.close();
  }
}
