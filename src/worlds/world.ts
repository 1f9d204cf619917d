/**
 * What a world model is to the rest of the house: something that remembers episodes and imagines their next frames.
 *
 * A world holds weights and no episodes. What it must remember of one episode is a `WorldMemory`, handed
 * back and forth by the env, one per slot: so slots can end, restart, leave the batch or be saved one by one,
 * and a world never learns how many envs exist. Inside one call every tensor op runs on the whole batch.
 *
 * Shapes: B episodes in the call, C frames (and actions) per chunk, A action size, H W pixels.
 * Frames are float32 RGB in [-1, 1].
 */
import type { Device, DType, Tensor } from "#tensor";
import type { NoiseSource } from "./noise.ts";

/** From what an episode starts. */
export interface WorldStart {
  readonly frame: Tensor; // [3, H, W]
  readonly instruction: string;
  /** Keyframe start (KIR): the last frames before the decisive moment, with the actions that led to them. */
  readonly keyframes?: { readonly frames: Tensor; readonly actions: Tensor }; // [K, 3, H, W], [K, A]
  /** End-effector pose: x y z, quaternion x y z w, gripper. Only EVAC needs it. */
  readonly pose?: Tensor; // [8]
}

/** What one world remembers of one episode; its keys are the world's own business. */
export type WorldMemory = Readonly<Record<string, Tensor>>;

export interface Imagined {
  readonly memories: readonly WorldMemory[];
  readonly frames: Tensor; // [B, C, 3, H, W]
  /** What the frames were decoded from: latents of the whole window, for truth meters and parity. */
  readonly latents: Tensor;
}

/** Called after every denoising step with the latents as they then are; they live only during the call. */
export type DenoisingWatcher = (step: number, latents: Tensor) => void;

export interface World {
  readonly name: string;
  /** Frames imagined per call, and so actions expected: the policy's chunk must be the same. */
  readonly chunk: number;
  readonly actionSize: number;
  readonly imageSize: readonly [height: number, width: number];
  /** How many keyframes a start may carry; 0 when the world cannot use them. */
  readonly keyframes: number;
  readonly needsPose: boolean;

  begin(starts: readonly WorldStart[], slots: readonly number[], noise: NoiseSource): readonly WorldMemory[];

  /** `slots[b]` names the noise stream of row b. */
  imagine(request: ImagineRequest): Imagined;

  /** What real frames, [B, C, 3, H, W], are in the space of `Imagined.latents`: for measuring drift. */
  encodeFrames?(frames: Tensor): Tensor;

  /** The robot's state, float32 [D], where the world knows it. */
  robotState?(memory: WorldMemory): Tensor;

  /** Moves the weights: to the CPU while others need the device, and back. */
  to(place: { device?: Device; dtype?: DType }): void;

  /** Every weight under its published name. */
  state(): ReadonlyMap<string, Tensor>;
}

export interface ImagineRequest {
  readonly memories: readonly WorldMemory[];
  readonly actions: Tensor; // [B, C, A], as the simulator would receive them
  readonly slots: readonly number[];
  readonly noise: NoiseSource;
  readonly watch?: DenoisingWatcher | undefined;
}

/** Puts one key of every memory on top of each other: [B, ...]. */
export function gatherMemory(memories: readonly WorldMemory[], key: string): Tensor[] {
  return memories.map((memory) => {
    const value = memory[key];
    if (!value) throw new Error(`internal: a world's memory has no "${key}"; it has ${Object.keys(memory)}`);
    return value;
  });
}
