/**
 * The learning rate's factor for each step, from the keys that configurations have.
 *
 * `cosine` is that of Hugging Face's transformers (`num_cycles` waves), `openpi_cosine` that of openpi: its warm-up begins at
 * 1 / (warm-up + 1). RL moves the rate once per training step, as in the reference; other trainings at every optimizer step.
 */
export interface RateSettings {
  readonly lr: number;
  readonly lr_scheduler: "constant" | "cosine" | "openpi_cosine";
  /** -1: `lr_warmup_steps_ratio` of all steps. */
  readonly lr_warmup_steps: number;
  readonly lr_warmup_steps_ratio?: number;
  /** Length of the schedule; 0: that of the run. */
  readonly total_training_steps?: number;
  readonly min_lr?: number;
  /** Of lr; wins over min_lr. */
  readonly min_lr_rate?: number | null | undefined;
  readonly num_cycles?: number;
}

/** A factor of the base rate for a step, counted from 0. */
export type RateFactor = (step: number) => number;

/** Rises linearly over the first steps, then stays. The first step already moves: 1 / warmup. */
export const warmUp = (step: number, warmup: number): number => (step < warmup ? (step + 1) / warmup : 1);

export function learningRateFactor(settings: RateSettings, runSteps: number): RateFactor {
  const total = settings.total_training_steps || runSteps;
  const { lr_warmup_steps: given, lr_warmup_steps_ratio: ratio = 0, num_cycles: waves = 0.5 } = settings;
  const warmup = given >= 0 ? given : Math.floor(ratio * total);
  const floor = settings.min_lr_rate ?? (settings.min_lr ?? 0) / settings.lr;
  const cosine = (step: number, cycles: number): number => {
    const progress = Math.min(1, (step - warmup) / Math.max(1, total - warmup));
    return floor + (1 - floor) * 0.5 * (1 + Math.cos(Math.PI * cycles * 2 * progress));
  };
  switch (settings.lr_scheduler) {
    case "constant":
      return (step) => warmUp(step, warmup);
    case "cosine":
      return (step) => (step < warmup ? warmUp(step, warmup) : cosine(step, waves));
    case "openpi_cosine":
      return (step) =>
        step < warmup ? 1 / (warmup + 1) + (1 - 1 / (warmup + 1)) * (step / warmup) : cosine(step, 0.5);
    default:
      return settings.lr_scheduler satisfies never;
  }
}
