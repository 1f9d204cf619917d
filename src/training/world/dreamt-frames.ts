/**
 * Recorded episodes as a world imagines them: the same start, the same actions, and every imagined frame beside the row of what was so.
 *
 * A judge that learns from these says how likely success is, given what the dream shows. Where the dream is vague or tends to flatter, it learns to
 * doubt.
 *
 * Shapes: N frames, B episodes, T actions, H W pixels.
 */
import { UserError } from "#registry";
import { cat, keep, noGrad, scope, type Tensor } from "#tensor";
import { SlotNoise, toBytes, type World } from "#worlds";
import { dream } from "./dream.ts";
import type { RecordedFrames } from "./recorded-frames.ts";
import { RecordedTruth } from "./truth-source.ts";

export interface DreamtFrames {
  /** Of the recorded frame that each imagined one stands for. */
  readonly rows: readonly number[];
  readonly pictures: Tensor; // uint8 [N, H, W, 3], where the recordings are
}

export interface Dreaming {
  readonly episodes: number; // at most; spread over all recordings
  readonly seed: number;
  readonly say?: (line: string) => void;
}

/** Episodes imagined together. */
const together = 64;

export async function dreamtFrames(
  world: World,
  frames: RecordedFrames,
  { episodes, seed, say }: Dreaming,
): Promise<DreamtFrames> {
  const source = new RecordedTruth(frames, { episodes, chunk: world.chunk, spread: true });
  const noise = new SlotNoise(together, seed);
  const rows: number[] = [];
  const parts: Tensor[] = [];
  for (let from = 0; from < source.episodes; from += together) {
    const count = Math.min(together, source.episodes - from);
    const spans = source.spans(from, count);
    const pictures = noGrad(() =>
      scope(() => {
        const group = source.group(from, count, world.chunk);
        const chunks = Math.max(...spans.map(({ length }) => Math.floor(length / world.chunk)));
        const seen = dream({ world, noise }, group.starts, chunks, group.actions).frames;
        const bytes = toBytes(seen).permute([0, 1, 3, 4, 2]); // [B, T, H, W, 3]
        return cat(spans.map(({ length }, b) => bytes.select(0, b).narrow(0, 0, whole(length, world.chunk))));
      }),
    );
    parts.push(keep(pictures));
    for (const { first, length } of spans)
      rows.push(...Array.from({ length: whole(length, world.chunk) }, (_, t) => first + 1 + t));
    say?.(`imagined ${from + count} of ${source.episodes} recorded episodes`);
    await new Promise(setImmediate);
  }
  if (rows.length === 0) throw new UserError("no recorded episode is as long as one imagined chunk");
  const pictures = keep(scope(() => cat(parts).to({ device: frames.device })));
  for (const part of parts) part.dispose();
  return { rows, pictures };
}

const whole = (length: number, chunk: number): number => Math.floor(length / chunk) * chunk;
