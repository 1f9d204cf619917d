/**
 * Recorded episodes as a world imagines them: the same start, the same actions, and every imagined frame beside the row of ground truth.
 *
 * A reward model that learns from these says how likely success is, given what the dream shows. Where the dream is vague or tends to flatter, it learns to
 * doubt. A denoiser that remembers these learns to go on from its own mistakes (`imagined-memory.ts`).
 *
 * Shapes: N frames, B episodes, T actions, H W pixels, z latent channels, h w latent positions.
 */
import { releaseImagination } from "#envs";
import { UserError } from "#registry";
import { cat, keep, noGrad, scope, type Tensor } from "#tensor";
import { SlotNoise, toBytes, type World } from "#worlds";
import { type Dream, dream } from "../dreams/dream.ts";
import type { RecordedFrames } from "../frames/recorded-frames.ts";
import { asImagined, openWorld } from "../open-world.ts";
import { RecordedTruth } from "../truth/truth-source.ts";

export interface DreamtFrames {
  /** Of the recorded frame that each imagined one stands for. */
  readonly rows: readonly number[];
  readonly pictures: Tensor; // uint8 [N, H, W, 3], where the recordings are
  readonly chunk: number; // of the world that imagined them
  /** What the world remembers of them, [N, z, h, w], where that was asked for and it has a latent for every frame. */
  readonly latents?: Tensor;
}

export interface Dreaming {
  readonly episodes: number; // at most; spread over all recordings
  readonly seed: number;
  /** Whether what the world remembers of its frames is kept as well. */
  readonly remember?: boolean;
  readonly say?: ((line: string) => void) | undefined;
}

/** By the world in a folder, as it imagines on the device of the recordings. */
export async function dreamtBy(
  folder: string,
  frames: RecordedFrames,
  { samplingSteps, ...dreaming }: Dreaming & { readonly samplingSteps?: number },
): Promise<DreamtFrames> {
  const { device, size } = frames;
  const world = await openWorld(folder, { device, size, samplingSteps, ...asImagined(device) });
  const dreamt = await dreamtFrames(world, frames, dreaming);
  releaseImagination({ world });
  return dreamt;
}

export async function dreamtFrames(
  world: World,
  frames: RecordedFrames,
  { episodes, seed, remember = false, say }: Dreaming,
): Promise<DreamtFrames> {
  const source = new RecordedTruth(frames, { episodes, chunk: world.chunk, spread: true });
  const together = frames.device === "cpu" ? 64 : 256; // episodes
  const noise = new SlotNoise(together, seed);
  const rows: number[] = [];
  const parts: ImaginedPart[] = [];
  for (let from = 0; from < source.episodes; from += together) {
    const count = Math.min(together, source.episodes - from);
    const spans = source.spans(from, count);
    const lengths = spans.map(({ length }) => whole(length, world.chunk));
    const part = noGrad(() =>
      scope(() => {
        const group = source.group(from, count, world.chunk);
        const seen = dream({ world, noise }, group.starts, Math.max(...lengths) / world.chunk, group.actions);
        const counted = (all_BT: Tensor): Tensor =>
          cat(lengths.map((length, b) => all_BT.select(0, b).narrow(0, 0, length))).to({
            device: frames.device,
          });
        const latents = remember ? latentsByFrame(seen, world.chunk) : undefined;
        const pictures = counted(toBytes(seen.frames).permute([0, 1, 3, 4, 2]));
        return { pictures, ...(latents && { latents: counted(latents) }) };
      }),
    );
    for (const each of Object.values(part)) keep(each);
    parts.push(part);
    for (const [b, { first }] of spans.entries())
      rows.push(...Array.from({ length: lengths[b]! }, (_, t) => first + 1 + t));
    say?.(`imagined ${from + count} of ${source.episodes} recorded episodes`);
    await new Promise(setImmediate);
  }
  if (rows.length === 0) throw new UserError("no recorded episode is as long as one imagined chunk");
  const joined = (tensors: readonly Tensor[]): Tensor => {
    const all = keep(cat(tensors));
    for (const each of tensors) each.dispose();
    return all;
  };
  const latents = parts.flatMap((part) => part.latents ?? []);
  const pictures = joined(parts.map((part) => part.pictures));
  return { rows, pictures, chunk: world.chunk, ...(latents.length > 0 && { latents: joined(latents) }) };
}

interface ImaginedPart {
  readonly pictures: Tensor;
  readonly latents?: Tensor;
}

/** [B, T, z, h, w]. A world may show its memory before the new ones; one that has fewer latents than frames has none of a frame. */
function latentsByFrame({ latents }: Dream, chunk: number): Tensor | undefined {
  if (latents.some(({ shape }) => shape[2]! < chunk)) return undefined;
  return cat(
    latents.map((part) => part.narrow(2, part.shape[2]! - chunk, chunk).transpose(1, 2)),
    1,
  );
}

const whole = (length: number, chunk: number): number => Math.floor(length / chunk) * chunk;
