/** Learning-rate schedules: a factor of the base rate for each optimiser step, counted from 0. */
export type Schedule = (step: number) => number;

/** Rises linearly over the first steps, then stays. The first step already moves: 1 / warmupSteps. */
export const constantSchedule =
  (warmupSteps = 0): Schedule =>
  (step) =>
    step < warmupSteps ? (step + 1) / warmupSteps : 1;

/** Warm-up, then a half cosine down to `floor` at `totalSteps`. */
export const cosineSchedule =
  (totalSteps: number, warmupSteps = 0, floor = 0): Schedule =>
  (step) => {
    if (step < warmupSteps) return (step + 1) / warmupSteps;
    const progress = Math.min(1, (step - warmupSteps) / Math.max(1, totalSteps - warmupSteps));
    return floor + (1 - floor) * 0.5 * (1 + Math.cos(Math.PI * progress));
  };

/** Warm-up, then a straight line down to `floor` at `totalSteps`. */
export const linearSchedule =
  (totalSteps: number, warmupSteps = 0, floor = 0): Schedule =>
  (step) => {
    if (step < warmupSteps) return (step + 1) / warmupSteps;
    const progress = Math.min(1, (step - warmupSteps) / Math.max(1, totalSteps - warmupSteps));
    return 1 - (1 - floor) * progress;
  };
