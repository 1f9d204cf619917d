/**
 * OpenVLA as a policy: one action of D tokens at a time, decoded one after the other.
 *
 * Shapes: B batch, D numbers in an action (= tokens), V action ids.
 */
import type { ForwardInputs, PolicyStep } from "#data";
import { cat, type Tensor } from "#tensor";
import type { ActOptions } from "../policy.ts";
import type { Chain } from "../prismatic/layers.ts";
import { judge, logDistribution, sampleTokens } from "../prismatic/sampling.ts";
import { TokenPolicy } from "../prismatic/token-policy.ts";
import type { OpenVlaAnswer, OpenVlaInputs, OpenVlaModel } from "./model.ts";

export class OpenVlaPolicy extends TokenPolicy<OpenVlaModel> {
  readonly modelType = "openvla";

  protected choose(
    inputs: ForwardInputs,
    { mode, temperature = 1, topK = 0, generator }: ActOptions,
  ): PolicyStep {
    const greedy = mode === "greedy";
    const sampling = greedy ? { temperature: 1, topK: 0 } : { temperature, topK };
    const chosen: Tensor[] = [];
    const answer = this.module.decode(this.#fed(inputs), this.chunk * this.actionSize, (logits_BV) => {
      const logits_B1V = logits_BV.unsqueeze(1);
      const token_B1 = greedy
        ? logits_B1V.argmax(2)
        : sampleTokens(logDistribution(logits_B1V, sampling), generator);
      chosen.push(token_B1);
      return token_B1.squeeze(1);
    });
    const tokens_BA = cat(chosen, 1);
    return this.reader.step(inputs, tokens_BA, {
      ...judge(logDistribution(answer.logits_BAV, sampling), tokens_BA),
      values_BV: answer.values_BV,
    });
  }

  protected answer(inputs: ForwardInputs): OpenVlaAnswer {
    return this.module.forward(this.#fed(inputs), this.#ids(inputs));
  }

  protected chain(inputs: ForwardInputs): Chain<OpenVlaAnswer> {
    const { prompt, padded } = this.reader.prompt(inputs);
    return this.module.chain(this.reader.seen(inputs), prompt, this.#ids(inputs), padded);
  }

  /** Recorded absolute ids, [B, A] on the device. */
  #ids(inputs: ForwardInputs): Tensor {
    return this.reader.tokens(inputs).add(this.codec.tokens.firstId);
  }

  #fed(inputs: ForwardInputs): OpenVlaInputs {
    const { prompt, padded } = this.reader.prompt(inputs);
    return { features_BPC: this.reader.features(inputs), prompt, padded };
  }
}
