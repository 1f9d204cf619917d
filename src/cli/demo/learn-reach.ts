/**
 * The demonstration's learner: a small network that answers a point in space with the arm's joint angles.
 *
 * Supervised regression with AdamW and a cosine learning rate; a few thousand steps on one CPU core take seconds.
 * Shapes: B batch, N examples.
 */

import { gelu, initNormal, Linear, Module } from "#nn";
import { AdamW, learningRateFactor } from "#optimization";
import { Generator, randint, scope, type Tensor } from "#tensor";
import type { ReachExamples } from "./reach-examples.ts";

const hidden = 128;
const batch = 256;
const peakRate = 5e-3;

export class ReachNetwork extends Module {
  readonly layers: readonly Linear[] = [
    new Linear(3, hidden),
    new Linear(hidden, hidden),
    new Linear(hidden, 3),
  ];

  constructor(generator: Generator) {
    super();
    for (const { weight } of this.layers) initNormal(weight, (weight.shape[1] ?? 1) ** -0.5, generator);
  }

  forward(points_B3: Tensor): Tensor {
    const scaled_B3 = points_B3.mul(3); // meters to about unit size
    const [first, second, last] = this.layers as [Linear, Linear, Linear];
    return last.forward(gelu(second.forward(gelu(first.forward(scaled_B3)))));
  }
}

export interface LearnOptions {
  readonly steps: number;
  readonly seed: number;
  /** Called now and then with the loss, the mean squared error of the angles in rad². */
  readonly onProgress: (step: number, loss: number) => void;
}

export function learnToReach(
  examples: ReachExamples,
  { steps, seed, onProgress }: LearnOptions,
): ReachNetwork {
  const generator = new Generator(seed);
  const network = new ReachNetwork(generator);
  const group = { parameters: network.namedParameters(), lr: peakRate };
  const optimizer = new AdamW([group]);
  const schedule = learningRateFactor({ lr: peakRate, lr_scheduler: "cosine", lr_warmup_steps: 0 }, steps);
  for (let step = 0; step <= steps; step++) {
    group.lr = peakRate * schedule(step);
    const loss = scope(() => trainStep(network, optimizer, drawBatch(examples, generator)));
    if (step % (steps / 5) === 0) onProgress(step, loss.item());
    loss.dispose();
  }
  optimizer.dispose();
  return network;
}

function trainStep(network: ReachNetwork, optimizer: AdamW, { points, angles }: ReachExamples): Tensor {
  const loss = network.forward(points).sub(angles).square().mean();
  loss.backward();
  optimizer.step();
  optimizer.zeroGrad();
  return loss.detach();
}

function drawBatch({ points, angles }: ReachExamples, generator: Generator): ReachExamples {
  const picked_B = randint(0, points.shape[0] ?? 0, [batch], { generator });
  return { points: points.indexSelect(0, picked_B), angles: angles.indexSelect(0, picked_B) };
}
