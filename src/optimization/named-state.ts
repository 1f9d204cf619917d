/** Tensors of one part among those of a whole training, as files name them: "<part>.<name>". */
import type { Tensor } from "#tensor";

export const asPart = (part: string, values: ReadonlyMap<string, Tensor>): [string, Tensor][] =>
  [...values].map(([name, value]) => [`${part}.${name}`, value]);

export function partOfState(part: string, state: ReadonlyMap<string, Tensor>): Map<string, Tensor> {
  const own = [...state].filter(([name]) => name.startsWith(`${part}.`));
  return new Map(own.map(([name, value]) => [name.slice(part.length + 1), value]));
}
