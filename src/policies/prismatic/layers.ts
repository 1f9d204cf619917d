/**
 * Prismatic networks as lists of layers, for training layer by layer: only each layer's input is kept, everything
 * inside it is computed again on the way back. 7.5 billion parameters then train in the memory of their states.
 *
 * The two vision towers run side by side, so a layer there maps a pair. Where a frozen backbone's features are known,
 * the list begins behind it.
 */
import { Module } from "#nn";
import { type Layer, layerWise, noGrad, scope, Tensor } from "#tensor";
import type { Part, WeightKeeper } from "../policy.ts";
import type { Context, Llama, Span } from "./llama.ts";
import type { VisionBackbone } from "./vision-backbone.ts";
import type { VisionTransformer } from "./vision-transformer.ts";

/** A layer, and where its weights are. */
export interface PlacedLayer extends Layer {
  readonly part: Part;
}

export interface Chain<Answer> {
  readonly layers: readonly PlacedLayer[];
  /** What the first layer is fed. */
  readonly inputs: readonly Tensor[];
  /** From the last layer's output to logits and values: little work, left to an ordinary graph. */
  readonly answer: (hidden: Tensor) => Answer;
  /** What the answer reads. */
  readonly answerPart: Part;
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
  keeper?: WeightKeeper,
): void {
  const run = layerWise(keptBy(keeper, chain.layers), chain.inputs);
  try {
    const hidden = run.outputs[0]!.detach().requiresGrad_();
    keeper?.bring(chain.answerPart);
    scope(() => lossOf(chain.answer(hidden)).backward());
    keeper?.take(chain.answerPart, "backward");
    run.backward([hidden.grad], accumulateInto(module.namedParameters()), { ofInputs: false });
  } finally {
    run.dispose();
  }
}

/** Layers that bring their weights and give them back, where somebody keeps them. */
export const keptBy = (keeper: WeightKeeper | undefined, layers: readonly PlacedLayer[]): readonly Layer[] =>
  keeper
    ? layers.map((layer) => ({
        ...layer,
        gather: () => keeper.bring(layer.part),
        free: (after) => keeper.take(layer.part, after),
      }))
    : layers;

export const accumulateInto =
  (weights: ReadonlyMap<string, Tensor>) =>
  (name: string, gradient: Tensor): void => {
    const weight = weights.get(name)!;
    const before = weight.grad;
    if (before) noGrad(() => before.add_(gradient));
    else weight.grad = gradient;
  };

/** Every layer of the language model; the last answers only for the span that is read. */
export function decoderLayers(module: Speaking, context: Context, asked?: Span): PlacedLayer[] {
  const parts = decoderParts(module);
  return module.language_model.model.layers.map((layer, i, all) => {
    const span = i === all.length - 1 ? asked : undefined;
    return {
      ...placed(module, parts[i]!),
      forward: ([x_BLD]) => [layer.forward(x_BLD!, context, span)],
    };
  });
}

/** Pixels → a pair of token rows, one per tower → … → the features of both. */
export function visionLayers(module: Sighted, batch: number): PlacedLayer[] {
  const { vision_backbone: backbone } = module;
  const { featurizer: left, fused_featurizer: right } = backbone;
  const { before, blocks: parts } = visionParts(module);
  const embed: PlacedLayer = {
    ...placed(module, before),
    forward: ([pixels_BKSS]) => {
      const [first, second] = backbone.split(pixels_BKSS!);
      return [left.embed(first), right.embed(second)];
    },
  };
  const blocks = parts.map(
    (part, i): PlacedLayer => ({
      ...placed(module, part),
      forward: ([x, y]) => [block(left, i, x!), block(right, i, y!)],
    }),
  );
  const read: PlacedLayer = {
    ...placed(module, []),
    forward: ([x, y]) => [backbone.join([left.features(x!), right.features(y!)], batch)],
  };
  return [embed, ...blocks, read];
}

export const decoderParts = ({ language_model }: Speaking): Part[] =>
  language_model.model.layers.map((_, i) => [`language_model.model.layers.${i}`]);

/** What `visionLayers` reads, layer by layer; and what is in the files and read by nobody. */
export function visionParts({ vision_backbone }: Sighted): { before: Part; blocks: Part[]; unread: Part } {
  const { featurizer: left, fused_featurizer: right } = vision_backbone;
  const both = (...fields: string[]): string[] =>
    ["vision_backbone.featurizer", "vision_backbone.fused_featurizer"].flatMap((path) =>
      fields.map((field) => `${path}.${field}`),
    );
  const depth = Math.max(left.usedBlocks.length, right.usedBlocks.length);
  return {
    before: both(...outsideBlocks),
    blocks: Array.from({ length: depth }, (_, i) => both(`blocks.${i}`)),
    unread: both(`blocks.${depth}`, "norm", "attn_pool"),
  };
}

export const placed = (module: Module, part: Part): Pick<PlacedLayer, "part" | "parameters"> => ({
  part,
  parameters: trainable(module, part),
});

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
