/**
 * What an EVAC world's networks learn from: windows of encoded frames, with the encoded drawings of where the hand was
 * believed to be, its relative actions, and the episode's first picture.
 *
 * Frames and drawings go through the autoencoder, and first pictures through the picture encoder, once, before training; a
 * lesson only picks rows. The picture encoder is not trained, as CLIP is not in published worlds. Here its weights are
 * random: 64 random projections of a 4 × 4 patch keep what is in it, and the resampler learns to read them.
 *
 * Shapes: F frames, B windows, M memory frames, C new ones, z latent channels, h w latent positions.
 */
import { cat, type DType, keep, noGrad, scope, type Tensor, tensor } from "#tensor";
import { type AutoencoderKL, evacParts } from "#worlds";
import { encodeAll, pickRows } from "../frames/encoded-frames.ts";
import { type RecordedFrames, rowIndex } from "../frames/recorded-frames.ts";
import { type ImaginedMemory, withImagined } from "../imagined/imagined-memory.ts";
import { WindowSampler } from "../imagined/window-sampler.ts";
import type { Teacher } from "../learning/training-loop.ts";
import { drawHands, rowsOf } from "./view.ts";

export interface LessonSource {
  readonly frames: RecordedFrames;
  readonly vae: AutoencoderKL;
  /** Where the hand is believed to be, by row. */
  readonly believed: readonly (readonly number[])[];
  readonly description: evacParts.EvacDescription;
  readonly networks: evacParts.EvacNetworks;
  readonly dtype: DType; // of the networks
  readonly imagined?: ImaginedMemory | undefined;
}

export function velocityTeacher(
  { frames, vae, believed, description, networks, dtype, imagined }: LessonSource,
  how: evacParts.VelocityTraining & { readonly batch_size: number; readonly aligned_share: number },
): Teacher<evacParts.VelocityLesson> {
  const { n_previous: memory, params, statistics } = description;
  const { latents, color } = encodeAll(vae, frames);
  const remembered = withImagined(latents, imagined);
  const maps = encodeDrawings(vae, frames, believed, description);
  const actions = keep(rowsOf(relativeActions(frames, believed, statistics), frames));
  const tables = evacParts.lessonTables(params, frames.device);
  const tokensOf = firstPictures(frames, networks, dtype);
  const windows = new WindowSampler(frames, {
    memory,
    chunk: params.chunk,
    aligned: how.aligned_share,
    recall: recallOf(memory),
    imagined,
  });
  const video = (table: Tensor, index: Tensor): Tensor => pickRows(table, index).transpose(1, 2).float();
  return ({ numbers, device }) => {
    const rows = windows.draw(how.batch_size, numbers);
    const batch = {
      memory: video(remembered, rows.memory),
      fresh: video(latents, rows.fresh),
      maps: video(maps, rows.fresh),
      actions: pickRows(actions, rows.fresh),
      tokens: tokensOf(rows.memory.select(1, 0)), // every memory begins with its episode's first frame
      emphasis: pickRows(color, rows.fresh).unsqueeze(1).float().div(255),
    };
    return evacParts.drawVelocityLesson(batch, how, tables, device);
  };
}

/** Tokens of the first pictures of episodes, by the rows of those pictures: [B, L, width]. */
function firstPictures(
  frames: RecordedFrames,
  { embedder }: evacParts.EvacNetworks,
  dtype: DType,
  batch = 64,
): (rows: Tensor) => Tensor {
  const firsts = frames.episodes.map(({ first }) => first);
  const parts: Tensor[] = [];
  for (let from = 0; from < firsts.length; from += batch) {
    const part = noGrad(() =>
      scope(() => {
        const pictures = evacParts.clipPicture(
          frames.pick(rowIndex(firsts.slice(from, from + batch), frames)),
        );
        return embedder.model.forward(pictures.to({ dtype }));
      }),
    );
    parts.push(keep(part));
  }
  const tokens = keep(cat(parts));
  for (const part of parts) part.dispose();
  const episodes = new BigInt64Array(frames.count);
  for (const [episode, first] of firsts.entries()) episodes[first] = BigInt(episode);
  const episodeOf = keep(tensor(episodes, { device: frames.device }));
  return (rows) => tokens.indexSelect(0, episodeOf.indexSelect(0, rows));
}

/** As a world recalls: an episode begins as if its first frame had been seen `memory` times. */
export const recallOf =
  (memory: number) =>
  (elapsed: number): number[] =>
    evacParts.recalledFrames(memory + elapsed, memory).map((frame) => Math.max(0, frame - memory + 1));

/** [F, z, h, w]. */
function encodeDrawings(
  vae: AutoencoderKL,
  frames: RecordedFrames,
  poses: readonly (readonly number[])[],
  view: evacParts.EvacDescription,
  batch = 512,
): Tensor {
  const parts: Tensor[] = [];
  for (let from = 0; from < poses.length; from += batch) {
    const drawn = noGrad(() =>
      scope(() => vae.encode(drawHands(poses.slice(from, from + batch), view, frames))),
    );
    parts.push(keep(drawn));
  }
  const all = keep(cat(parts));
  for (const part of parts) part.dispose();
  return all;
}

/** The change that led to each row; nothing led to a first one. */
function relativeActions(
  { episodes }: RecordedFrames,
  poses: readonly (readonly number[])[],
  statistics: evacParts.PoseStatistics,
): number[][] {
  const rows = poses.map((pose) => evacParts.relativeAction(pose, pose, statistics));
  for (const { first, length } of episodes) {
    for (let row = first + 1; row <= first + length; row++)
      rows[row] = evacParts.relativeAction(poses[row - 1]!, poses[row]!, statistics);
  }
  return rows;
}
