/**
 * The frames of recorded episodes, on the device where they are learned from, and which of them follow each other.
 *
 * Everything is one tensor with a row per frame. The action of a row leads to the next row; a memory that reaches back
 * beyond an episode's first frame repeats it, as a learned env does at a reset.
 */
import type { Demonstrations } from "#recordings";
import { UserError } from "#registry";
import { arange, cat, type Device, type Generator, keep, randint, scope, type Tensor, tensor } from "#tensor";

/** One recorded episode. */
export interface Span {
  readonly first: number; // row of the first frame
  readonly length: number; // actions; there is one frame more
  readonly task: number;
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
          "the recordings differ in picture size or tasks: they cannot be learned from together",
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
