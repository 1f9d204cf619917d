/**
 * Prismatic networks as lists of layers, for training layer by layer: only each layer's input is kept, everything
 * inside it is computed again on the way back. 7.5 billion parameters then train in the memory of their states.
 *
 * The two vision towers run side by side, so a layer there maps a pair. Where a frozen backbone's features are known,
 * the list begins behind it.
 */
import { Module } from "#nn";
import { type Layer, layerWise, noGrad, Tensor } from "#tensor";
import type { Context, Llama, Span } from "./llama.ts";
import type { VisionBackbone } from "./vision-backbone.ts";
import type { VisionTransformer } from "./vision-transformer.ts";

export interface Chain<Answer> {
  readonly layers: readonly Layer[];
  /** What the first layer is fed. */
  readonly inputs: readonly Tensor[];
  /** From the last layer's output to logits and values: little work, left to an ordinary graph. */
  readonly answer: (hidden: Tensor) => Answer;
}

/** Pixels [B, 6·N, S, S], or what a frozen backbone made of them, [B, N·P, C]. */
export type Seen =
  | { readonly pixels_BKSS: Tensor; readonly features_BPC?: undefined }
  | { readonly features_BPC: Tensor };

type Sighted = Module & { readonly vision_backbone: VisionBackbone };
type Speaking = Module & { readonly language_model: Llama };

/** Runs the chain, asks for the loss of its answer, and adds all gradients to `.grad`, as one backward pass would. */
export function learnByLayers<Answer>(
  module: Module,
  chain: Chain<Answer>,
  lossOf: (answer: Answer) => Tensor,
): void {
  const run = layerWise(chain.layers, chain.inputs);
  try {
    const hidden = run.outputs[0]!.detach().requiresGrad_();
    lossOf(chain.answer(hidden)).backward();
    run.backward([hidden.grad], accumulateInto(module.namedParameters()), { ofInputs: false });
  } finally {
    run.dispose();
  }
}

export const accumulateInto =
  (weights: ReadonlyMap<string, Tensor>) =>
  (name: string, gradient: Tensor): void => {
    const weight = weights.get(name)!;
    const before = weight.grad;
    if (before) noGrad(() => before.add_(gradient));
    else weight.grad = gradient;
  };

/** Every layer of the language model; the last answers only for the span that is read. */
export function decoderLayers(module: Speaking, context: Context, asked?: Span): Layer[] {
  return module.language_model.model.layers.map((layer, i, all) => {
    const span = i === all.length - 1 ? asked : undefined;
    return {
      parameters: trainable(module, [`language_model.model.layers.${i}`]),
      forward: ([x_BLD]) => [layer.forward(x_BLD!, context, span)],
    };
  });
}

/** Pixels → a pair of token rows, one per tower → … → the features of both. */
export function visionLayers(module: Sighted, batch: number): Layer[] {
  const { vision_backbone: backbone } = module;
  const { featurizer: left, fused_featurizer: right } = backbone;
  const paths = ["vision_backbone.featurizer", "vision_backbone.fused_featurizer"];
  const embed: Layer = {
    parameters: trainable(
      module,
      paths.flatMap((path) => outsideBlocks.map((part) => `${path}.${part}`)),
    ),
    forward: ([pixels_BKSS]) => {
      const [first, second] = backbone.split(pixels_BKSS!);
      return [left.embed(first), right.embed(second)];
    },
  };
  const depth = Math.max(left.usedBlocks.length, right.usedBlocks.length);
  const blocks = Array.from(
    { length: depth },
    (_, i): Layer => ({
      parameters: trainable(
        module,
        paths.map((path) => `${path}.blocks.${i}`),
      ),
      forward: ([x, y]) => [block(left, i, x!), block(right, i, y!)],
    }),
  );
  const read: Layer = {
    parameters: new Map(),
    forward: ([x, y]) => [backbone.join([left.features(x!), right.features(y!)], batch)],
  };
  return [embed, ...blocks, read];
}

/** Block number `i`; a tower with fewer passes its tokens on, as a tensor of its own. */
const block = (tower: VisionTransformer, i: number, x: Tensor): Tensor =>
  tower.usedBlocks[i]?.forward(x) ?? x.view(x.shape);

const outsideBlocks = ["cls_token", "reg_token", "pos_embed", "patch_embed"];

/** Parameters at or below some paths that want gradients, by their names in the whole network. */
export function trainable(module: Module, paths: readonly string[]): Map<string, Tensor> {
  const found = new Map<string, Tensor>();
  for (const path of paths) {
    const part = path
      .split(".")
      .reduce<unknown>((at, field) => (at as Record<string, unknown>)?.[field], module);
    if (part instanceof Tensor) found.set(path, part);
    else if (part instanceof Module)
      for (const [name, weight] of part.namedParameters(`${path}.`)) found.set(name, weight);
  }
  return new Map([...found].filter(([, weight]) => weight.requiresGrad));
}
