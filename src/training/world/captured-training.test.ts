import assert from "node:assert/strict";
import { test } from "node:test";
import { Linear, Module } from "#nn";
import { cudaAvailable, Generator, randn, type Tensor } from "#tensor";
import { initialise } from "./initialise.ts";
import { trainingLoop } from "./training-loop.ts";
import { WeightTraining, weightTrainingSettings } from "./weight-training.ts";

const skip = cudaAvailable() ? false : "needs a GPU";

class Pair extends Module {
  readonly first = new Linear(16, 32, { device: "cuda" });
  readonly second = new Linear(32, 1, { device: "cuda" });
}

interface Sums {
  readonly x: Tensor;
  readonly y: Tensor;
}

async function train(cuda_graph: boolean): Promise<number[]> {
  const module = new Pair();
  initialise(module, 3);
  const settings = weightTrainingSettings.parse({
    steps: 25,
    batch_size: 8,
    lr: 1e-2,
    lr_warmup_steps: 5,
    cuda_graph,
  });
  const training = new WeightTraining(module, settings, ({ x, y }: Sums) =>
    module.second.forward(module.first.forward(x).tanh()).squeeze(1).sub(y).square().mean(),
  );
  await trainingLoop(training, "cuda", ({ device }) => {
    const x = randn([64, 16], { generator: device, device: "cuda" });
    return { x, y: x.sum(1) };
  });
  const weights = [...training.state()].filter(([name]) => name.startsWith("averages"));
  return weights.flatMap(([, value]) => value.cpu().toArray().map(Number));
}

test("captured steps give the weights of plain ones", { skip }, async () => {
  new Generator(0, "cuda").dispose();
  const [captured, plain] = [await train(true), await train(false)];
  const worst = Math.max(...captured.map((value, i) => Math.abs(value - plain[i]!)));
  assert.ok(worst < 1e-5, `differ by ${worst}`);
});
