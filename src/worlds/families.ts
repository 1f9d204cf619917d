/** The catalogue of families: one line each, loaded when asked for; plugins register more. */
import { Registry, UserError } from "#registry";
import type { WorldFamily } from "./world-family.ts";

export const worlds = new Registry<WorldFamily>("world", {
  opensora: async () => (await import("./opensora/index.ts")).opensora,
  wan: async () => (await import("./wan/index.ts")).wan,
  evac: async () => (await import("./evac/index.ts")).evac,
});

/** What configurations call an environment in a world of this family. */
export const envTypeOf = (family: string): string => `${family}_wm`;

/** The key of an env block that names the world's folder. */
export const folderKeyOf = (family: string): string => `${envTypeOf(family)}_hf_ckpt_path`;

/** The family whose world, or part of a world, lies in a folder; undefined where there is none. */
export async function recognizeWorld(folder: string): Promise<WorldFamily | undefined> {
  const all = await Promise.all(worlds.names().map((name) => worlds.get(name)));
  const [found, ...others] = all.filter((family) => family.recognizes(folder));
  if (others.length === 0) return found;
  const names = [found, ...others].map((family) => family?.name).join(" and ");
  throw new UserError(`${folder} holds parts of several worlds (${names}): keep each in a folder of its own`);
}
