/**
 * An explicit source of random numbers.
 *
 * Every random stream of a run (sampling, noise, shuffling, initialization) is a generator of its own, seeded from
 * the run's seed, and its state is saved in checkpoints: that is what makes a resumed run continue bit for bit.
 */
import { addon } from "./addon.ts";
import { type Device, deviceCode } from "./dtype.ts";
import { Tensor } from "./tensor.ts";

/** The two 32-bit halves in which a 64-bit seed crosses into the addon. */
function halves(seed: number | bigint): [high: number, low: number] {
  const bits = BigInt.asUintN(64, BigInt(seed));
  return [Number(bits >> 32n), Number(bits & 0xffffffffn)];
}

export class Generator {
  readonly handle: number;
  readonly device: Device;

  constructor(seed: number | bigint, device: Device = "cpu") {
    this.device = device;
    this.handle = addon.generatorNew(deviceCode(device), ...halves(seed));
  }

  /** The whole state as bytes on the CPU, to be saved. */
  getState(): Tensor {
    return new Tensor(addon.generatorState(this.handle));
  }
  setState(state: Tensor): void {
    addon.generatorRestore(this.handle, state.handle);
  }
  dispose(): void {
    addon.generatorRelease(this.handle);
  }
}

/** Seeds libtorch's default generators, on every device: for code that names no generator. */
export function manualSeed(seed: number | bigint): void {
  addon.seedDefault(...halves(seed));
}
