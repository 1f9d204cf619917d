/** Named numbers, and what it takes to receive them. */

/** One step's numbers by name, as `train/actor/grad_norm`. NaN means "not defined here", and is kept. */
export type Metrics = Readonly<Record<string, number>>;

/** Somewhere that numbers go: a file, a service, a screen. */
export interface MetricsWriter {
  /** Must not throw for what a run can outlive, such as a service that went away. */
  write(step: number, metrics: Metrics): void;
  close(): Promise<void>;
}
