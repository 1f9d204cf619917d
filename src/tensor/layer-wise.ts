/**
 * Backward, one layer at a time: the primitive for models whose activations do not fit.
 *
 * Forward runs without a graph and keeps only each layer's input. Backward goes through the layers in reverse,
 * recomputes one layer with a graph, and asks for its gradients. That is activation checkpointing (Chen et al. 2016,
 * https://arxiv.org/abs/1604.06174); it is also the place where sharded weights are gathered and freed, and it needs
 * no callbacks into JavaScript, which would deadlock with libtorch's CUDA backward threads. Gradients equal those of
 * one big graph bit for bit wherever the layers' operators are deterministic.
 */
import { enableGrad, grad, noGrad } from "./gradients.ts";
import { keep, scope } from "./living.ts";
import type { Tensor } from "./tensor.ts";

export interface Layer {
  /** Must be a pure function of its inputs and parameters: it runs twice. */
  forward(inputs: readonly Tensor[]): readonly Tensor[];
  /** Those that want gradients, by name. */
  readonly parameters: ReadonlyMap<string, Tensor>;
  /** Called before and after each use, for weights that live elsewhere; a backward pass has handed its gradients over by then. */
  readonly gather?: () => void;
  readonly free?: (after: "forward" | "backward") => void;
}

type Accept = (name: string, gradient: Tensor) => void;

export interface LayerWiseResult {
  readonly outputs: readonly Tensor[];
  /**
   * Runs the reverse pass: hands each layer's parameter gradients to `accept` as soon as they exist (accumulate,
   * reduce or step there) and returns the gradients of the first layer's inputs. Where nobody wants those
   * (`ofInputs: false`), the pass ends at the first layer that learns, and the result is nulls.
   */
  backward(
    gradOutputs: readonly (Tensor | null)[],
    accept: Accept,
    options?: { readonly ofInputs?: boolean },
  ): (Tensor | null)[];
  dispose(): void;
}

export function layerWise(layers: readonly Layer[], inputs: readonly Tensor[]): LayerWiseResult {
  const saved: Tensor[][] = [];
  let current = inputs.map((t) => keep(t.detach()));
  for (const layer of layers) {
    saved.push(current);
    layer.gather?.();
    current = noGrad(() => scope(() => [...layer.forward(current)])).map((t) => keep(t));
    layer.free?.("forward");
  }
  const outputs = current;
  const dispose = () => {
    for (const tensors of saved.splice(0)) for (const t of tensors) t.dispose();
    for (const t of outputs) t.dispose();
  };
  return {
    outputs,
    dispose,
    backward(gradOutputs, accept, { ofInputs = true } = {}) {
      const learning = layers.findIndex((layer) => layer.parameters.size > 0);
      const end = ofInputs ? 0 : learning === -1 ? layers.length : learning;
      let flowing: (Tensor | null)[] = gradOutputs.map((t) => t && keep(t.detach()));
      for (let i = layers.length - 1; i >= end; i--) {
        const layer = layers[i] as Layer;
        const before = flowing;
        flowing = stepBack(layer, saved[i] as Tensor[], before, accept, ofInputs || i > end);
        for (const t of [...before, ...(saved.pop() as Tensor[])]) t?.dispose();
      }
      if (ofInputs) return flowing;
      for (const t of flowing) t?.dispose();
      return inputs.map(() => null);
    },
  };
}

const isFloat = (t: Tensor) => t.dtype.includes("float");

function stepBack(
  layer: Layer,
  inputs: readonly Tensor[],
  gradOutputs: readonly (Tensor | null)[],
  accept: Accept,
  ofInputs: boolean,
): (Tensor | null)[] {
  layer.gather?.();
  const kept = scope(() => {
    const leaves = inputs.map((t) => (ofInputs && isFloat(t) ? t.detach().requiresGrad_() : t));
    // a scope of its own: what the graph does not hold is freed before the gradients need room
    const outputs = enableGrad(() => scope(() => [...layer.forward(leaves)]));
    const differentiable = outputs.flatMap((output, i) => (gradOutputs[i] && output.requiresGrad ? [i] : []));
    const names = [...layer.parameters.keys()];
    const wanted = ofInputs ? leaves.filter(isFloat) : [];
    const gradients = grad(
      differentiable.map((i) => outputs[i] as Tensor),
      [...wanted, ...layer.parameters.values()],
      { gradOutputs: differentiable.map((i) => gradOutputs[i] as Tensor), allowUnused: true },
    );
    for (const [i, name] of names.entries()) {
      const gradient = gradients[wanted.length + i];
      if (gradient) accept(name, gradient);
    }
    let next = 0;
    return leaves.map((leaf) => (ofInputs && isFloat(leaf) ? (gradients[next++] ?? null) : null));
  });
  layer.free?.("backward");
  return kept.map((t) => t && keep(t));
}
