/**
 * A kernel and the one of its gradient, made once for each name: their sources are written for sizes, which the name tells.
 *
 * A caller asks for them at every step of a training; only the first one writes the sources.
 */
import { type Kernel, kernel } from "#tensor";

export interface KernelPair {
  readonly name: string; // of the way there; its gradient's ends in _gradient
  readonly forward: Kernel;
  readonly backward: Kernel;
}

const known = new Map<string, KernelPair>();

/** `there` and `back` write the source of a kernel of this name. */
export function kernelPair(
  name: string,
  there: (name: string) => string,
  back: (name: string) => string,
): KernelPair {
  const pair = known.get(name);
  if (pair) return pair;
  const gradient = `${name}_gradient`;
  const made = { name, forward: kernel(name, there(name)), backward: kernel(gradient, back(gradient)) };
  known.set(name, made);
  return made;
}
