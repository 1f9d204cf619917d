/**
 * The frames of recorded episodes, on the device where they are learnt from, and which of them follow each other.
 *
 * Everything is one tensor with a row per frame. The action of a row leads to the next row; a memory that reaches back
 * beyond an episode's first frame repeats it, as a learned env does at a reset.
 */
import type { Demonstrations } from "#recordings";
import { UserError } from "#registry";
import { arange, cat, type Device, type Generator, keep, randint, scope, type Tensor, tensor } from "#tensor";
import type { ImaginedMemory } from "../imagined/imagined-memory.ts";
import { drawWindowStart, type WindowStarts } from "./window-starts.ts";

interface Span {
  readonly first: number; // row of the first frame
  readonly length: number; // actions; there is one frame more
  readonly task: number;
}

export interface WindowRows {
  readonly memory: Tensor; // int64 [B, M]
  readonly fresh: Tensor; // int64 [B, C]
  readonly actions: Tensor; // int64 [B, C]
}

export class RecordedFrames {
  readonly pictures: Tensor; // uint8 [F, H, W, 3]
  readonly actions: Tensor; // float32 [F, A]
  readonly success: Tensor; // float32 [F]
  readonly states: Tensor; // float32 [F, 8], on the CPU
  /** Of the first set: whose episodes, and through which camera they were seen, where that was kept. */
  readonly info: Demonstrations["info"];
  /** Bit k of a row: whether the goal of task k holds there. */
  readonly goals: readonly bigint[];
  readonly tasks: readonly string[];
  readonly episodes: readonly Span[];
  readonly device: Device;

  constructor(sets: readonly Demonstrations[], device: Device) {
    const [first, ...others] = sets;
    if (!first) throw new UserError("no recorded episodes were given");
    for (const { info } of others) {
      if (info.width !== first.info.width || info.tasks.join("|") !== first.info.tasks.join("|")) {
        throw new UserError(
          "the recordings differ in picture size or tasks: they cannot be learnt from together",
        );
      }
    }
    const shards = sets.flatMap(({ shards }) => shards);
    const column = (name: string): Tensor =>
      keep(scope(() => cat(shards.map((shard) => shard.get(name)!)).to({ device })));
    this.pictures = column("main_images");
    this.actions = column("actions");
    this.success = keep(scope(() => column("success").float()));
    this.states = keep(scope(() => cat(shards.map((shard) => shard.get("states")!))));
    this.goals = shards.flatMap((shard) => [...goalsOf(shard)]);
    this.info = first.info;
    this.tasks = first.info.tasks;
    this.episodes = spans(sets);
    this.device = device;
  }

  get count(): number {
    return this.pictures.shape[0]!;
  }

  get size(): [height: number, width: number] {
    return [this.pictures.shape[1]!, this.pictures.shape[2]!];
  }

  /** Pictures of these rows in [-1, 1], [N, 3, H, W]. */
  pick(rows: Tensor): Tensor {
    return asPictures(this.pictures, rows);
  }

  /** Every n-th row, int64. */
  every(n: number): Tensor {
    return arange(0, this.count, n, { dtype: "int64", device: this.device });
  }

  /** Random rows of any frame. */
  draw(count: number, generator: Generator): Tensor {
    return scope(() => randint(0, this.count, [count], { generator }).to({ device: this.device }));
  }
}

/** Rows to select, int64, where they are needed. A GPU copies them when it comes to it: drawing the next lesson need not wait for the last step. */
export function rowIndex(rows: readonly number[], { device }: { readonly device: Device }): Tensor {
  const numbers = BigInt64Array.from(rows, BigInt);
  if (device === "cpu") return tensor(numbers);
  const host = tensor(numbers, { pinned: true });
  const there = host.to({ device, nonBlocking: true });
  host.dispose();
  return there;
}

