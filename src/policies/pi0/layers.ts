/**
 * π0 as a list of layers, for training in less memory: only each layer's input is kept, everything inside it is
 * computed again on the way back.
 *
 * Both towers advance together, one layer of each at a time, since the expert's reads what PaliGemma's remembers. When
 * PaliGemma is frozen its memories are known, and only the expert is in the list. What flows from layer to layer is
 * a row of tensors: PaliGemma's tokens (if it is there), the expert's tokens of each pass, and in π0.5 each pass's
 * condition, which every layer reads and passes on.
 *
 * Shapes: B batch, P prefix tokens, S suffix tokens, D width of a tower, H actions of the horizon.
 */
import { layerWise, scope, type Tensor } from "#tensor";
import type { Part, WeightKeeper } from "../policy.ts";
import { accumulateInto, keptBy, type PlacedLayer, placed } from "../prismatic/layers.ts";
import type { Scene } from "./denoiser.ts";
import type { KeysAndValues } from "./gemma.ts";
import type { Seen } from "./looking.ts";
import type { Pi0Model, PrefixInputs } from "./model.ts";
import { type Reading, type SuffixContext, seenBy } from "./towers.ts";

/** A question to the expert. */
interface Question {
  readonly x_BHA: Tensor;
  readonly time_B: Tensor;
}

export interface Answers {
  /** Of each question, float32 [B, H, D]. */
  readonly ofExpert: readonly Tensor[];
  readonly output_BPD: Tensor | undefined;
}

export interface Pi0Chain {
  readonly layers: readonly PlacedLayer[];
  readonly inputs: readonly Tensor[];
  readonly answer: (outputs: readonly Tensor[]) => Answers;
  /** What the answer, and what is made of it, reads. */
  readonly answerPart: Part;
}

const suffixParts = [
  "action_in_proj",
  "state_proj",
  "action_time_mlp_in",
  "action_time_mlp_out",
  "time_mlp_in",
  "time_mlp_out",
];
const vlm = "paligemma_with_expert.paligemma.model";
const eyes = `${vlm}.vision_tower.vision_model`;
const joinParts = [
  `${eyes}.post_layernorm`,
  `${vlm}.multi_modal_projector.linear`,
  "paligemma_with_expert.paligemma.lm_head",
];
const expert = "paligemma_with_expert.gemma_expert.model";
const lookPart: Part = [`${eyes}.embeddings.patch_embedding`, `${eyes}.embeddings.position_embedding`];
const expertAnswer: Part = [`${expert}.norm`, "action_out_proj", "noise_head", "value_head"];
const wholeAnswer: Part = [...expertAnswer, `${vlm}.language_model.norm`];

/** Every piece of the chain that such a reading learns by. What a frozen PaliGemma holds is in none. */
export function partsOf(model: Pi0Model, { trained }: Reading): Part[] {
  const towers = model.paligemma_with_expert;
  const depth = [...towers.gemma_expert.model.layers.keys()];
  if (!trained) return [suffixParts, ...depth.map((i) => [`${expert}.layers.${i}`]), expertAnswer];
  const blocks = towers.paligemma.model.vision_tower.vision_model.encoder.layers;
  return [
    lookPart,
    ...blocks.map((_, i) => [`${eyes}.encoder.layers.${i}`]),
    [...joinParts, ...suffixParts],
    ...depth.map(jointPart),
    wholeAnswer,
  ];
}

const jointPart = (i: number): Part => [`${vlm}.language_model.layers.${i}`, `${expert}.layers.${i}`];

/** Runs the chain, asks for the loss of its answers, and adds all gradients to `.grad`, as one backward pass would. */
export function learnByChain(
  module: Pi0Model,
  chain: Pi0Chain,
  lossOf: (answers: Answers) => Tensor,
  keeper?: WeightKeeper,
): void {
  const run = layerWise(keptBy(keeper, chain.layers), chain.inputs);
  try {
    const outputs = run.outputs.map((output) => output.detach().requiresGrad_());
    keeper?.bring(chain.answerPart);
    scope(() => lossOf(chain.answer(outputs)).backward());
    keeper?.take(chain.answerPart, "backward");
    const gradients = outputs.map(({ grad }) => grad);
    run.backward(gradients, accumulateInto(module.namedParameters()), { ofInputs: false });
  } finally {
    run.dispose();
  }
}

/** The expert alone, over memories that are known. */
export function expertChain(model: Pi0Model, scene: Scene, questions: readonly Question[]): Pi0Chain {
  const { memory, state_BA } = scene;
  const context = contextOf(model, memory, questions[0]!);
  const enter: PlacedLayer = {
    ...placed(model, suffixParts),
    forward: (xs) => embedAll(model, state_BA, questions, xs),
  };
  const layers = memory.layers.map(
    (remembered, i): PlacedLayer => ({
      ...placed(model, [`${expert}.layers.${i}`]),
      forward: (flow) => suffixLayers(model, i, flow, questions.length, remembered, context),
    }),
  );
  return {
    layers: [enter, ...layers],
    inputs: questions.map(({ x_BHA }) => x_BHA),
    answer: (flow) => ({
      ofExpert: leaveAll(model, flow, questions.length),
      output_BPD: memory.output_BPD,
    }),
    answerPart: expertAnswer,
  };
}

