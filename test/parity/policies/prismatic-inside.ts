/** Numbers from inside the network: pixels, features of both towers, the sequence, first and last layer, logits. */
import type { ForwardInputs } from "#data";
import type { Tensor } from "#tensor";
import { OpenVlaOftPolicy } from "../../../src/policies/openvla-oft/oft-policy.ts";
import type { Comparison } from "./comparison.ts";
import type { PrismaticCase, PrismaticPolicy } from "./prismatic-case.ts";

export function compareInside(
  it: PrismaticCase,
  policy: PrismaticPolicy,
  inputs: ForwardInputs,
  comparison: Comparison,
): void {
  const { outputs } = it;
  const check = (
    name: string,
    ours: () => Tensor,
    quantity: "pixels" | "features" | "exact" | "logits",
  ): void => {
    const theirs = outputs.get(name);
    if (!theirs) return;
    if (quantity === "pixels" || quantity === "exact") comparison.absolute(name, ours(), theirs, quantity);
    else comparison.relative(name, ours(), theirs, quantity);
  };
  const { module, dtype } = policy;
  const { vision_backbone: backbone, projector } = module;
  const images = inputs.images!.to({ device: policy.device });
  check("pixel_values", () => policy.images.pixels(images, "float32"), "pixels");
  const pixels = policy.images.pixels(images, dtype);
  const firstPicture = pixels.narrow(1, 0, 6);
  check("dino_features", () => backbone.featurizer.forward(firstPicture.narrow(1, 0, 3)), "features");
  check("siglip_features", () => backbone.fused_featurizer.forward(firstPicture.narrow(1, 3, 3)), "features");
  const features = module.see(pixels);
  check("vision_features", () => features, "features");
  check("projected", () => projector.forward(features), "features");
  if (policy instanceof OpenVlaOftPolicy) compareSequence(policy, inputs, features, check);
}

type Check = (name: string, ours: () => Tensor, quantity: "features" | "exact" | "logits") => void;

function compareSequence(
  policy: OpenVlaOftPolicy,
  inputs: ForwardInputs,
  features_BPC: Tensor,
  check: Check,
): void {
  const { module, device } = policy;
  const prompt = { ids_BL: inputs.input_ids!.to({ device }), mask_BL: inputs.attention_mask!.to({ device }) };
  const proprio_BQ = inputs.proprio?.to({ device });
  const fed = { features_BPC, prompt, proprio_BQ };
  const layout = module.layout(prompt.mask_BL, module.seenTokens(inputs.images!.size(1)));
  const context = module.context(layout, true);
  const embeddings_BSD = module.embed(fed, layout);
  check("mm_attention_mask", () => layout.mask_BS.long(), "exact");
  check("position_ids", () => layout.positions_BS, "exact");
  check("mm_embeddings", () => embeddings_BSD, "features");
  const { model } = module.language_model;
  check("hidden_layer1", () => model.layers[0]!.forward(embeddings_BSD, context), "features");
  const hidden = module.language_model.layers(embeddings_BSD, context);
  check("last_hidden_state", () => model.norm.forward(hidden), "features");
  check("action_logits_256", () => module.answer(hidden, layout).logits_BAV, "logits");
}
