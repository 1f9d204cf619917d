/**
 * The OpenVLA-OFT network as a policy: acts, judges what it did, and learns from demonstrations.
 *
 * Acting and judging run the same operations on the same shapes, so in float32 their numbers are equal to the bit
 * for the same batch.
 */
import type { ForwardInputs, PolicyStep } from "#data";
import { CapturedForward } from "#nn";
import type { Tensor } from "#tensor";
import type { ActOptions } from "../policy.ts";
import type { Chain } from "../prismatic/layers.ts";
import type { PrismaticParts } from "../prismatic/reader.ts";
import { judge, logDistribution, sampleTokens } from "../prismatic/sampling.ts";
import { TokenPolicy } from "../prismatic/token-policy.ts";
import type { OftAnswer, OpenVlaOftModel } from "./model.ts";

export class OpenVlaOftPolicy extends TokenPolicy<OpenVlaOftModel> {
  readonly modelType = "openvla_oft";
  readonly #captured: CapturedForward | undefined;

  constructor(parts: PrismaticParts<OpenVlaOftModel>) {
    super(parts);
    this.#captured = parts.cudaGraphs
      ? new CapturedForward((inputs, variant) => this.#capturable(inputs, variant))
      : undefined;
  }

  protected choose(
    inputs: ForwardInputs,
    { mode, temperature = 1, topK = 0, generator }: ActOptions,
  ): PolicyStep {
    const { logits_BAV, values_BV } = this.#captured
      ? this.#replay(this.#captured, inputs)
      : this.answer(inputs);
    const greedy = mode === "greedy";
    const logProbs_BAV = logDistribution(
      logits_BAV,
      greedy ? { temperature: 1, topK: 0 } : { temperature, topK },
    );
    const tokens_BA = greedy ? logits_BAV.argmax(2) : sampleTokens(logProbs_BAV, generator);
    return this.reader.step(inputs, tokens_BA, { ...judge(logProbs_BAV, tokens_BA), values_BV });
  }

  /** The same forward pass by a captured graph; all that it reads is on the device. */
  #replay(captured: CapturedForward, inputs: ForwardInputs): OftAnswer {
    const { device } = this;
    const { prompt, padded } = this.reader.prompt(inputs);
    const seen = inputs.vision_features ? "vision_features" : "images";
    const { logits, values } = captured.run(
      {
        [seen]: inputs[seen]!.to({ device }),
        input_ids: prompt.ids_BL,
        attention_mask: prompt.mask_BL,
        ...(inputs.proprio && { proprio: inputs.proprio.to({ device }) }),
      },
      padded ? "padded" : "whole",
    );
    return { logits_BAV: logits!, values_BV: values };
  }

  #capturable(inputs: ForwardInputs, variant: string): Record<string, Tensor> {
    const prompt = { ids_BL: inputs.input_ids!, mask_BL: inputs.attention_mask! };
    const fed = { features_BPC: this.reader.features(inputs), prompt, proprio_BQ: inputs.proprio };
    const { logits_BAV, values_BV } = this.module.forward(fed, variant === "padded");
    return { logits: logits_BAV, ...(values_BV && { values: values_BV }) };
  }

  protected answer(inputs: ForwardInputs): OftAnswer {
    const { prompt, padded } = this.reader.prompt(inputs);
    const proprio_BQ = inputs.proprio?.to({ device: this.device });
    return this.module.forward({ features_BPC: this.reader.features(inputs), prompt, proprio_BQ }, padded);
  }

  protected chain(inputs: ForwardInputs): Chain<OftAnswer> {
    const { prompt, padded } = this.reader.prompt(inputs);
    const rest = { prompt, proprio_BQ: inputs.proprio?.to({ device: this.device }) };
    return this.module.chain(this.reader.seen(inputs), rest, inputs.images!.size(1), padded);
  }

  weightsMoved(): void {
    this.#captured?.clear();
  }

  override dispose(): void {
    this.#captured?.clear();
    super.dispose();
  }
}
