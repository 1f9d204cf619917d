/**
 * Wan 2.2's video autoencoder: 16 times smaller on each side, 4 times shorter, 48 channels, causal in time.
 *
 * Wan team 2025, https://arxiv.org/abs/2503.20314. Encoding gives the mean of the posterior, normalized per channel.
 * Three levels instead of the published four make latents 8 times smaller on each side, for small pictures.
 * The encoder is fed picture 0, then four at a time; the decoder one latent frame at a time. Small pictures go in two pieces,
 * the first and all others: the same sums, in a fraction of the launches.
 *
 * Shapes: B videos, T pictures, H W pixels, z latent channels, F latent frames, h w latent positions.
 */
import { asLast, channelsLast, Module, type ModuleOptions } from "#nn";
import { cat, fusable, keep, scope, type Tensor, tensor } from "#tensor";
import { downscaleOf, type WanSizes } from "./sizes.ts";
import { StreamCache } from "./stream-cache.ts";
import { CausalConv3d, ChannelNorm, cube, PictureAttention, ResidualBlock } from "./vae-layers.ts";
import { addDuplicated, averageDown, Downsample, Upsample } from "./vae-resample.ts";

interface Stage {
  readonly inputs: number;
  readonly outputs: number;
  readonly blocks: number;
  readonly overSpace: boolean;
  readonly overTime: boolean;
}

class DownStage extends Module {
  readonly downsamples: readonly (ResidualBlock | Downsample)[];
  readonly #stage: Stage;

  constructor(stage: Stage, options: ModuleOptions) {
    super();
    this.downsamples = [
      ...residuals(stage, options),
      ...(stage.overSpace ? [new Downsample(stage.outputs, stage.overTime, options)] : []),
    ];
    this.#stage = stage;
  }

