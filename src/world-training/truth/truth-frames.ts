/**
 * How far imagined frames are from true ones: PSNR, SSIM and the drift of latents, by how many actions lie between a frame and the start.
 *
 * Shapes: B episodes, C actions per chunk, T frames, z latent channels, H W pixels.
 */
import { noGrad, scope, stack, type Tensor } from "#tensor";
import { fromBytes, type World } from "#worlds";
import type { Dream } from "../dreams/dream.ts";
import { psnr, ssim } from "./meters.ts";
import type { TrueEpisode } from "./truth-source.ts";

export interface HorizonRow {
  readonly frame: number; // actions since the start
  readonly psnr: number; // dB
  readonly ssim: number;
  readonly drift: number | null; // root mean square, where latents have unit spread
  readonly samples: number;
}

export interface FrameError {
  readonly frame: number;
  readonly psnr: number;
  readonly ssim: number;
  readonly drift: number | null;
}

/** uint8 [..., H, W, 3] to [..., 3, H, W] in [-1, 1], where the imagined frames are. */
export function pictures(bytes: Tensor, { device }: Tensor): Tensor {
  const axes = Array.from({ length: bytes.ndim - 3 }, (_, i) => i);
  const last = bytes.ndim;
  return fromBytes(bytes.to({ device })).permute([...axes, last - 1, last - 3, last - 2]);
}

/** Errors of every frame that both have. Episodes may end early; whole chunks count. */
export function frameErrors(
  world: World,
  { frames, latents }: Dream,
  truths: readonly TrueEpisode[],
): FrameError[] {
  return noGrad(() =>
    scope(() => {
      const chunks = latents.map((imagined, index) => {
        const from = index * world.chunk;
        const playing = truths.flatMap(({ success }, b) => (success.length >= from + world.chunk ? [b] : []));
        if (playing.length === 0) return [];
        const picked = (t: Tensor): Tensor => stack(playing.map((b) => t.select(0, b)));
        const real = pictures(
          stack(playing.map((b) => truths[b]!.frames.narrow(0, from, world.chunk))),
          frames,
        );
        const seen = picked(frames.narrow(1, from, world.chunk));
        const [noise, likeness] = [psnr, ssim].map((meter) => meter(seen.flatten(0, 1), real.flatten(0, 1)));
        const drift = driftOf(world, picked(imagined), real);
        return noise!.map((value, i) => {
          const frame = from + (i % world.chunk) + 1;
          return { frame, psnr: value, ssim: likeness![i]!, drift: drift?.[i] ?? null };
        });
      });
      return chunks.flat();
    }),
  );
}

/** Root mean square distance of latents, per frame, [B·C]. */
function driftOf(world: World, imagined: Tensor, real_BC3HW: Tensor): number[] | undefined {
  const there = world.encodeFrames?.(real_BC3HW);
  const [frames = 0, fresh = 0] = [imagined.shape[2], there?.shape[2]];
  if (!there || frames < fresh) return undefined;
  return imagined
    .narrow(2, frames - fresh, fresh) // some worlds give their memory too, before what is new
    .sub(there)
    .square()
    .mean([1, 3, 4])
    .sqrt()
    .flatten()
    .cpu()
    .toArray()
    .map(Number);
}

export function byFrame(errors: readonly FrameError[]): HorizonRow[] {
  const rows = new Map<number, FrameError[]>();
  for (const error of errors) rows.set(error.frame, [...(rows.get(error.frame) ?? []), error]);
  return [...rows.entries()]
    .sort(([a], [b]) => a - b)
    .map(([frame, own]) => ({
      frame,
      psnr: mean(own.map((error) => error.psnr)),
      ssim: mean(own.map((error) => error.ssim)),
      drift: own[0]?.drift == null ? null : mean(own.map((error) => error.drift ?? 0)),
      samples: own.length,
    }));
}

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
