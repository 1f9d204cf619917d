/**
 * The loop: sync, collect, advantages, learn, evaluate, let the world learn, tell, keep.
 *
 * One training step is one pass through it. What the words mean is in the rooms they come from; how workers are placed, and whether
 * they live in threads or on other machines, is the crew's business.
 */
import type { Run } from "./run.ts";

export async function train(run: Run): Promise<void> {
  try {
    await run.settle();
    while (run.step < run.totalSteps && !run.over) await trainingStep(run);
    if (run.stopping) await run.keepStopped();
  } catch (error) {
    throw run.explain(error);
  }
}

/** Episodes that were given up, because the run was told to stop, leave the step undone. */
async function trainingStep(run: Run): Promise<void> {
  const { crew, step } = run;
  await run.phase("sync_weights", () => crew.syncWeights(step));
  const collected = await run.collect(step);
  if (!collected) return;
  const advantages = await run.phase("cal_adv_and_returns", () => crew.advantages(collected, step));
  const found = { ...collected.metrics, ...advantages.metrics };
  const learned = await run.learn(advantages, found);
  const evaluated = await run.evaluateAfter(step + 1, collected.metrics);
  const evolved = await run.evolveAfter(step + 1);
  run.tell(step, { ...found, ...learned.metrics, ...evaluated, ...evolved });
  run.show(step, collected.sights);
  await run.keepIfDue();
}
