/**
 * Names in published OpenVLA and OpenVLA-OFT files to ours, and back. They are the same but for a few habits of exporters.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readTorchState } from "#formats";
import type { Module } from "#nn";
import { UserError } from "#registry";
import type { Tensor } from "#tensor";

/** Data-parallel training prefixes everything with `module.`; timm calls LayerScale's weight `gamma`. */
export const ourName = (name: string): string =>
  name.replace(/^module\./, "").replace(/\.(ls[12])\.gamma$/, ".$1.scale_factor");

/** FiLM puts scale and shift layers into every vision block. */
const isFilm = (name: string): boolean => /\.blocks\.\d+\.(scale|shift|block)\./.test(name);

/** Fills `module` from a checkpoint; names in `optional` prefixes may be missing from it, and are returned then. */
export function loadWeights(
  module: Module,
  weights: ReadonlyMap<string, Tensor>,
  optional: readonly string[],
  source: string,
): string[] {
  refuseFilm(weights.keys());
  const wanted = module.namedParameters();
  const found = new Map([...weights].map(([name, value]) => [ourName(name), value]));
  const missing = [...wanted.keys()].filter((name) => !found.has(name));
  const excused = missing.filter((name) => optional.some((prefix) => name.startsWith(prefix)));
  const expected = new Map([...found].filter(([name]) => !isUnused(name, wanted)));
  for (const name of excused) expected.set(name, wanted.get(name)!);
  module.loadState(expected, { source });
  return excused;
}

/** Parts that a file may have and a run may not want: another critic, or the regression head we never use. */
const isUnused = (name: string, wanted: ReadonlyMap<string, Tensor>): boolean =>
  !wanted.has(name) && /^(value_head|action_head|proprio_projector)\./.test(name);

export function refuseFilm(names: Iterable<string>): void {
  for (const name of names) {
    if (isFilm(name)) {
      throw new UserError(
        `the checkpoint has FiLM layers (${name}), which this implementation does not have; ` +
          "use a checkpoint trained with use_film: False",
      );
    }
  }
}

/** `proprio_projector--150000_checkpoint.pt` beside the weights of an official release, if there is one. */
export function readComponent(folder: string, component: string): Map<string, Tensor> | undefined {
  const file = readdirSync(folder).find((name) => name.startsWith(`${component}--`) && name.endsWith(".pt"));
  if (file === undefined) return undefined;
  const state = readTorchState(join(folder, file));
  return new Map([...state].map(([name, value]) => [`${component}.${ourName(name)}`, value]));
}
