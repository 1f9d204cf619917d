/** One comparison of ours with a recording: how far apart they are, and how far they may be. */
export interface ParityCase {
  readonly name: string; // says how the difference is measured
  readonly ok: boolean;
  /** The largest difference found, in the case's own unit, and the largest allowed. */
  readonly worst: number;
  readonly tolerance: number;
}
