/** How far a training is, one line at a time. */
import type { LoopHooks } from "#world-training";

export function progressLine(what: string): NonNullable<LoopHooks["onProgress"]> {
  return ({ step, steps: total, loss, gradNorm, seconds, stepsPerSecond }) =>
    console.log(
      `${what} ${step}/${total}  loss ${loss.toFixed(4)}  gradient ${gradNorm.toFixed(3)}  ` +
        `${stepsPerSecond.toFixed(1)} steps/s  ${seconds.toFixed(0)} s`,
    );
}
