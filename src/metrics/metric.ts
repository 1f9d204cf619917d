/** Named numbers, and what it takes to receive them. */

/** One step's numbers by name, as `train/actor/grad_norm`. NaN means "not defined here", and is kept. */
export type Metrics = Readonly<Record<string, number>>;

export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array; // [height, width, 3]
}

/** Somewhere that numbers go: a file, a service, a screen. */
export interface MetricsWriter {
  /** Must not throw for what a run can outlive, such as a service that went away. */
  write(step: number, metrics: Metrics): void;
  /** A picture, RGB bytes with rows from the top, where pictures can be shown. */
  show?(step: number, name: string, picture: Picture): void;
  close(): Promise<void>;
}
