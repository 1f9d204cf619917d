/** Measured differences between our numbers and the reference's, each with the tolerance it must keep. */
import { type Device, type DType, scope, type Tensor } from "#tensor";
import type { ParityCase } from "../parity-case.ts";

export type { ParityCase };

export interface ParityOptions {
  readonly device?: Device;
  readonly dtype?: DType;
}

/** What is compared, and so how much it may differ. */
export type Quantity =
  | "exact"
  | "pixels"
  | "features"
  | "logits"
  | "logprobs"
  | "values"
  | "actions"
  | "gradients"
  | "loss";

type Tolerances = Record<Quantity, number>;

/** float32 on the CPU; actions are compared in double precision. Features, logits and gradients are relative. */
const onCpu: Tolerances = {
  exact: 0,
  pixels: 0,
  features: 1e-4,
  logits: 1e-4,
  logprobs: 1e-4,
  values: 1e-4,
  actions: 1e-9,
  gradients: 1e-3,
  loss: 1e-4,
};
/** float32 on a GPU without TF32. A resized pixel may round the other way: one step of 255, over the smallest deviation. */
const onCuda: Tolerances = {
  ...onCpu,
  pixels: 1 / 255 / 0.22,
  features: 1e-3,
  logits: 1e-3,
  logprobs: 1e-3,
  values: 1e-3,
  gradients: 2e-3,
  loss: 1e-3,
};
/**
 * bfloat16 keeps 8 bits of mantissa: two to three times what the given cases show. A sample whose ratio crosses the
 * clip bound by rounding loses its whole gradient, so gradients are compared as vectors, not number by number; the
 * largest difference of the given cases is 0.32, in a position table of a case with three samples.
 */
const inHalf: Tolerances = {
  ...onCuda,
  features: 0.04,
  logits: 0.05,
  logprobs: 0.12,
  values: 0.04,
  gradients: 0.5,
  loss: 0.005,
};

export class Comparison {
  readonly device: Device;
  readonly dtype: DType;
  readonly cases: ParityCase[] = [];
  readonly #folder: string;
  readonly #tolerances: Tolerances;

  constructor(folder: string, { device = "cpu", dtype = "float32" }: ParityOptions) {
    this.#folder = folder;
    this.device = device;
    this.dtype = dtype;
    this.#tolerances = dtype !== "float32" ? inHalf : device === "cpu" ? onCpu : onCuda;
  }

  /** In float32 every discrete choice must be the same; in half precision near ties may fall the other way. */
  get isExact(): boolean {
    return this.dtype === "float32";
  }

  /** The largest absolute difference. */
  absolute(what: string, ours: Tensor, theirs: Tensor, quantity: Quantity): void {
    this.#add(what, difference(ours, theirs), quantity);
  }

  /** The largest difference over the largest number of the reference. */
  relative(what: string, ours: Tensor, theirs: Tensor, quantity: Quantity): void {
    const scale = Math.max(largest(theirs), 1e-12);
    this.#add(`${what} (relative)`, difference(ours, theirs) / scale, quantity);
  }

  /** Gradients: number by number in float32, as vectors (L2 norms) in half precision. */
  gradient(what: string, ours: Tensor, theirs: Tensor): void {
    if (this.isExact) this.relative(what, ours, theirs, "gradients");
    else this.#add(`${what} (L2)`, vectorDifference(ours, theirs), "gradients");
  }

  /** A count of things that are wrong, which must be none. */
  none(what: string, wrong: number): void {
    this.#add(what, wrong, "exact");
  }

  failed(reason: string): void {
    this.cases.push({
      name: `${this.#folder}: ${reason}`,
      ok: false,
      worst: Number.POSITIVE_INFINITY,
      tolerance: 0,
    });
  }

  #add(what: string, worst: number, quantity: Quantity): void {
    const tolerance = this.#tolerances[quantity];
    this.cases.push({ name: `${this.#folder}: ${what}`, ok: worst <= tolerance, worst, tolerance });
  }
}

/** NaN anywhere, or another shape, is an infinite difference. */
function difference(ours: Tensor, theirs: Tensor): number {
  return scope(() => {
    if (ours.numel !== theirs.numel) return Number.POSITIVE_INFINITY;
    const a = ours.detach().cpu().double().flatten();
    const b = theirs.detach().cpu().double().flatten();
    const same = a.eq(b); // also where both are −∞, whose difference is not a number
    const worst = a.sub(b).abs().maskedFill(same, 0).amax(0).item();
    return Number.isNaN(worst) ? Number.POSITIVE_INFINITY : worst;
  });
}

function vectorDifference(ours: Tensor, theirs: Tensor): number {
  return scope(() => {
    const [a, b] = [ours, theirs].map((x) => x.detach().cpu().double().flatten()) as [Tensor, Tensor];
    return a.sub(b).norm().item() / Math.max(b.norm().item(), 1e-12);
  });
}

const largest = (x: Tensor): number => scope(() => x.detach().cpu().double().abs().flatten().amax(0).item());
