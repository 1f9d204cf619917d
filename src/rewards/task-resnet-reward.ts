/**
 * `TaskEmbedResnetRewModel`: a success classifier that is told the task, for suites whose scenes look alike.
 *
 * The task is a number looked up from the exact instruction; an unknown instruction is refused.
 *
 * Shapes: N pictures in [-1, 1], F picture features, E width of a task's embedding.
 */
import { Embedding, Linear, Module, type ModuleOptions } from "#nn";
import { UserError } from "#registry";
import { aten, cat, type Device, type DType, scope, Tensor, tensor } from "#tensor";
import { runTrunk, type TrunkLayers, type TrunkWidths, trunkLayers } from "./resnet-trunk.ts";
import type { RewardModel } from "./reward-model.ts";

export interface TaskResnetSizes {
  readonly widths: TrunkWidths;
  readonly tasks: number;
  readonly embedding: number;
  readonly hidden: number;
}

export const publishedTaskResnet: TaskResnetSizes = {
  widths: [64, 128, 256, 512],
  tasks: 10,
  embedding: 64,
  hidden: 256,
};

class Network extends Module {
  readonly visual_encoder: TrunkLayers;
  readonly task_embedding: Embedding;
  readonly fusion_layer: { readonly "0": Linear; readonly "3": Linear };

  constructor({ widths, tasks, embedding, hidden }: TaskResnetSizes, options: ModuleOptions) {
    super();
    this.visual_encoder = trunkLayers(widths, options);
    this.task_embedding = new Embedding(tasks, embedding, options);
    this.fusion_layer = {
      "0": new Linear(widths[3] + embedding, hidden, options),
      "3": new Linear(hidden, 1, options),
    };
  }
}

export class TaskResnetReward implements RewardModel {
  readonly name = "TaskEmbedResnetRewModel";
  readonly network: Network;
  readonly #taskIds: ReadonlyMap<string, number>;

  /** `instructions[i]` is the sentence of task i. */
  constructor(instructions: readonly string[], sizes = publishedTaskResnet, options: ModuleOptions = {}) {
    if (instructions.length > sizes.tasks) {
      throw new UserError(
        `the reward model knows ${sizes.tasks} tasks, but ${instructions.length} instructions were given`,
      );
    }
    this.network = new Network(sizes, options);
    this.#taskIds = new Map(instructions.map((sentence, task) => [sentence, task]));
  }

  /** [N, 1], for pictures of the given task numbers. */
  logits(frames_NCHW: Tensor, tasks: readonly number[] | Tensor): Tensor {
    const { visual_encoder, task_embedding, fusion_layer } = this.network;
    const { dtype, device } = task_embedding.weight;
    const seen_NF = runTrunk(visual_encoder, frames_NCHW.clamp(-1, 1).to({ dtype, device }));
    const ids = tasks instanceof Tensor ? tasks : tensor([...tasks], { dtype: "int64", device });
    const told_NE = task_embedding.forward(ids);
    return fusion_layer["3"].forward(aten.relu(fusion_layer["0"].forward(cat([seen_NF, told_NE], 1))));
  }

  judge(frames_NCHW: Tensor, instructions: readonly string[]): Tensor {
    const tasks = instructions.map((sentence) => this.#task(sentence));
    return scope(() => this.logits(frames_NCHW, tasks).float().sigmoid().squeeze(1));
  }

  checkInstruction(instruction: string): void {
    this.#task(instruction);
  }

  to(place: { device?: Device; dtype?: DType }): void {
    this.network.to(place);
  }

  state(): ReadonlyMap<string, Tensor> {
    return this.network.namedParameters();
  }

  #task(instruction: string): number {
    const task = this.#taskIds.get(instruction);
    if (task !== undefined) return task;
    const known = [...this.#taskIds.keys()].map((sentence) => `"${sentence}"`).join(", ");
    throw new UserError(`the reward model was not taught the task "${instruction}"; it knows ${known}`);
  }
}
