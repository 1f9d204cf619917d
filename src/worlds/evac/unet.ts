/**
 * EVAC's denoiser: a picture UNet with causal convolutions and attention over time.
 *
 * Jiang et al. 2025 (EnerVerse-AC), https://arxiv.org/abs/2505.09723, of DynamiCrafter's lineage,
 * https://arxiv.org/abs/2310.12190. Memory frames are told timestep 0, new ones the time of the step.
 *
 * Shapes: B videos, C channels, T frames, N = B·T, h w latent positions, M width of the time embedding.
 */
import {
  Conv2d,
  channelsLast,
  Embedding,
  GroupNorm,
  Linear,
  Module,
  type ModuleOptions,
  silu,
  timestepEmbedding,
} from "#nn";
import { aten, cat, fusable, kernelFit, scope, type Tensor, zeros } from "#tensor";
import type { Conditions } from "./attention.ts";
import { Downsample, ResidualBlock, Upsample } from "./residual.ts";
import type { UNetSizes } from "./sizes.ts";
import { FrameTransformer, TimeTransformer } from "./transformers.ts";

const domains = 30;
const groups = 32;

type Mlp = { readonly "0": Linear; readonly "2": Linear };
type Layer = Conv2d | ResidualBlock | FrameTransformer | TimeTransformer | Downsample | Upsample;
type Block = readonly Layer[];

/** What the denoiser is told besides the latents. */
export interface UNetConditions extends Conditions {
  readonly timestep: Tensor; // [B]
  readonly fps: Tensor; // [B]
  readonly domain: Tensor; // int64 [B]; which robot's data
}

export class EvacUNet extends Module {
  readonly domain_embedding: Embedding;
  readonly time_embed: Mlp;
  readonly fps_embedding: Mlp;
  readonly input_blocks: readonly Block[];
  readonly init_attn: readonly TimeTransformer[];
  readonly middle_block: Block;
  readonly output_blocks: readonly Block[];
  readonly out: { readonly "0": GroupNorm; readonly "2": Conv2d };
  readonly #sizes: UNetSizes;

  constructor(sizes: UNetSizes, options: ModuleOptions = {}) {
    super();
    const { model_channels: base, num_head_channels: headChannels } = sizes;
    const width = 4 * base;
    const mlp = (): Mlp => ({
      "0": new Linear(base, width, options),
      "2": new Linear(width, width, options),
    });
    const plan = new Plan(sizes, options);
    this.domain_embedding = new Embedding(domains, width, options);
    this.time_embed = mlp();
    this.fps_embedding = mlp();
    this.input_blocks = plan.inputs();
    this.init_attn = [
      new TimeTransformer({ channels: base, headChannels, heads: 8, convolve: true }, options),
    ];
    this.middle_block = plan.middle();
    this.output_blocks = plan.outputs();
    this.out = {
      "0": new GroupNorm(groups, base, options),
      "2": new Conv2d(base, sizes.out_channels, { kernel: 3, padding: 1, ...options }),
    };
    this.#sizes = sizes;
  }

  /** Velocity of every frame, [B, out channels, T, h, w]. */
  forward(x_BCThw: Tensor, conditions: UNetConditions): Tensor {
    const [batch = 0, , frames = 0] = x_BCThw.shape;
    const time_NM = this.#time(conditions, frames).flatten(0, 1);
    const run = (block: Block, x: Tensor): Tensor =>
      block.reduce((value, layer) => scope(() => runLayer(layer, value, time_NM, conditions, frames)), x);
    const learning = kernelFit(this.out["2"].weight) === "recorded";
    let x = laidOut(x_BCThw.transpose(1, 2).flatten(0, 1), learning);
    const skips: Tensor[] = [];
    for (const [i, block] of this.input_blocks.entries()) {
      x = run(block, x);
      if (i === 0) x = run(this.init_attn, x);
      skips.push(x);
    }
    x = run(this.middle_block, x);
    for (const block of this.output_blocks) x = run(block, cat([x, skips.pop()!], 1));
    const out = this.out["2"].forward(this.out["0"].forwardSilu(x));
    return out.unflatten(0, [batch, frames]).transpose(1, 2);
  }

  /** [B, T, M]. */
  #time({ timestep, fps, domain }: UNetConditions, frames: number): Tensor {
    const { model_channels: base, chunk } = this.#sizes;
    const embed = (mlp: Mlp, t_B: Tensor): Tensor => {
      const waves = timestepEmbedding(t_B, base).to({ dtype: mlp["0"].weight.dtype });
      return mlp["2"].forward(silu(mlp["0"].forward(waves)));
    };
    const perVideo = embed(this.fps_embedding, fps).add(this.domain_embedding.forward(domain));
    const still = embed(this.time_embed, zeros([...timestep.shape], { device: timestep.device }));
    const moving = embed(this.time_embed, timestep);
    const rows = [...Array<Tensor>(frames - chunk).fill(still), ...Array<Tensor>(chunk).fill(moving)];
    return cat(
      rows.map((row) => row.add(perVideo).unsqueeze(1)),
      1,
    );
  }
}