  stream(x_BCTHW: Tensor, cache: StreamCache): Tensor {
    const learned = this.downsamples.reduce((x, layer) => layer.stream(x, cache), x_BCTHW);
    return learned.add(averageDown(x_BCTHW, this.#stage.outputs, factors(this.#stage)));
  }
}

class UpStage extends Module {
  readonly upsamples: readonly (ResidualBlock | Upsample)[];
  readonly #stage: Stage;

  constructor(stage: Stage, options: ModuleOptions) {
    super();
    this.upsamples = [
      ...residuals(stage, options),
      ...(stage.overSpace ? [new Upsample(stage.outputs, stage.overTime, options)] : []),
    ];
    this.#stage = stage;
  }

  stream(x_BCTHW: Tensor, cache: StreamCache): Tensor {
    const learned = this.upsamples.reduce((x, layer) => layer.stream(x, cache), x_BCTHW);
    if (!this.#stage.overSpace) return learned;
    return addDuplicated(learned, x_BCTHW, factors(this.#stage), cache.first);
  }
}

type Middle = readonly [ResidualBlock, PictureAttention, ResidualBlock];
type Exit = { readonly "0": ChannelNorm; readonly "2": CausalConv3d };

const middle = (channels: number, options: ModuleOptions): Middle => [
  new ResidualBlock(channels, channels, options),
  new PictureAttention(channels, options),
  new ResidualBlock(channels, channels, options),
];
const exit = (inputs: number, outputs: number, options: ModuleOptions): Exit => ({
  "0": new ChannelNorm(inputs, 3, options),
  "2": cube(inputs, outputs, options),
});
const leave = (head: Exit, x: Tensor, cache: StreamCache): Tensor =>
  head["2"].streamNormed(head["0"], x, cache);
/** Of the encoder's last levels that halve space; the decoder's first double both. */
const timeHalvings = 2;
const factors = ({ overTime, overSpace }: Stage) => ({ time: overTime ? 2 : 1, space: overSpace ? 2 : 1 });

class Encoder extends Module {
  readonly conv1: CausalConv3d;
  readonly downsamples: readonly DownStage[];
  readonly middle: Middle;
  readonly head: Exit;

  constructor({ vae_dim, dim_mult, num_res_blocks, z_dim }: WanSizes, options: ModuleOptions) {
    super();
    const widths = [1, ...dim_mult].map((factor) => factor * vae_dim);
    this.conv1 = cube(12, widths[0]!, options);
    this.downsamples = dim_mult.map((_, i) => {
      const overSpace = i < dim_mult.length - 1;
      const stage = { inputs: widths[i]!, outputs: widths[i + 1]!, blocks: num_res_blocks, overSpace };
      return new DownStage(
        { ...stage, overTime: overSpace && i >= dim_mult.length - 1 - timeHalvings },
        options,
      );
    });
    this.middle = middle(widths.at(-1)!, options);
    this.head = exit(widths.at(-1)!, 2 * z_dim, options);
  }

  stream(x_BCTHW: Tensor, cache: StreamCache): Tensor {
    let x = this.conv1.stream(x_BCTHW, cache);
    for (const stage of [...this.downsamples, ...this.middle]) x = scope(() => stage.stream(x, cache));
    return leave(this.head, x, cache);
  }
}

class Decoder extends Module {
  readonly conv1: CausalConv3d;
  readonly middle: Middle;
  readonly upsamples: readonly UpStage[];
  readonly head: Exit;

  constructor({ vae_dec_dim, dim_mult, num_res_blocks, z_dim }: WanSizes, options: ModuleOptions) {
    super();
    const widths = [dim_mult.at(-1)!, ...dim_mult.toReversed()].map((factor) => factor * vae_dec_dim);
    this.conv1 = cube(z_dim, widths[0]!, options);
    this.middle = middle(widths[0]!, options);
    this.upsamples = dim_mult.map((_, i) => {
      const overSpace = i < dim_mult.length - 1;
      const stage = { inputs: widths[i]!, outputs: widths[i + 1]!, blocks: num_res_blocks + 1, overSpace };
      return new UpStage({ ...stage, overTime: overSpace && i < timeHalvings }, options);
    });
    this.head = exit(widths.at(-1)!, 12, options);
  }

  stream(x_BCTHW: Tensor, cache: StreamCache): Tensor {
    let x = this.conv1.stream(x_BCTHW, cache);
    for (const stage of [...this.middle, ...this.upsamples]) x = scope(() => stage.stream(x, cache));
    return leave(this.head, x, cache);
  }
}

export class WanVAE extends Module {
  readonly encoder: Encoder;
  readonly conv1: CausalConv3d;
  readonly conv2: CausalConv3d;
  readonly decoder: Decoder;
  readonly #sizes: WanSizes;
  readonly #spread = new Map<string, Tensor>(); // mean and spread of the latents, where they were asked for

  constructor(sizes: WanSizes, options: ModuleOptions = {}) {
    super();
    const point = (channels: number): CausalConv3d =>
      new CausalConv3d(channels, channels, [1, 1, 1], [0, 0, 0], options);
    this.encoder = new Encoder(sizes, options);
    this.conv1 = point(2 * sizes.z_dim);
    this.conv2 = point(sizes.z_dim);
    this.decoder = new Decoder(sizes, options);
    this.#sizes = sizes;
  }

  /** [B, 3, T, H, W] to [B, z, F, h, w]; T is 1 + 4·(F − 1). */
  encode(video_B3THW: Tensor, inTwo = isSmall(video_B3THW)): Tensor {
    const folded = foldPixels(video_B3THW);
    const pieces = piecesOf(folded.shape[2]!, inTwo ? Number.POSITIVE_INFINITY : 4);
    const out = streamed(folded.split(pieces, 2), (piece, cache) => this.encoder.stream(piece, cache));
    const mean = this.conv1.after(out).narrow(1, 0, this.#sizes.z_dim);
    return mean.sub(this.#channels("vae_mean", mean)).mul(this.#channels("vae_std", mean).reciprocal());
  }

  /** [B, z, F, h, w] to [B, 3, T, H, W], clamped to [-1, 1]. */
  decode(latents_BzFhw: Tensor, inTwo?: boolean): Tensor {
    return this.decodeFree(latents_BzFhw, inTwo).clamp(-1, 1);
  }

  /** The same as the network says it: a clamped number would teach nothing. */
  decodeFree(latents_BzFhw: Tensor, inTwo = isSmall(latents_BzFhw, this.#downscale)): Tensor {
    const scale = this.#channels("vae_std", latents_BzFhw).reciprocal();
    const raw = latents_BzFhw.div(scale).add(this.#channels("vae_mean", latents_BzFhw));
    const pieces = piecesOf(raw.shape[2]!, inTwo ? Number.POSITIVE_INFINITY : 1);
    const out = streamed(this.conv2.after(raw).split(pieces, 2), (piece, cache) =>
      this.decoder.stream(piece, cache),
    );
    return unfoldPixels(out);
  }

  get #downscale(): number {
    return downscaleOf(this.#sizes);
  }

  /** Made once for each place: copying numbers to a GPU waits for it, and cannot be captured. */
  #channels(name: "vae_mean" | "vae_std", { dtype, device }: Tensor): Tensor {
    const place = `${name} ${dtype} ${device}`;
    const known = this.#spread.get(place);
    if (known) return known;
    const made = keep(tensor([...this.#sizes[name]], { dtype, device }).view([1, -1, 1, 1, 1]));
    this.#spread.set(place, made);
    return made;
  }
}

/** The first picture or latent frame alone, then so many at a time. */
function piecesOf(frames: number, most: number): number[] {
  const pieces = [1];
  for (let left = frames - 1; left > 0; left -= most) pieces.push(Math.min(left, most));
  return pieces;
}

const smallSide = 128; // pixels

/** Pictures whose activations, of all frames at once, nobody has to spare memory for. */
const isSmall = ({ shape }: Tensor, downscale = 1): boolean =>
  Math.max(shape.at(-1)!, shape.at(-2)!) * downscale <= smallSide;

function residuals({ inputs, outputs, blocks }: Stage, options: ModuleOptions): ResidualBlock[] {
  return Array.from(
    { length: blocks },
    (_, i) => new ResidualBlock(i === 0 ? inputs : outputs, outputs, options),
  );
}

function streamed(pieces: readonly Tensor[], run: (piece: Tensor, cache: StreamCache) => Tensor): Tensor {
  const cache = new StreamCache();
  try {
    const done = pieces.map((piece) => {
      cache.nextPiece();
      return scope(() => run(laidOut(piece), cache));
    });
    return cat(done, 2);
  } finally {
    cache.dispose();
  }
}

/** Channels last where our own kernels run (bfloat16 on a GPU, no gradients). */
function laidOut(x: Tensor): Tensor {
  if (x.dtype !== "bfloat16") return x;
  const last = channelsLast(x);
  return fusable(asLast(last)) ? last : x;
}

/** Each 2×2 of pixels becomes channels: color, then column, then row. */
function foldPixels(x_BCTHW: Tensor): Tensor {
  const [batch = 0, channels = 0, pictures = 0, height = 0, width = 0] = x_BCTHW.shape;
  return x_BCTHW
    .reshape([batch, channels, pictures, height / 2, 2, width / 2, 2])
    .permute([0, 1, 6, 4, 2, 3, 5])
    .reshape([batch, channels * 4, pictures, height / 2, width / 2]);
}

function unfoldPixels(x_BCTHW: Tensor): Tensor {
  const [batch = 0, channels = 0, pictures = 0, height = 0, width = 0] = x_BCTHW.shape;
  return x_BCTHW
    .reshape([batch, channels / 4, 2, 2, pictures, height, width])
    .permute([0, 1, 4, 5, 3, 6, 2])
    .reshape([batch, channels / 4, pictures, height * 2, width * 2]);
}
