/**
 * Demonstrations as samples to learn from: for each frame what the policy is fed, and the expert's next chunk.
 *
 * Frames are resized, prompts tokenized and actions discretized once, before the first step. The label is what the
 * expert would have done, not what was executed: noise in the demonstrations then teaches how to recover. Beyond an
 * episode's end the hands rest: no motion, and the last gripper commands.
 *
 * Shapes: F frames, C actions in a chunk, D numbers in an action.
 */
import { type ActionSpec, type ForwardInputs, grippersOf, handActions, type Observation } from "#data";
import type { Policy } from "#policies";
import type { DemonstratedEpisode, Demonstrations } from "#recordings";
import { UserError } from "#registry";
import { cat, scope, type Tensor, tensor } from "#tensor";

export interface LabeledFrames {
  /** Each [F, …], on the host. */
  readonly forwardInputs: ForwardInputs;
  readonly frames: number;
  /** Rows of the frames that begin an episode. */
  readonly firstRows: readonly number[];
}

export interface LabelOptions {
  /** Frames handed to the policy at a time. */
  readonly batch?: number;
  readonly onProgress?: (done: number, total: number) => void;
}

/** Episodes that failed are left out: they teach nothing worth imitating. */
export function labelDemonstrations(
  policy: Policy,
  sets: readonly Demonstrations[],
  { batch = 256, onProgress }: LabelOptions = {},
): LabeledFrames {
  const parts: ForwardInputs[] = [];
  const firstRows: number[] = [];
  const total = sets.flatMap(goodEpisodes).reduce((sum, { length }) => sum + length, 0);
  if (total === 0)
    throw new UserError("the demonstrations hold no successful episode: nothing to learn from");
  let frames = 0;
  for (const set of sets) {
    for (const group of inBatches(goodEpisodes(set), batch)) {
      parts.push(labelEpisodes(policy, set, group));
      for (const episode of group) {
        firstRows.push(frames);
        frames += episode.length;
      }
      onProgress?.(frames, total);
    }
  }
  return { forwardInputs: joined(parts), frames, firstRows };
}

const goodEpisodes = ({ episodes }: Demonstrations): DemonstratedEpisode[] =>
  episodes.filter(({ succeeded, length }) => succeeded && length > 0);

/** Runs of episodes of one shard with about `frames` frames together. */
function* inBatches(
  episodes: readonly DemonstratedEpisode[],
  frames: number,
): Generator<DemonstratedEpisode[]> {
  let group: DemonstratedEpisode[] = [];
  let size = 0;
  for (const episode of episodes) {
    const full = size > 0 && (size + episode.length > frames || episode.shard !== group[0]!.shard);
    if (full) {
      yield group;
      [group, size] = [[], 0];
    }
    group.push(episode);
    size += episode.length;
  }
  if (group.length > 0) yield group;
}

function labelEpisodes(
  policy: Policy,
  set: Demonstrations,
  episodes: readonly DemonstratedEpisode[],
): ForwardInputs {
  return scope(() => {
    const shard = set.shards[episodes[0]!.shard]!;
    const rows = episodes.flatMap(({ firstFrame, length }) =>
      Array.from({ length }, (_, t) => firstFrame + t),
    );
    const sentences = episodes.flatMap(({ sentence, length }) => Array<string>(length).fill(sentence));
    return policy.label(observe(shard, rows, sentences), chunks(policy, set, episodes));
  });
}

function observe(
  shard: ReadonlyMap<string, Tensor>,
  rows: readonly number[],
  sentences: string[],
): Observation {
  const index = tensor(BigInt64Array.from(rows, BigInt));
  const pick = (name: string): Tensor => shard.get(name)!.indexSelect(0, index);
  const wrists = (images: Tensor): Tensor => (images.ndim === 4 ? images.unsqueeze(1) : images); // [B, hands, H, W, 3]
  return {
    mainImages: pick("main_images"),
    ...(shard.has("wrist_images") && { wristImages: wrists(pick("wrist_images")) }),
    states: pick("states"),
    taskDescriptions: sentences,
  };
}

/** The expert's next C actions at every frame: float32 [F, C, D]. */
function chunks(policy: Policy, set: Demonstrations, episodes: readonly DemonstratedEpisode[]): Tensor {
  const { chunk: C, actionSize: D } = policy;
  const expert = set.shards[episodes[0]!.shard]!.get("expert_actions")!;
  if (expert.size(1) !== D) {
    throw new UserError(
      `the policy answers with ${D} numbers per action and the demonstrations have ${expert.size(1)}`,
    );
  }
  const parts = episodes.map(({ firstFrame, length }) => {
    const actions = expert.narrow(0, firstFrame, length).data() as Float32Array;
    return chunksOf(actions, length, { chunk: C, ...handActions(set.info.hands ?? 1) });
  });
  const frames = parts.reduce((sum, part) => sum + part.length, 0) / (C * D);
  const all = new Float32Array(frames * C * D);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return tensor(all, { shape: [frames, C, D] });
}

/** Beyond the last of `length` actions: no motion, and the last command of each gripper. */
export function chunksOf(
  actions: Float32Array,
  length: number,
  { chunk: C, ...spec }: ActionSpec & { readonly chunk: number },
): Float32Array {
  const { size: D } = spec;
  const rest = new Float32Array(D);
  for (const gripper of grippersOf(spec)) rest[gripper] = actions[(length - 1) * D + gripper]!;
  const out = new Float32Array(length * C * D);
  for (let t = 0; t < length; t++) {
    for (let c = 0; c < C; c++) {
      const action = t + c < length ? actions.subarray((t + c) * D, (t + c + 1) * D) : rest;
      out.set(action, (t * C + c) * D);
    }
  }
  return out;
}

function joined(parts: readonly ForwardInputs[]): ForwardInputs {
  const names = Object.keys(parts[0]!);
  const whole = Object.fromEntries(
    names.map((name) => [
      name,
      cat(
        parts.map((part) => part[name]!),
        0,
      ),
    ]),
  );
  for (const part of parts) for (const value of Object.values(part)) value.dispose();
  return whole;
}