/** Rows of bytes, [F, H, W, 3], in [-1, 1], [N, 3, H, W]. */
export const asPictures = (bytes_FHW3: Tensor, rows: Tensor): Tensor =>
  bytes_FHW3.indexSelect(0, rows).permute([0, 3, 1, 2]).contiguous().float().div(127.5).sub(1);

/** Recordings of before goals were kept know their own task's only; those rows say nothing of the others. */
function goalsOf(shard: ReadonlyMap<string, Tensor>): ArrayLike<bigint> & Iterable<bigint> {
  const goals = shard.get("goals");
  return goals ? (goals.data() as BigInt64Array) : new BigInt64Array(shard.get("success")!.shape[0]!);
}

function spans(sets: readonly Demonstrations[]): Span[] {
  const result: Span[] = [];
  let offset = 0;
  for (const { episodes, info } of sets) {
    const starts = info.shards.map(({ frames }) => {
      const start = offset;
      offset += frames;
      return start;
    });
    for (const { shard, firstFrame, length, task } of episodes) {
      result.push({ first: starts[shard]! + firstFrame, length, task });
    }
  }
  return result;
}

export interface WindowShape {
  readonly memory: number; // frames
  readonly chunk: number;
  readonly aligned?: number; // share of windows that begin where imagined chunks do
  /** Which frames a window remembers after so many actions, counted from the episode's first; the last ones by default. */
  readonly recall?: (elapsed: number) => readonly number[];
  /** Memories for a share of windows; their rows count on from the recorded ones. */
  readonly imagined?: ImaginedMemory | undefined;
}

/** Random windows of memory, actions and the frames they lead to. */
export class WindowSampler {
  readonly #episodes: readonly Span[];
  readonly #device: Device;
  readonly #starts: WindowStarts;
  readonly #recall: (elapsed: number) => readonly number[];
  readonly #imagined: ImaginedMemory | undefined;

  constructor(
    { episodes, device }: RecordedFrames,
    { memory, chunk, aligned = 0, recall, imagined }: WindowShape,
  ) {
    this.#episodes = episodes.filter(({ length }) => length >= chunk);
    if (this.#episodes.length === 0) throw new UserError(`no recorded episode has ${chunk} actions`);
    this.#device = device;
    this.#starts = { chunk, aligned };
    this.#imagined = imagined;
    this.#recall = recall ?? ((elapsed) => range(memory, (m) => Math.max(0, elapsed - memory + 1 + m)));
  }

  /** `random` gives numbers in [0, 1). All indices travel to the device as one tensor. */
  draw(count: number, random: () => number): WindowRows {
    const [memory, chunk] = [this.#recall(0).length, this.#starts.chunk];
    const rows = new Int32Array(count * (memory + 2 * chunk));
    const [fresh, actions] = [count * memory, count * (memory + chunk)]; // where they begin
    for (let i = 0; i < count; i++) {
      const imagined = this.#imagined?.draw(random, this.#starts.aligned);
      const { first, start } = imagined ?? this.#recorded(random);
      const now = first + start;
      for (const [m, frame] of this.#recall(start).entries())
        rows[i * memory + m] = imagined ? this.#imagined!.row(first + frame) : first + frame;
      for (let c = 0; c < chunk; c++) {
        rows[fresh + i * chunk + c] = now + 1 + c;
        rows[actions + i * chunk + c] = now + c;
      }
    }
    return scope(() => {
      const all = tensor(rows).to({ device: this.#device }).long();
      const part = (from: number, width: number): Tensor =>
        all.narrow(0, from, count * width).view([count, width]);
      return { memory: part(0, memory), fresh: part(fresh, chunk), actions: part(actions, chunk) };
    });
  }

  #recorded(random: () => number): { first: number; start: number } {
    const { first, length } = this.#episodes[Math.floor(random() * this.#episodes.length)]!;
    return { first, start: drawWindowStart(length, this.#starts, random) };
  }
}

const range = (count: number, value: (i: number) => number): number[] =>
  Array.from({ length: count }, (_, i) => value(i));
