/**
 * Two vision towers side by side and the projector into the language model's space.
 *
 * Prismatic VLMs, https://arxiv.org/abs/2402.07865: DINOv2 sees geometry, SigLIP sees meaning; their patch
 * features are joined on the channel axis and passed through a three-layer perceptron.
 *
 * Shapes: B batch, N pictures, P patches per picture, C channels of both towers, D language width.
 */
import { gelu, Linear, Module, type ModuleOptions } from "#nn";
import { cat, Fork, type Tensor } from "#tensor";
import type { PrismaticConfig } from "./config.ts";
import { VisionTransformer } from "./vision-transformer.ts";

export class VisionBackbone extends Module {
  readonly featurizer: VisionTransformer;
  readonly fused_featurizer: VisionTransformer;
  #fork: Fork | undefined;

  constructor({ vision, patches }: PrismaticConfig, options: ModuleOptions) {
    super();
    this.featurizer = new VisionTransformer(vision[0], patches, options);
    this.fused_featurizer = new VisionTransformer(vision[1], patches, options);
  }

  /** On a GPU the towers may run at the same time: less latency where few pictures do not fill it. */
  sideBySide(on: boolean): void {
    this.#fork = on ? new Fork() : undefined;
  }

  /** [B, 6·N, S, S] → [B, N·P, C], picture after picture. */
  forward(pixels_BKSS: Tensor): Tensor {
    const [first, second] = this.split(pixels_BKSS);
    const see = () => this.featurizer.forward(first);
    const alsoSee = () => this.fused_featurizer.forward(second);
    return this.join(this.#fork?.run(see, alsoSee) ?? [see(), alsoSee()], pixels_BKSS.size(0));
  }

  /** What each tower sees, one picture per row: two [B·N, 3, S, S]. */
  split(pixels_BKSS: Tensor): [Tensor, Tensor] {
    const pixels_X6SS = pixels_BKSS.unflatten(1, [-1, 6]).flatten(0, 1);
    return pixels_X6SS.split(3, 1) as [Tensor, Tensor];
  }

  /** Both towers' patch features, [B·N, P, ·] each, to [B, N·P, C]. */
  join(features: readonly [Tensor, Tensor], batch: number): Tensor {
    return cat(features, 2).unflatten(0, [batch, -1]).flatten(1, 2);
  }
}

export class Projector extends Module {
  readonly fc1: Linear;
  readonly fc2: Linear;
  readonly fc3: Linear;

  constructor({ vision, text }: PrismaticConfig, options: ModuleOptions) {
    super();
    const seen = vision[0].embed_dim + vision[1].embed_dim;
    this.fc1 = new Linear(seen, 4 * seen, options);
    this.fc2 = new Linear(4 * seen, text.hidden_size, options);
    this.fc3 = new Linear(text.hidden_size, text.hidden_size, options);
  }

  forward(features_BPC: Tensor): Tensor {
    const first = gelu(this.fc1.forward(features_BPC));
    return this.fc3.forward(gelu(this.fc2.forward(first)));
  }
}
