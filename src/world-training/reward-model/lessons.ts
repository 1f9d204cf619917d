/**
 * What a reward model learns from: frames of success and of failure in the wanted proportion, as they were recorded, as the world's autoencoder shows
 * them, or as the world imagined them.
 */
import type { RewardModelLesson } from "#rewards";
import { cat, type Generator, type Tensor, tensor } from "#tensor";
import { asPictures, type RecordedFrames, rowIndex } from "../frames/recorded-frames.ts";
import type { DreamtFrames } from "../imagined/dreamt-frames.ts";
import type { SeenThrough } from "../learning/through-autoencoder.ts";
import type { StepRandom } from "../learning/training-loop.ts";
import type { RewardModelSettings } from "./training.ts";

export interface LessonSources {
  readonly seen: SeenThrough;
  readonly dreamt?: DreamtFrames | undefined;
}

/** A frame's row in the recordings, and its place in the table that its picture comes from. */
interface Choice {
  readonly row: number;
  readonly at: number;
}

interface Choices {
  readonly success: readonly Choice[];
  readonly failure: readonly Choice[];
}

interface Drawn {
  readonly at: number;
  readonly task: number;
  readonly success: number;
}

export class RewardModelLessons {
  readonly #frames: RecordedFrames;
  readonly #sources: LessonSources;
  readonly #settings: RewardModelSettings;
  readonly #taskOfRow: Int32Array;
  readonly #recorded: Choices;
  readonly #dreamt: Choices | undefined;

  constructor(frames: RecordedFrames, sources: LessonSources, settings: RewardModelSettings) {
    this.#frames = frames;
    this.#sources = sources;
    this.#settings = settings;
    this.#taskOfRow = new Int32Array(frames.count);
    for (const { first, length, task } of frames.episodes)
      this.#taskOfRow.fill(task, first, first + length + 1);
    const flags = frames.success.cpu().toArray().map(Number);
    this.#recorded = choicesOf(
      flags.map((_, row) => row),
      flags,
    );
    this.#dreamt = sources.dreamt && choicesOf(sources.dreamt.rows, flags);
  }

  /** Decoded ones first, then dreamt ones, then frames as they were recorded. */
  draw({ numbers, device }: StepRandom): RewardModelLesson {
    const { batch_size: count, decoded_share, dreamt_share } = this.#settings;
    const decoded = Math.round(count * decoded_share);
    const dreamt = this.#dreamt ? Math.min(count - decoded, Math.round(count * dreamt_share)) : 0;
    const drawn = Array.from({ length: count }, (_, i) => {
      const imagined = i >= decoded && i < decoded + dreamt;
      return this.#one(imagined ? this.#dreamt! : this.#recorded, numbers);
    });
    const place = { device: this.#frames.device };
    return {
      pictures: this.#pictures(drawn, decoded, dreamt, device),
      tasks: tensor(
        BigInt64Array.from(drawn, ({ task }) => BigInt(task)),
        place,
      ),
      success: tensor(
        drawn.map(({ success }) => success),
        place,
      ),
    };
  }

  #one(choices: Choices, numbers: () => number): Drawn {
    const { success_share, other_task_share } = this.#settings;
    const good = numbers() < success_share && choices.success.length > 0;
    const from = good ? choices.success : choices.failure;
    const { row, at } = from[Math.floor(numbers() * from.length)]!;
    const task = this.#taskOfRow[row]!;
    const renamed = this.#frames.tasks.length > 1 && numbers() < other_task_share;
    const shown = renamed ? this.#otherTask(task, numbers) : task;
    const reached = renamed ? (this.#frames.goals[row]! >> BigInt(shown)) & 1n : good ? 1n : 0n;
    return { at, task: shown, success: Number(reached) };
  }

  #otherTask(task: number, numbers: () => number): number {
    const other = Math.floor(numbers() * (this.#frames.tasks.length - 1));
    return other >= task ? other + 1 : other;
  }

  #pictures(drawn: readonly Drawn[], decoded: number, dreamt: number, generator: Generator): Tensor {
    const { seen, dreamt: dreams } = this.#sources;
    const places = drawn.map(({ at }) => at);
    const index = (from: number, to: number): Tensor => rowIndex(places.slice(from, to), this.#frames);
    const parts: Tensor[] = [];
    if (decoded > 0) parts.push(seen(places.slice(0, decoded), this.#settings.latent_noise, generator));
    if (dreamt > 0) parts.push(asPictures(dreams!.pictures, index(decoded, decoded + dreamt)));
    if (decoded + dreamt < drawn.length) parts.push(this.#frames.pick(index(decoded + dreamt, drawn.length)));
    return parts.length === 1 ? parts[0]! : cat(parts);
  }
}

/** Success must have held for a frame: the first one is often a matter of millimeters. */
function choicesOf(rows: readonly number[], flags: readonly number[]): Choices {
  const all = rows.map((row, at) => ({ row, at }));
  return {
    success: all.filter(({ row }) => flags[row] === 1 && flags[row - 1] === 1),
    failure: all.filter(({ row }) => flags[row] === 0),
  };
}
