/**
 * Watches the gap between success in the dream and success in the simulator while a policy learns in a world model.
 *
 * A gap that grows says that the policy learns the world's mistakes. Then more training makes it worse at the task, whatever the dream
 * says: the run can be ended, and the checkpoint with the best success in the simulator is the result.
 */
import type { RunConfig } from "#config";
import type { Metrics } from "#metrics";

export interface GapState {
  readonly smallest: number | null; // gap so far
  readonly grown: number; // evaluations in a row that found it larger
  readonly best: { readonly step: number; readonly success: number } | null; // in the simulator
}

export const freshGap: GapState = { smallest: null, grown: 0, best: null };

/** Whether dreams and truth can be compared: an imagined env to train in, a simulator to evaluate in. */
export function comparesDreams({ env }: RunConfig): boolean {
  const imagined = (section: { readonly env_type: string }): boolean => section.env_type.endsWith("_wm");
  return imagined(env.train) && env.eval !== undefined && !imagined(env.eval);
}

/** `eval/…` numbers of the gap; none where one side was not measured. */
export function gapMetrics(collected: Metrics, evaluated: Metrics): Metrics {
  const [dream, real] = [collected["env/success_once"], evaluated["eval/success_once"]];
  if (dream === undefined || real === undefined) return {};
  return { "eval/dream_success": dream, "eval/dream_gap": dream - real };
}

export class GapWatch {
  readonly #rules: RunConfig["runner"]["stop_when_gap_grows"];
  #state: GapState;

  constructor(rules: RunConfig["runner"]["stop_when_gap_grows"], state: GapState = freshGap) {
    this.#rules = rules;
    this.#state = state;
  }

  get state(): GapState {
    return this.#state;
  }

  /** Whether the checkpoint of this step is the one to keep. */
  isBest(step: number): boolean {
    return this.#rules.enabled && this.#state.best?.step === step;
  }

  /** Takes in one evaluation; says why the run should end, where it should. */
  enter(step: number, metrics: Metrics): string | undefined {
    const [gap, real] = [metrics["eval/dream_gap"], metrics["eval/success_once"]];
    if (gap === undefined || real === undefined) return undefined;
    const { threshold, patience, enabled } = this.#rules;
    const { smallest, grown, best } = this.#state;
    const grows = smallest !== null && gap > smallest + threshold;
    this.#state = {
      smallest: Math.min(smallest ?? gap, gap),
      grown: grows ? grown + 1 : 0,
      best: best === null || real > best.success ? { step, success: real } : best,
    };
    if (!enabled || this.#state.grown < patience) return undefined;
    const kept = this.#state.best ?? { step, success: real };
    return (
      `the gap between dream and simulator grew from ${percent(smallest ?? gap)} to ${percent(gap)} points: training ends; ` +
      `the best checkpoint is that of step ${kept.step}, with ${percent(kept.success)} % success in the simulator`
    );
  }
}

const percent = (share: number): string => (100 * share).toFixed(1);
