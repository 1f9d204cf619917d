/**
 * What a training step cannot be faster than, measured just before it on the same machine: the bare forward pass, the bare forward and
 * backward pass, envs that nobody decides for, and the rate of one large matrix product.
 *
 * The network that is measured is then written to disk, so that the steps begin from the same weights.
 */

import { CapturedForward } from "#nn";
import { type Device, noGrad, randint, randn, scope, type Tensor } from "#tensor";
import type { OpenVlaOftModel } from "../src/policies/openvla-oft/model.ts";
import type { PrismaticConfig } from "../src/policies/prismatic/config.ts";
import {
  actionTokens,
  type BenchInputs,
  forwardOperations,
  type Place,
  randomInputs,
  randomNetwork,
} from "./openvla-network.ts";
import { logitsOf, milliseconds } from "./policy-measure.ts";
import { adapt, learnChunk } from "./policy-training.ts";

/** Per second: what the bare pass over one batch reaches, and what the matrix rate alone would allow. */
export interface Pair {
  readonly bare: number;
  readonly matrix: number;
}

export interface Limits {
  readonly decisions: Pair; // forward
  readonly samples: Readonly<Record<Mode, Pair | undefined>>; // forward and backward, where measured
}

export type Mode = "lora" | "full";

/** Passes of the forward pass's size: forward, once more behind checkpoints, and back through inputs (and weights). */
const passes: Readonly<Record<Mode, number>> = { lora: 3, full: 4 };

export interface LimitWishes {
  readonly config: PrismaticConfig;
  readonly place: Place;
  readonly slots: number;
  readonly microBatch: number;
  readonly modes: readonly Mode[];
  /** Given the network while it is plain. */
  readonly write: (module: OpenVlaOftModel) => void;
}

export function measureLimits(wishes: LimitWishes): Limits {
  const { config, place, slots, microBatch, modes, write } = wishes;
  const module = randomNetwork(config, place);
  const rate = matrixRate(place) / forwardOperations(config); // forward passes of one sample a second
  const bare = (1e3 * slots) / forwardMilliseconds(module, randomInputs(config, slots, place), place.device);
  write(module);
  const learning = (mode: Mode): Pair | undefined => {
    if (!modes.includes(mode)) return undefined;
    if (mode === "lora") adapt(module);
    const ms = learnMilliseconds(module, config, microBatch, place);
    return { bare: (1e3 * microBatch) / ms, matrix: rate / passes[mode] };
  };
  const full = learning("full"); // before the network is adapted
  const samples = { full, lora: learning("lora") };
  module.dispose();
  return { decisions: { bare, matrix: rate }, samples };
}

/** Operations a second of a large square product. */
function matrixRate(place: Place): number {
  const side = place.device === "cpu" ? 256 : 8192;
  const [a, b] = [randn([side, side], place), randn([side, side], place)];
  const product = () => scope(() => void a.matmul(b));
  milliseconds(product, 5);
  const best = Math.min(...[1, 2, 3].map(() => milliseconds(product, 10)));
  for (const tensor of [a, b]) tensor.dispose();
  return (1e3 * 2 * side ** 3) / best;
}

function forwardMilliseconds(module: OpenVlaOftModel, inputs: BenchInputs, device: Device): number {
  const captured = new CapturedForward(
    (given) => ({ logits: logitsOf(module, given as unknown as BenchInputs) }),
    { sightings: device === "cpu" ? Infinity : 0, most: 1 },
  );
  const forward = () => noGrad(() => scope(() => void captured.run({ ...inputs })));
  forward();
  const best = Math.min(milliseconds(forward, 2), milliseconds(forward, 2));
  captured.clear();
  for (const tensor of Object.values(inputs)) (tensor as Tensor).dispose();
  return best;
}

function learnMilliseconds(
  module: OpenVlaOftModel,
  config: PrismaticConfig,
  batch: number,
  place: Place,
): number {
  const inputs = randomInputs(config, batch, place);
  const tokens_BA1 = randint(0, config.actionBins, [batch, actionTokens, 1], { device: place.device });
  const learn = () => scope(() => learnChunk(module, inputs, tokens_BA1));
  learn();
  const ms = milliseconds(learn, 2);
  for (const weight of module.parameters()) {
    weight.grad?.dispose();
    weight.grad = null;
  }
  for (const tensor of [...Object.values(inputs), tokens_BA1]) tensor.dispose();
  return ms;
}