/** Channels last where our own kernels run, bfloat16 on a GPU, and in whole eights while it learns. */
function laidOut(x_NChw: Tensor, learning: boolean): Tensor {
  if (learning) return channelsLast(wholeEights(x_NChw));
  return fusable(x_NChw.contiguous()) ? channelsLast(x_NChw) : x_NChw;
}

/** With channels of zeros, or weights that read them: without them cuDNN leaves its tensor cores. */
function wholeEights(x_NChw: Tensor): Tensor {
  const missing = (8 - (x_NChw.shape[1]! % 8)) % 8;
  return missing === 0 ? x_NChw : aten.constant_pad_nd(x_NChw, [0, 0, 0, 0, 0, missing], 0);
}

/** The network's first layer, which takes as many channels as the input was given. */
function enter(layer: Conv2d, x_NChw: Tensor): Tensor {
  if (layer.weight.shape[1] === x_NChw.shape[1]) return layer.forward(x_NChw);
  return aten.conv2d(x_NChw, wholeEights(layer.weight), layer.bias!, [1, 1], [1, 1]);
}

function runLayer(layer: Layer, x: Tensor, time_NM: Tensor, conditions: Conditions, frames: number): Tensor {
  if (layer instanceof ResidualBlock) return layer.forward(x, time_NM, frames);
  if (layer instanceof FrameTransformer) return layer.forward(x, conditions);
  if (layer instanceof TimeTransformer) return layer.forward(x, frames);
  if (layer instanceof Conv2d) return enter(layer, x);
  return layer.forward(x);
}

/** Lays out the blocks, counting channels and condition layers as it goes: the order is the checkpoint's. */
class Plan {
  readonly #sizes: UNetSizes;
  readonly #options: ModuleOptions;
  readonly #skips: number[] = [];
  #channels: number;
  #index = 0;

  constructor(sizes: UNetSizes, options: ModuleOptions) {
    this.#sizes = sizes;
    this.#options = options;
    this.#channels = sizes.model_channels;
  }

  inputs(): Block[] {
    const { channel_mult: levels, num_res_blocks: repeats, model_channels: base, in_channels } = this.#sizes;
    const blocks: Block[] = [[new Conv2d(in_channels, base, { kernel: 3, padding: 1, ...this.#options })]];
    this.#skips.push(base);
    for (const [level, factor] of levels.entries()) {
      for (let i = 0; i < repeats; i++) {
        blocks.push([this.#residual(this.#channels, base * factor), ...this.#attention(level)]);
        this.#skips.push(this.#channels);
      }
      if (level === levels.length - 1) continue;
      blocks.push([new Downsample(this.#channels, this.#options)]);
      this.#skips.push(this.#channels);
    }
    return blocks;
  }

  middle(): Block {
    const same = (): ResidualBlock => this.#residual(this.#channels, this.#channels);
    return [same(), ...this.#transformers(), same()];
  }

  outputs(): Block[] {
    const { channel_mult: levels, num_res_blocks: repeats, model_channels: base } = this.#sizes;
    const blocks: Block[] = [];
    for (const [level, factor] of [...levels.entries()].reverse()) {
      for (let i = 0; i <= repeats; i++) {
        const block: Layer[] = [this.#residual(this.#channels + this.#skips.pop()!, base * factor)];
        block.push(...this.#attention(level));
        if (level > 0 && i === repeats) block.push(new Upsample(this.#channels, this.#options));
        blocks.push(block);
      }
    }
    return blocks;
  }

  #residual(inputs: number, outputs: number): ResidualBlock {
    this.#channels = outputs;
    return new ResidualBlock(inputs, outputs, 4 * this.#sizes.model_channels, this.#options);
  }

  /** Only at the resolutions that the config names. */
  #attention(level: number): Layer[] {
    return this.#sizes.attention_resolutions.includes(2 ** level) ? this.#transformers() : [];
  }

  #transformers(): Layer[] {
    const { num_head_channels: headChannels, context_dim: width } = this.#sizes;
    const sizes = { channels: this.#channels, headChannels };
    const heads = this.#channels / headChannels;
    return [
      new FrameTransformer(sizes, { width, index: this.#index++ }, this.#options),
      new TimeTransformer({ ...sizes, heads, convolve: false }, this.#options),
    ];
  }
}
