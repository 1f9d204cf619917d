/**
 * A forward pass captured as a CUDA graph per set of shapes: hundreds of kernel launches become one.
 *
 * A shape is captured when it comes back, not at first sight, and only a few are kept: batches that shrink as
 * episodes end would otherwise fill the memory with graphs that are used once. Weights may change in place between
 * replays; replacing them (merging adapters, moving the module) needs `clear`.
 */
import { Graph, keep, noGrad, scope, type Tensor } from "#tensor";

type Named = Readonly<Record<string, Tensor>>;

/** `variant` tells apart what shapes do not: whether a mask is needed, say. */
export type Body = (inputs: Named, variant: string) => Named;

interface Captured {
  readonly graph: Graph;
  readonly inputs: Named;
  readonly outputs: Named;
}

export interface CaptureLimits {
  /** How often a shape must have been seen before it is captured. */
  readonly sightings?: number;
  /** How many shapes are kept; the one unused for longest goes first. */
  readonly most?: number;
}

export class CapturedForward {
  readonly #body: Body;
  readonly #sightings: number;
  readonly #most: number;
  readonly #seen = new Map<string, number>();
  /** In order of use, oldest first. */
  readonly #captured = new Map<string, Captured>();

  /** `body` must be a pure function of its inputs and of weights that stay in place, without copies from the host. */
  constructor(body: Body, { sightings = 2, most = 6 }: CaptureLimits = {}) {
    this.#body = body;
    this.#sightings = sightings;
    this.#most = most;
  }

  /** Inputs on the device. The outputs are overwritten by the next call: read or copy them before. */
  run(inputs: Named, variant = ""): Named {
    const key = `${variant} ${Object.entries(inputs)
      .map(([name, x]) => `${name}[${x.shape}]${x.dtype}`)
      .join(" ")}`;
    const known = this.#captured.get(key) ?? this.#capture(key, inputs, variant);
    if (!known) return this.#body(inputs, variant);
    this.#captured.delete(key);
    this.#captured.set(key, known);
    for (const [name, target] of Object.entries(known.inputs)) target.copy_(inputs[name]!);
    known.graph.replay();
    return known.outputs;
  }

  #capture(key: string, inputs: Named, variant: string): Captured | undefined {
    const sightings = (this.#seen.get(key) ?? 0) + 1;
    this.#seen.set(key, sightings);
    if (sightings <= this.#sightings) return undefined;
    if (this.#captured.size >= this.#most) this.#forget(this.#captured.keys().next().value as string);
    const held = mapNamed(inputs, (x) => keep(x.clone()));
    const { graph, result } = scope(() =>
      Graph.capture(() => noGrad(() => scope(() => this.#body(held, variant)))),
    );
    const captured = { graph, inputs: held, outputs: mapNamed(result, (x) => keep(x)) };
    this.#captured.set(key, captured);
    return captured;
  }

  #forget(key: string): void {
    const { graph, inputs, outputs } = this.#captured.get(key)!;
    graph.dispose();
    for (const tensor of [...Object.values(inputs), ...Object.values(outputs)]) tensor.dispose();
    this.#captured.delete(key);
    this.#seen.delete(key);
  }

  clear(): void {
    for (const key of [...this.#captured.keys()]) this.#forget(key);
  }
}

const mapNamed = (named: Named, change: (tensor: Tensor) => Tensor): Named =>
  Object.fromEntries(Object.entries(named).map(([name, tensor]) => [name, change(tensor)]));
