/**
 * The loop: sync, collect, judge, learn, evaluate, let the world learn, tell, keep.
 *
 * One training step is one pass through it. What the words mean is in the rooms they come from; how workers are placed, and whether
 * they live in threads or on other machines, is the crew's business.
 */
import type { Run } from "./run.ts";

export async function train(run: Run): Promise<void> {
  const { crew } = run;
  await run.settle();
  while (run.step < run.totalSteps && !run.over) {
    const { step } = run;
    await run.phase("sync_weights", () => crew.syncWeights(step));
    const collected = await run.collect(step);
    if (!collected) break;
    const judged = await run.phase("cal_adv_and_returns", () => crew.judge(collected, step));
    const learned = await run.phase("actor_training", (progress) => crew.learn(judged, step, progress));
    const evaluated = await run.evaluateAfter(step + 1, collected.metrics);
    const evolved = await run.evolveAfter(step + 1);
    run.tell(step, { ...collected.metrics, ...judged.metrics, ...learned.metrics, ...evaluated, ...evolved });
    run.show(step, collected.sights);
    await run.keepIfDue();
  }
  if (run.stopping) await run.keepStopped();
}
