/** Finds and reads the weight files of a world's folder, whichever of the published forms they have. */
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { openCheckpoint, readJsonFile, readSafetensors, readTorchState } from "#formats";
import { UserError } from "#registry";
import type { Tensor } from "#tensor";

/** The tensors of a `.safetensors`, `.pth` or `.ckpt` file, of all shards beside it, or of a folder. */
export function readWeights(path: string): Map<string, Tensor> {
  if (!existsSync(path))
    throw new UserError(`no weights at ${path}: set the path to the downloaded world's folder`);
  if (statSync(path).isDirectory()) return readFolder(path);
  const isShard = /-\d{5}(-of-\d{5})?\.safetensors$/.test(path);
  if (isShard && existsSync(join(dirname(path), "model.safetensors.index.json"))) {
    return openCheckpoint(dirname(path)).read();
  }
  return path.endsWith(".safetensors") ? readSafetensors(path) : readTorchState(path);
}

/** A saved model's folder, or one with the published single file. */
function readFolder(folder: string): Map<string, Tensor> {
  const published = join(folder, "model-00001.safetensors");
  const indexed = existsSync(join(folder, "model.safetensors.index.json"));
  return !indexed && existsSync(published) ? readSafetensors(published) : openCheckpoint(folder).read();
}

/** Beside the weights; of a folder of weights inside it, or else beside the folder. */
export function descriptionOf(path: string): string {
  const inside = join(path, "config.json");
  return existsSync(inside) ? inside : join(dirname(path), "config.json");
}

/** Sizes from a config file beside the weights; the schema's defaults where there is none. */
export function readSizes<S extends z.ZodType>(schema: S, path: string): z.infer<S> {
  const found = existsSync(path) ? readJsonFile(path) : {};
  const parsed = schema.safeParse(found);
  if (parsed.success) return parsed.data;
  throw new UserError(`${path} does not describe a world of this kind:\n${z.prettifyError(parsed.error)}`);
}

/** Renames keys; a rename to nothing drops the tensor. */
export function renamed(
  weights: ReadonlyMap<string, Tensor>,
  rename: (name: string) => string | undefined,
): Map<string, Tensor> {
  const result = new Map<string, Tensor>();
  for (const [name, value] of weights) {
    const next = rename(name);
    if (next !== undefined) result.set(next, value);
  }
  return result;
}
