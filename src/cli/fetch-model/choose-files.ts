/**
 * Which files of a repository a run needs, and which are left out: pictures, program text, and pickled doubles of weights
 * that are there as safetensors too.
 */
import { UserError } from "#registry";
import type { Repository } from "./repository.ts";
import { sourceFile } from "./source-file.ts";

export interface Offered {
  readonly path: string;
  readonly size: number;
}

export interface Choice<F extends Offered> {
  readonly wanted: readonly F[];
  readonly skipped: readonly F[];
}

/** Descriptions, tokenizers, weights, judges, autoencoders, initial states. */
const needed = /\.(json|jsonl|safetensors|model|txt|pt|pth|ckpt|npy|npz|ya?ml)$/;
const pickled = /\.bin$/;
const weights = /\.(safetensors|pt|pth|ckpt|bin)$/;

/** A dataset is taken whole: what it holds is what it is. */
export function chooseFiles<F extends Offered>(entries: readonly F[], kind: Repository["kind"]): Choice<F> {
  refuseEscapes(entries);
  const folders = new Set(entries.filter(({ path }) => path.endsWith(".safetensors")).map(folderOf));
  const wants = (file: F): boolean => {
    if (file.path.split("/").some((part) => part.startsWith(".")) || file.path === sourceFile) return false;
    if (pickled.test(file.path)) return !folders.has(folderOf(file));
    return kind === "dataset" || needed.test(file.path);
  };
  const wanted = entries.filter(wants);
  if (kind === "model" && !wanted.some(({ path }) => weights.test(path)))
    throw new UserError(
      `there are no weights (.safetensors, .pth, .pt, .ckpt, .bin) among its ${entries.length} files`,
    );
  return { wanted, skipped: entries.filter((file) => !wants(file)) };
}

const folderOf = ({ path }: Offered): string => path.slice(0, path.lastIndexOf("/") + 1);

/** Paths come from a server: none may lead out of the folder. */
function refuseEscapes(entries: readonly Offered[]): void {
  const leads = ({ path }: Offered): boolean => /^\/|\\|\0/.test(path) || path.split("/").includes("..");
  const bad = entries.find(leads);
  if (bad)
    throw new UserError(
      `the server offers a file called ${JSON.stringify(bad.path.slice(0, 200))}, which leads out of its folder; nothing is fetched`,
    );
}
