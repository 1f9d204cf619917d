/** Cuts an image into patches and projects each: a convolution whose stride is its kernel. [B, C, H, W] → [B, L, D]. */
import type { Tensor } from "#tensor";
import { Conv2d } from "./conv.ts";
import { Module, type ModuleOptions } from "./module.ts";

export interface PatchEmbeddingOptions extends ModuleOptions {
  readonly patch: number;
  readonly width: number;
  readonly channels?: number;
  readonly bias?: boolean;
}

export class PatchEmbedding extends Module {
  readonly proj: Conv2d;

  constructor({ patch, width, channels = 3, ...options }: PatchEmbeddingOptions) {
    super();
    this.proj = new Conv2d(channels, width, { kernel: patch, stride: patch, ...options });
  }

  forward(image_BCHW: Tensor): Tensor {
    return this.proj.forward(image_BCHW).flatten(2).transpose(1, 2);
  }
}
