/**
 * Latents of recorded windows for a denoiser that learns: all of them encoded once, where that is less work than encoding every lesson.
 *
 * A window's latents depend on all of its pictures, so there are as many as windows, and a long training meets each of them often. A
 * short one, as in a refresh, encodes what it draws.
 */
import { type Device, deviceMemory, empty, keep, noGrad, scope, type Tensor } from "#tensor";
import { rowIndex } from "../frames/recorded-frames.ts";
import type { WanWindow, WanWindows } from "./windows.ts";

/** [B, z, F, h, w] of these windows. */
export type LatentsOf = (windows: readonly WanWindow[]) => Tensor;

/** The most that all windows may take, in bytes: on a large GPU a quarter of what is free. */
const roomOn = (device: Device): number =>
  device === "cpu" ? 8e9 : Math.max(8e9, deviceMemory(Number(device.split(":")[1] ?? 0)).free / 4);
const batch = 256;

export function windowLatents(
  windows: WanWindows,
  encode: (video: Tensor) => Tensor,
  { device, draws }: { device: Device; draws: number },
): LatentsOf {
  const fresh: LatentsOf = (chosen) => noGrad(() => scope(() => encode(windows.video(chosen))));
  if (windows.count > draws) return fresh;
  const shape = fresh(windows.all().slice(0, 1)).shape.slice(1);
  const bytes = 4 * shape.reduce((product, size) => product * size, windows.count);
  if (bytes > roomOn(device)) return fresh;
  const table = keep(empty([windows.count, ...shape], { device }));
  const all = windows.all();
  for (let from = 0; from < all.length; from += batch) {
    const part = all.slice(from, from + batch);
    scope(() => noGrad(() => table.narrow(0, from, part.length).copy_(fresh(part))));
  }
  return (chosen) =>
    table.indexSelect(
      0,
      rowIndex(
        chosen.map(({ number }) => number),
        { device },
      ),
    );
}
