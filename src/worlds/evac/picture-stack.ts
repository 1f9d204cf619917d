/**
 * What EVAC's denoiser sees beside the noise, stacked on the channels of every frame.
 *
 * Shapes: B episodes, M memory frames, C new ones, T = M + C, z latent channels, h w latent positions.
 */
import { cat, type Device, type DType, full, type Tensor, zeros } from "#tensor";
import { type Camera, cameraRays } from "./camera.ts";

/** Directions and origins of the rays through latent positions, [6, h, w]. */
export function rayPlanes(
  camera: Camera,
  imageSize: readonly [number, number],
  downscale: number,
  place: { device: Device; dtype: DType },
): Tensor {
  const { directions, origins } = cameraRays(camera, imageSize, downscale);
  return cat([directions, origins], 0).to(place);
}

/** [B, 2z + 7, T, h, w]: memory and its last frame held, a mask of ones, drawn poses of the new frames, rays. */
export function pictureStack(memory_BzMhw: Tensor, drawn_BzChw: Tensor, rays_6hw: Tensor): Tensor {
  const { device, dtype } = memory_BzMhw;
  const [batch = 0, z = 0, memory = 0, h = 0, w = 0] = memory_BzMhw.shape;
  const chunk = drawn_BzChw.shape[2]!;
  const held = memory_BzMhw.narrow(2, memory - 1, 1).expand([-1, -1, chunk, -1, -1]);
  const frames = memory + chunk;
  return cat(
    [
      cat([memory_BzMhw, held], 2),
      full([batch, 1, frames, h, w], 1, { device, dtype }),
      cat([zeros([batch, z, memory, h, w], { device, dtype }), drawn_BzChw], 2),
      rays_6hw.view([1, 6, 1, h, w]).expand([batch, -1, frames, -1, -1]),
    ],
    1,
  );
}
