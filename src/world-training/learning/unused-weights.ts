/** Published networks carry weights that nothing reads; they are saved with the rest and must not be trained. */
import type { Module } from "#nn";
import { grad, scope, type Tensor } from "#tensor";

/** Takes out of training every weight that this loss does not depend on. */
export function freezeUnused(module: Module, lossOf: () => Tensor): void {
  const weights = [...module.namedParameters().values()].filter((weight) => weight.requiresGrad);
  scope(() => {
    const gradients = grad([lossOf()], weights, { allowUnused: true });
    for (const [i, gradient] of gradients.entries()) if (gradient === null) weights[i]!.requiresGrad_(false);
  });
}
