/**
 * Watches how often a world takes a real failure for a success while a policy learns in it.
 *
 * The rate is that of the closed loop (closed-loop.ts), P(dream success | real failure). Success in the dream less success in the simulator
 * would mix it with how often the policy succeeds: that gap shrinks as a policy improves, with the same world. A rate that grows says that
 * the policy learns the world's mistakes. Then more training makes it worse at the task, whatever the dream says: the run can be ended,
 * and the checkpoint with the best success in the simulator is the result.
 */
import type { CheckedConfig, RunConfig } from "#config";
import type { Metrics } from "#metrics";

export interface GapState {
  readonly smallest: number | null; // rate so far
  readonly grown: number; // evaluations in a row that found it larger
  readonly best: { readonly step: number; readonly success: number } | null; // in the simulator
  /** What `smallest` and `grown` are of; checkpoints of earlier versions watched the difference of success rates. */
  readonly watched?: "closed_loop" | undefined;
}

export const freshGap: GapState = { smallest: null, grown: 0, best: null, watched: "closed_loop" };

/** Whether dreams and truth can be compared: an imagined env to train in, a simulator to evaluate in. */
export const comparesDreams = ({ config, families }: CheckedConfig): boolean =>
  families.train?.plays === "dream" && config.env.eval !== undefined && families.eval?.plays !== "dream";

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
    this.#state = state.watched ? state : { ...freshGap, best: state.best };
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
    const [rate, real] = [metrics["eval/closed_loop_false_positive"], metrics["eval/success_once"]];
    if (real === undefined) return undefined;
    const { threshold, patience, enabled } = this.#rules;
    const { smallest, grown } = this.#state;
    const before = this.#state.best;
    const best = before === null || real > before.success ? { step, success: real } : before;
    this.#state = { ...this.#state, best };
    if (rate === undefined) return undefined; // without a real failure there is no rate
    const grows = smallest !== null && rate > smallest + threshold;
    this.#state = {
      smallest: Math.min(smallest ?? rate, rate),
      grown: grows ? grown + 1 : 0,
      best,
      watched: "closed_loop",
    };
    if (!enabled || this.#state.grown < patience) return undefined;
    const kept = this.#state.best ?? { step, success: real };
    return (
      `P(dream success | real failure) in the closed loop grew from ${percent(smallest ?? rate)} to ${percent(rate)} %: ` +
      "the policy learns its world's mistakes, and training ends; " +
      `the best checkpoint is that of step ${kept.step}, with ${percent(kept.success)} % success in the simulator`
    );
  }
}

const percent = (share: number): string => (100 * share).toFixed(1);
