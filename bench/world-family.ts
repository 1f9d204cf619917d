/**
 * What the worlds bench asks of a family: a world with random weights, and the same sizes, weights and inputs for Python.
 */
import { initNormal, type Module } from "#nn";
import { type Device, type DType, Generator, keep, noGrad, randn, scope, type Tensor, tensor } from "#tensor";
import type { NoisePurpose, NoiseSource, World, WorldMemory, WorldStart } from "#worlds";

export interface Place {
  readonly device: Device;
  readonly dtype: DType;
}

export interface BenchWorld {
  readonly world: World;
  /** The same weights with one denoising step: what warms up every shape cheaply. */
  readonly short: World;
  /** For the Python side to build the same network. */
  readonly sizes: Readonly<Record<string, unknown>>;
  /** Every weight under the Python side's name. */
  weights(): Map<string, Tensor>;
  /** One chunk's inputs as the Python side wants them; `noise` has what the world has drawn for it. */
  inputs(memories: readonly WorldMemory[], actions: Tensor, noise: KeptNoise): Map<string, Tensor>;
  dispose(): void;
}

export interface Family {
  readonly name: "opensora" | "wan" | "evac";
  build(tiny: boolean, place: Place): BenchWorld;
  /** Floating-point operations of one episode's chunk in the published size, as we perform them. */
  readonly operations: number;
  /** Frames a second that are wanted of an H200. */
  readonly goal: number;
  /** How far frames may be apart in the comparison: one gray level where pictures pass through bytes. */
  readonly frameTolerance: number;
}

/** N(0, spread), or by the fan-in; the ones and zeros of norms and biases stay. */
export function randomized<M extends Module>(module: M, device: Device, spread?: number): M {
  const generator = new Generator(1, device);
  for (const [name, weight] of module.namedParameters()) {
    if (weight.ndim === 1 && /\.(weight|bias)$/.test(name)) continue;
    const fan = weight.shape.slice(1).reduce((product, size) => product * size, 1);
    initNormal(weight, spread ?? 1 / Math.sqrt(Math.max(fan, 16)), generator);
  }
  return module;
}

/** Draws from one stream, and keeps what it drew under its purpose, to be handed on. */
export class KeptNoise implements NoiseSource {
  readonly drawn = new Map<NoisePurpose, Tensor[]>();
  readonly #generator = new Generator(3);

  draw(purpose: NoisePurpose, slots: readonly number[], shape: readonly number[]): Tensor {
    const noise = randn([slots.length, ...shape], { generator: this.#generator });
    this.drawn.set(purpose, [...(this.drawn.get(purpose) ?? []), keep(noise.clone())]);
    return noise;
  }
}

export function randomStarts(world: World, count: number): WorldStart[] {
  const generator = new Generator(4);
  const [height, width] = world.imageSize;
  const pose = [0.1, 0.05, 0.2, 0, 0, 0, 1, 0.5];
  return Array.from({ length: count }, () => ({
    frame: randn([3, height, width], { generator }).mul(0.5).clamp(-1, 1),
    instruction: "do it",
    ...(world.needsPose && { pose: randn([8], { generator }).mul(0.02).add(tensor(pose)) }),
  }));
}

export const randomActions = (world: World, count: number): Tensor =>
  randn([count, world.chunk, world.actionSize], { generator: new Generator(5) }).mul(0.3);

/** Without gradients, and without leaving anything behind but the result. */
export const quietly = <T>(body: () => T extends Promise<unknown> ? never : T): T =>
  noGrad<T>(() => scope<T>(body) as never);
