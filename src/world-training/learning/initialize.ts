/**
 * Fresh weights for networks that are trained from scratch.
 *
 * Matrices and kernels are drawn with the spread that keeps activations level (LeCun); what a network adds to itself at
 * first adds nothing, so that a deep stack begins as the identity (adaLN-zero, Peebles & Xie 2022,
 * https://arxiv.org/abs/2212.09748).
 */
import type { Module } from "#nn";
import { Generator, noGrad, randn, scope, type Tensor, tensor } from "#tensor";

export function initialize(
  module: Module,
  seed: number,
  silent: (name: string) => boolean = () => false,
): void {
  const generator = new Generator(seed);
  noGrad(() => {
    for (const [name, weight] of module.namedParameters()) {
      if (!weight.requiresGrad || weight.ndim < 2) continue;
      const fan = weight.shape.slice(1).reduce((product, size) => product * size, 1);
      if (silent(name)) weight.zero_();
      else if (name.endsWith("gamma")) weight.fill_(1);
      else if (/(scale_shift_table|modulation)$/.test(name))
        draw(weight, 1 / Math.sqrt(weight.shape.at(-1)!), generator);
      else draw(weight, 1 / Math.sqrt(fan), generator);
    }
  });
  generator.dispose();
}

/** Drawn on the CPU wherever the weight is, so that a seed gives the same network everywhere. */
function draw(weight: Tensor, std: number, generator: Generator): void {
  scope(() => weight.copy_(randn([...weight.shape], { generator }).mul(std)));
}

/** Rotary frequencies of time, 10000^(-2j/E): weights in OpenSora's files. */
export function rotaryFrequencies(head: number): ReturnType<typeof tensor> {
  return tensor(Array.from({ length: head / 2 }, (_, j) => 10000 ** ((-2 * j) / head)));
}
