/** Gradients and gradient modes. Gradients are recorded by default, as in PyTorch. */
import { addon } from "./addon.ts";
import { Tensor } from "./tensor.ts";

type Synchronous<T> = T extends Promise<unknown> ? never : T;

function withGradMode<T>(on: boolean, body: () => Synchronous<T>): T {
  const before = addon.gradMode(on);
  try {
    return body();
  } finally {
    addon.gradMode(before);
  }
}

/** Runs `body` without recording: no graph, no memory for one. */
export const noGrad = <T>(body: () => Synchronous<T>): T => withGradMode<T>(false, body);

/** Records again inside a `noGrad`. */
export const enableGrad = <T>(body: () => Synchronous<T>): T => withGradMode<T>(true, body);

/** Faster than `noGrad`, and its tensors can never enter a graph later. */
export function inferenceMode<T>(body: () => Synchronous<T>): T {
  addon.inferenceMode(true);
  try {
    return body();
  } finally {
    addon.inferenceMode(false);
  }
}

export interface GradOptions {
  /** One per output; may be left out when every output is a single number. */
  readonly gradOutputs?: readonly (Tensor | null)[];
  readonly retainGraph?: boolean;
  readonly createGraph?: boolean;
  /** Gives null for an input that the outputs do not depend on, instead of an error. */
  readonly allowUnused?: boolean;
}

/** d outputs / d inputs, without touching any `.grad`. */
export function grad(
  outputs: readonly Tensor[],
  inputs: readonly Tensor[],
  { gradOutputs = [], retainGraph = false, createGraph = false, allowUnused = false }: GradOptions = {},
): (Tensor | null)[] {
  const handles = addon.gradients(
    outputs.map((t) => t.handle),
    inputs.map((t) => t.handle),
    gradOutputs.map((t) => t?.handle ?? 0),
    retainGraph || createGraph,
    createGraph,
    allowUnused,
  );
  return handles.map((handle) => (handle === 0 ? null : new Tensor(handle)));
}
