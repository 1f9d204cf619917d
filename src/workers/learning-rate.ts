/**
 * The learning rate's factor for each training step, from the keys of `actor.optim`.
 *
 * The rate moves once per training step, not per optimiser step, as in the reference. `cosine` is that of Hugging Face's transformers
 * (`num_cycles` half waves), `openpi_cosine` that of openpi: its warm-up begins at 1 / (warm-up + 1) and it ends at `min_lr`.
 */
import type { RunConfig } from "#config";

type OptimSettings = RunConfig["actor"]["optim"];

export function learningRateFactor(settings: OptimSettings, runSteps: number): (step: number) => number {
  const total = settings.total_training_steps > 0 ? settings.total_training_steps : runSteps;
  const { lr_warmup_steps: given, lr_warmup_steps_ratio: ratio } = settings;
  const warmup = given >= 0 ? given : Math.floor(ratio * total);
  const floor = settings.min_lr_rate ?? settings.min_lr / settings.lr;
  const progress = (step: number): number => Math.min(1, (step - warmup) / Math.max(1, total - warmup));
  return (step) => {
    switch (settings.lr_scheduler) {
      case "constant":
        return step < warmup ? (step + 1) / warmup : 1;
      case "cosine":
        if (step < warmup) return (step + 1) / warmup;
        return floor + (1 - floor) * 0.5 * (1 + Math.cos(Math.PI * settings.num_cycles * 2 * progress(step)));
      case "openpi_cosine":
        if (step < warmup) return 1 / (warmup + 1) + (1 - 1 / (warmup + 1)) * (step / warmup);
        return floor + (1 - floor) * 0.5 * (1 + Math.cos(Math.PI * progress(step)));
      default:
        return settings.lr_scheduler satisfies never;
    }
  };
}
