import assert from "node:assert/strict";
import { test } from "node:test";
import { Linear, Module } from "#nn";
import { cudaAvailable, Generator, randn, type Tensor, useKernels } from "#tensor";
import { AutoencoderKL } from "#worlds";
import { tinyRecording } from "../../../test/support/tiny-recording.ts";
import { RecordedFrames } from "../frames/recorded-frames.ts";
import { actionStatistics, openSoraDenoiserCourse, openSoraDenoiserSettings } from "../opensora/denoiser.ts";
import { initialize } from "./initialize.ts";
import { trainingLoop } from "./training-loop.ts";
import { WeightTraining, weightTrainingSettings } from "./weight-training.ts";

const vaeSizes = {
  block_out_channels: [8, 16],
  layers_per_block: 1,
  latent_channels: 4,
  in_channels: 3,
  out_channels: 3,
  scaling_factor: 1,
};
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
  initialize(module, 3);
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

/** Losses of a tiny denoiser in bfloat16, on the same lessons. */
async function denoiserLosses(kernels: boolean, cuda_graph: boolean): Promise<number[]> {
  const frames = new RecordedFrames([tinyRecording(24)], "cuda");
  const vae = new AutoencoderKL({ ...vaeSizes, norm_num_groups: 4 }, { device: "cuda" });
  initialize(vae, 1);
  const settings = openSoraDenoiserSettings.parse({
    steps: 12,
    batch_size: 8,
    lr: 1e-3,
    lr_warmup_steps: 2,
    depth: 2,
    hidden_size: 96,
    num_heads: 2,
    patch_size: [1, 1, 1],
    precision: "bf16",
    cuda_graph,
  });
  const before = useKernels(kernels);
  const { training, teacher } = openSoraDenoiserCourse(frames, vae, settings, actionStatistics(frames));
  const losses: number[] = [];
  const hooks = { reportEvery: 1, onProgress: ({ loss }: { loss: number }) => void losses.push(loss) };
  await trainingLoop(training, "cuda", teacher, hooks);
  useKernels(before);
  return losses;
}

test("a denoiser learns with fused kernels as without, captured and not", { skip }, async () => {
  const plain = await denoiserLosses(false, false);
  for (const cuda_graph of [false, true]) {
    const fused = await denoiserLosses(true, cuda_graph);
    for (const [i, loss] of fused.entries()) {
      const off = Math.abs(loss / plain[i]! - 1);
      assert.ok(off < 0.02, `step ${i + 1}, captured: ${cuda_graph}: ${loss} instead of ${plain[i]}`);
    }
  }
});
