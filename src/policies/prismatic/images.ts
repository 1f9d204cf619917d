/**
 * Pictures to the pixels that the two vision towers see.
 *
 * Each tower has its own mean and deviation, so one RGB picture becomes six channels; several pictures are
 * stacked on the channel axis, main camera first. Two resizers exist because the published checkpoints were
 * trained with two: libtorch's (variant `rlinf`) and Pillow's (variant `official`). They differ in last bits.
 * Both answer in whole numbers from 0 to 255, so resized pictures are kept as bytes without any loss: a
 * quarter of the memory of float pixels, and training never resizes again.
 *
 * Shapes: B batch, K pictures of one camera, N pictures in all, H × W pixels as seen, S side of a tower's input.
 */
import { z } from "zod";
import { UserError } from "#registry";
import { aten, cat, type Device, type DType, keep, stack, type Tensor, tensor } from "#tensor";
import { pillowBicubic } from "./pillow-resize.ts";

export type Resizer = "torch" | "pillow";

/** Per tower: what is subtracted and divided by after pixels were scaled to [0, 1]. */
export interface Normalization {
  readonly mean: readonly number[];
  readonly std: readonly number[];
}

/** OpenVLA's published constants: ImageNet's and SigLIP's, after a trip through bfloat16. */
export const publishedNormalization: readonly Normalization[] = [
  { mean: [0.484375, 0.455078125, 0.40625], std: [0.228515625, 0.2236328125, 0.224609375] },
  { mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5] },
];

const rgb = z.array(z.number()).length(3);
const preprocessorSchema = z.looseObject({
  tvf_normalize_params: z
    .array(z.looseObject({ mean: rgb, std: rgb }))
    .length(2)
    .optional(),
  tvf_do_letterbox: z.literal(false).optional(),
  interpolations: z.array(z.literal("bicubic")).optional(),
});

/** Reads preprocessor_config.json; `undefined` (no such file) means the published constants. */
export function parsePreprocessor(raw: unknown): readonly Normalization[] {
  if (raw === undefined) return publishedNormalization;
  const result = preprocessorSchema.safeParse(raw);
  if (result.success) return result.data.tvf_normalize_params ?? publishedNormalization;
  throw new UserError(
    `preprocessor_config.json asks for what we do not do:\n${z.prettifyError(result.error)}`,
  );
}

export interface Cameras {
  readonly mainImages: Tensor; // uint8 [B, H, W, 3]
  readonly wristImages?: Tensor | undefined; // uint8 [B, K, H, W, 3]
  readonly extraImages?: Tensor | undefined; // uint8 [B, K, H, W, 3]
}

export class ImageProcessor {
  readonly size: number;
  readonly #resizer: Resizer;
  readonly #towers: readonly Normalization[];
  readonly #known = new Map<Device, readonly { mean: Tensor; std: Tensor }[]>();

  constructor(size: number, towers: readonly Normalization[], resizer: Resizer) {
    this.size = size;
    this.#towers = towers;
    this.#resizer = resizer;
  }

  /** The first `wanted` pictures, main then wrists then extras: uint8 [B, N, 3, S, S], on the pictures' device. */
  resize(cameras: Cameras, wanted: number): Tensor {
    const views = viewsOf(cameras, wanted);
    const resized = views.map((view_BKHWC) => {
      const [B = 0, K = 0] = view_BKHWC.shape;
      return this.#resize(view_BKHWC.flatten(0, 1)).unflatten(0, [B, K]);
    });
    return resized.length === 1 ? resized[0]! : cat(resized, 1).narrow(1, 0, wanted);
  }

  /** What the towers see: [B, 6·N, S, S], of `dtype`. */
  pixels(images_BNCSS: Tensor, dtype: DType): Tensor {
    const scaled_BNCSS = images_BNCSS.float().div(255);
    const constants = this.#constants(images_BNCSS.device);
    const towers = constants.map(({ mean, std }) => scaled_BNCSS.sub(mean).div(std));
    return cat(towers, 2).flatten(1, 2).to({ dtype });
  }

  /** Kept per device: copying them there every time would forbid capturing the forward pass as a graph. */
  #constants(device: Device): readonly { mean: Tensor; std: Tensor }[] {
    const known = this.#known.get(device);
    if (known) return known;
    const onDevice = (values: readonly number[]): Tensor =>
      keep(tensor([...values], { shape: [3, 1, 1], device }));
    const made = this.#towers.map(({ mean, std }) => ({ mean: onDevice(mean), std: onDevice(std) }));
    this.#known.set(device, made);
    return made;
  }

  /** uint8 [X, H, W, 3] → uint8 [X, 3, S, S]. */
  #resize(images_XHWC: Tensor): Tensor {
    const [, height = 0, width = 0] = images_XHWC.shape;
    if (height === this.size && width === this.size) return images_XHWC.permute([0, 3, 1, 2]).contiguous();
    if (this.#resizer === "pillow") return this.#pillow(images_XHWC);
    const float_XCHW = images_XHWC.permute([0, 3, 1, 2]).float().contiguous();
    const resized = aten._upsample_bicubic2d_aa(float_XCHW, [this.size, this.size], false);
    return resized.clamp(0, 255).round().to({ dtype: "uint8" });
  }

  #pillow(images_XHWC: Tensor): Tensor {
    const [X = 0, height = 0, width = 0] = images_XHWC.shape;
    const bytes = images_XHWC.cpu().contiguous().data() as Uint8Array;
    const stride = height * width * 3;
    const side = this.size;
    const pictures = Array.from({ length: X }, (_, i) => {
      const picture = bytes.subarray(i * stride, (i + 1) * stride);
      return tensor(pillowBicubic(picture, [height, width], [side, side]), { shape: [side, side, 3] });
    });
    const resized_XHWC = stack(pictures, 0).to({ device: images_XHWC.device });
    return resized_XHWC.permute([0, 3, 1, 2]).contiguous();
  }
}

/** The cameras as uint8 [B, K, H, W, 3] each, as many as are needed for `wanted` pictures. */
function viewsOf({ mainImages, wristImages, extraImages }: Cameras, wanted: number): Tensor[] {
  const all = [mainImages.unsqueeze(1), wristImages, extraImages].filter((view) => view !== undefined);
  const counts = all.map((view) => view.shape[1] ?? 0);
  const found = counts.reduce((sum, count) => sum + count, 0);
  if (found < wanted) {
    throw new UserError(
      `the policy reads ${wanted} pictures (num_images_in_input) and the environment shows ${found}; ` +
        "lower num_images_in_input or give the environment a wrist camera",
    );
  }
  return all.filter((_, i) => counts.slice(0, i).reduce((sum, count) => sum + count, 0) < wanted);
}