/** Everything, from pixels on. */
export function wholeChain(
  model: Pi0Model,
  inputs: PrefixInputs,
  state_BA: Tensor,
  questions: readonly Question[],
  how: Reading,
): Pi0Chain {
  const { norm } = model.paligemma_with_expert.paligemma.model.language_model;
  const meet: PlacedLayer = {
    ...placed(model, [...joinParts, ...suffixParts]),
    forward: ([seen_XPD]) => [
      model.joinPrefix(model.paligemma_with_expert.project(seen_XPD!), inputs).embeddings_BPD,
      ...embedAll(
        model,
        state_BA,
        questions,
        questions.map(({ x_BHA }) => x_BHA),
      ),
    ],
  };
  return {
    layers: [...visionLayers(model), meet, ...jointLayers(model, inputs, questions, how)],
    inputs: [model.pictures(inputs)],
    answer: ([x_BPD, ...flow]) => ({
      ofExpert: leaveAll(model, flow, questions.length),
      output_BPD: how.whole ? norm.forward(x_BPD!).x_BLD : undefined,
    }),
    answerPart: wholeAnswer,
  };
}

function visionLayers(model: Pi0Model): PlacedLayer[] {
  const { vision_model: vision } = model.paligemma_with_expert.paligemma.model.vision_tower;
  const look: PlacedLayer = {
    ...placed(model, lookPart),
    forward: ([pixels_XCSS]) => [vision.embed(pixels_XCSS!)],
  };
  const blocks = vision.encoder.layers.map(
    (layer, i): PlacedLayer => ({
      ...placed(model, [`${eyes}.encoder.layers.${i}`]),
      forward: ([x_XPD]) => [layer.forward(x_XPD!)],
    }),
  );
  return [look, ...blocks];
}

/** One layer of both towers at a time. */
function jointLayers(
  model: Pi0Model,
  inputs: PrefixInputs,
  questions: readonly Question[],
  how: Reading,
): PlacedLayer[] {
  const towers = model.paligemma_with_expert;
  const layout = model.layoutOf(inputs);
  const context = towers.prefixContext(layout, how);
  const suffix = contextOf(model, seenBy(layout), questions[0]!);
  return towers.gemma_expert.model.layers.map((_, i) => ({
    ...placed(model, jointPart(i)),
    forward: ([x_BPD, ...flow]) => {
      const done = towers.prefixLayer(i, x_BPD!, context);
      const next_BPD = done.x_BPD === x_BPD ? passedOn(done.x_BPD) : done.x_BPD;
      return [next_BPD, ...suffixLayers(model, i, flow, questions.length, done.memory, suffix)];
    },
  }));
}

/** The same numbers as a tensor of its own: a layer's output may not be its input. */
const passedOn = (x: Tensor): Tensor => x.view(x.shape);

const contextOf = (model: Pi0Model, seen: Seen, { x_BHA }: Question): SuffixContext =>
  model.paligemma_with_expert.suffixContext(seen, model.blockFlags().length, model.sees(x_BHA.device));

/** Each question's tokens, then each question's condition. */
function embedAll(
  model: Pi0Model,
  state_BA: Tensor,
  questions: readonly Question[],
  xs: readonly Tensor[],
): Tensor[] {
  const suffixes = questions.map(({ time_B }, i) => model.embedSuffix(state_BA, xs[i]!, time_B));
  return [
    ...suffixes.map(({ embeddings_BSD }) => model.paligemma_with_expert.enter(embeddings_BSD)),
    ...suffixes.flatMap(({ condition_BD }) => condition_BD ?? []),
  ];
}

function suffixLayers(
  model: Pi0Model,
  i: number,
  flow: readonly Tensor[],
  count: number,
  memory: KeysAndValues,
  context: SuffixContext,
): Tensor[] {
  const towers = model.paligemma_with_expert;
  const [tokens, conditions] = [flow.slice(0, count), flow.slice(count)];
  return [
    ...tokens.map((x_BSD, q) => towers.suffixLayer(i, x_BSD, memory, context, conditions[q])),
    ...conditions.map(passedOn),
  ];
}

const leaveAll = (model: Pi0Model, flow: readonly Tensor[], count: number): Tensor[] =>
  flow
    .slice(0, count)
    .map((x_BSD, q) => model.ofActions(model.paligemma_with_expert.leave(x_BSD, flow[count + q])));
