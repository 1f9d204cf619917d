/** A training step: forward, backward layer by layer, AdamW; all parameters or LoRA, against PyTorch with checkpointing. */
import { AdamW } from "#optimization";
import { deviceMemory, Generator, randint, scope, type Tensor } from "#tensor";
import { addAdapters, initializeAdapters, openVlaTargets } from "../src/policies/lora.ts";
import type { OpenVlaOftModel } from "../src/policies/openvla-oft/model.ts";
import { learnByLayers } from "../src/policies/prismatic/layers.ts";
import { actionTokens, type BenchInputs, randomInputs } from "./openvla-network.ts";
import { ask, type Bench, freed, milliseconds, report, type Timed } from "./policy-measure.ts";
import { lessIsBetter, moreIsBetter } from "./row.ts";

export async function training(state: Bench, module: OpenVlaOftModel, lora: boolean): Promise<void> {
  const batch = state.tiny ? 2 : 32;
  const ours = trainOurs(state, module, batch, lora);
  const theirs = await ask(state, { kind: "train", batch, count: 2, lora });
  await state.reference.ask({ kind: "release" });
  const name = `training step, batch ${batch}, ${lora ? "LoRA r32" : "all parameters"}`;
  const rate = (ms: number) => (1e3 * batch) / ms;
  report(
    state,
    lessIsBetter({ name, unit: "ms", ours: ours.ms, reference: theirs.ms, goal: 1 }),
    moreIsBetter({ name: `${name}: samples`, unit: "1/s", ours: rate(ours.ms), reference: rate(theirs.ms) }),
  );
  if (state.place.device !== "cuda") return;
  const peak = { ours: ours.peak_gb, reference: theirs.peak_gb };
  report(state, lessIsBetter({ name: `${name}: peak memory`, unit: "GB", ...peak, goal: 1 }));
}

function trainOurs(state: Bench, module: OpenVlaOftModel, batch: number, lora: boolean): Timed {
  const { place, config } = state;
  if (lora) adapt(module);
  const inputs = randomInputs(config, batch, place);
  const generator = new Generator(4, place.device);
  const tokens_BA1 = randint(0, config.actionBins, [batch, actionTokens, 1], {
    generator,
    device: place.device,
  });
  const learn = () => scope(() => learnChunk(module, inputs, tokens_BA1));
  learn();
  // moments only for what learns, as torch.optim makes them: some vision blocks are never computed
  const learning = scope(
    () => new Map([...module.namedParameters()].filter(([, weight]) => weight.grad !== null)),
  );
  const adam = new AdamW([{ parameters: learning, lr: 1e-5, weightDecay: 0.01 }]);
  const update = () =>
    scope(() => {
      adam.step();
      adam.zeroGrad();
    });
  const step = () => {
    learn();
    update();
  };
  update();
  step();
  const cuda = place.device === "cuda";
  if (cuda) deviceMemory(0, true);
  const ms = milliseconds(step, 2);
  const peak_gb = cuda ? deviceMemory().allocatedPeak / 1e9 : 0;
  adam.dispose();
  freed(state, [...Object.values(inputs), tokens_BA1]);
  return { ms, peak_gb };
}

/** Adapters of rank 32 on every linear layer; nothing else learns. */
export function adapt(module: OpenVlaOftModel): void {
  const { device } = module.language_model.model.norm.weight;
  addAdapters(module, { rank: 32, alpha: 32, targets: openVlaTargets });
  initializeAdapters(module, new Generator(3, device));
}

/** Gradients of minus the mean log-probability of the given tokens. */
export function learnChunk(
  module: OpenVlaOftModel,
  { pixels_BKSS, ids_BL, mask_BL }: BenchInputs,
  tokens_BA1: Tensor,
): void {
  const chain = module.chain({ pixels_BKSS }, { prompt: { ids_BL, mask_BL } }, 1, false);
  learnByLayers(module, chain, ({ logits_BAV }) =>
    logits_BAV.logSoftmax(2).gather(2, tokens_BA1).mean().neg(),
  );
}
