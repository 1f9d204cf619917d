/** Keeps the frames of episodes while they run, and writes them as one shard. */
import { writeSafetensors } from "#formats";
import { scope, type Tensor, tensor } from "#tensor";
import { GrowingRows } from "./growing-rows.ts";

export interface FrameRow {
  readonly main: Uint8Array;
  readonly wrist?: Uint8Array | undefined;
  readonly state: Float32Array;
  readonly success: boolean;
  /** Bit k: whether the goal of the suite's task k holds. */
  readonly goals: bigint;
}

export interface EpisodeRow {
  readonly task: number;
  readonly start: number;
  readonly seed: number;
  readonly succeeded: boolean;
}

interface FinishedEpisode extends EpisodeRow {
  readonly firstFrame: number;
  readonly length: number;
}

export interface ShardShape {
  readonly width: number;
  readonly height: number;
  readonly wrist: boolean;
  /** Of the robot, one if absent: each has an action of 7 numbers, a state of 8 and a wrist camera. */
  readonly hands?: number;
}

const actionSize = 7;
const stateSize = 8;

export class ShardRecorder {
  readonly #shape: ShardShape;
  readonly #main: GrowingRows<Uint8Array<ArrayBuffer>>;
  readonly #wrist: GrowingRows<Uint8Array<ArrayBuffer>>;
  readonly #states: GrowingRows<Float32Array<ArrayBuffer>>;
  readonly #actions: GrowingRows<Float32Array<ArrayBuffer>>;
  readonly #expertActions: GrowingRows<Float32Array<ArrayBuffer>>;
  readonly #success = new GrowingRows((size) => new Uint8Array(size), 1);
  readonly #goals: bigint[] = [];
  readonly #episodes: FinishedEpisode[] = [];
  #firstFrame = 0;

  constructor(shape: ShardShape) {
    this.#shape = shape;
    const { hands = 1 } = shape;
    const pixels = shape.width * shape.height * 3;
    this.#main = new GrowingRows((size) => new Uint8Array(size), pixels);
    this.#wrist = new GrowingRows((size) => new Uint8Array(size), pixels * hands);
    const numbers = (width: number) => new GrowingRows((size) => new Float32Array(size), width);
    this.#states = numbers(stateSize * hands);
    this.#actions = numbers(actionSize * hands);
    this.#expertActions = numbers(actionSize * hands);
  }

  get episodes(): number {
    return this.#episodes.length;
  }

  get frames(): number {
    return this.#firstFrame;
  }

  addFrame({ main, wrist, state, success, goals }: FrameRow): void {
    this.#main.push(main);
    if (wrist) this.#wrist.push(wrist);
    this.#states.push(state);
    this.#success.push([success ? 1 : 0]);
    this.#goals.push(goals);
  }

  /** The action taken at the last frame added. */
  addAction(executed: ArrayLike<number>, expert: ArrayLike<number>): void {
    this.#actions.push(executed);
    this.#expertActions.push(expert);
  }

  /** Call after the episode's last frame. */
  endEpisode(episode: EpisodeRow): void {
    const length = this.#actions.length - this.#firstFrame;
    const none = new Float32Array(actionSize * (this.#shape.hands ?? 1));
    this.addAction(none, none);
    this.#episodes.push({ ...episode, firstFrame: this.#firstFrame, length });
    this.#firstFrame = this.#main.length;
  }

  /** Forgets the frames since the last finished episode. */
  dropEpisode(): void {
    for (const rows of this.#rows()) rows.truncate(this.#firstFrame);
    this.#goals.length = this.#firstFrame;
  }

  write(path: string): void {
    scope(() => writeSafetensors(path, this.#tensors()));
  }

  #rows(): readonly GrowingRows<Uint8Array<ArrayBuffer> | Float32Array<ArrayBuffer>>[] {
    return [this.#main, this.#wrist, this.#states, this.#actions, this.#expertActions, this.#success];
  }

  #tensors(): Map<string, Tensor> {
    const { width, height, wrist, hands = 1 } = this.#shape;
    const frames = this.frames;
    const pictures = [frames, height, width, 3];
    const column = (pick: (episode: FinishedEpisode) => number) =>
      tensor(BigInt64Array.from(this.#episodes, (episode) => BigInt(pick(episode))));
    const tensors: [string, Tensor][] = [
      ["main_images", tensor(this.#main.rows(), { shape: pictures })],
      ["states", tensor(this.#states.rows(), { shape: [frames, stateSize * hands] })],
      ["actions", tensor(this.#actions.rows(), { shape: [frames, actionSize * hands] })],
      ["expert_actions", tensor(this.#expertActions.rows(), { shape: [frames, actionSize * hands] })],
      ["success", tensor(this.#success.rows())],
      ["goals", tensor(BigInt64Array.from(this.#goals))],
      ["first_frames", column(({ firstFrame }) => firstFrame)],
      ["lengths", column(({ length }) => length)],
      ["tasks", column(({ task }) => task)],
      ["starts", column(({ start }) => start)],
      ["seeds", column(({ seed }) => seed)],
      ["succeeded", tensor(Uint8Array.from(this.#episodes, ({ succeeded }) => (succeeded ? 1 : 0)))],
    ];
    const wrists = hands === 1 ? pictures : [frames, hands, height, width, 3];
    if (wrist) tensors.push(["wrist_images", tensor(this.#wrist.rows(), { shape: wrists })]);
    return new Map(tensors);
  }
}
