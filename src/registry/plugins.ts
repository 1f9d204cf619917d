/**
 * Plugins: files of code that the user names, read before a run's families are looked up, in every process and thread of the run.
 *
 * They are named in a configuration (`plugins`), on the command line (`--plugin`) or in REVERIE_PLUGINS, and nowhere else: nothing
 * that is fetched or loaded (checkpoints, worlds, datasets) can name one. Threads and child processes find them in REVERIE_PLUGINS.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { register } from "node:module";
import { delimiter, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { registerAs } from "./registry.ts";
import { UserError } from "./user-error.ts";

/** What a plugin's file exports under the name `plugin`; made by `definePlugin`. */
export interface Plugin {
  /** Registers what the plugin has, all or nothing. */
  install(): void;
}

export interface LoadedPlugin {
  readonly path: string;
  /** Of the file itself, not of what it imports. */
  readonly sha256: string;
}

const variable = "REVERIE_PLUGINS";
const loaded = new Map<string, LoadedPlugin>();
let before: Promise<unknown> = Promise.resolve();

/** Those of this process, in the order in which they were read. */
export const loadedPlugins = (): readonly LoadedPlugin[] => [...loaded.values()];

/** Reads the files that are not read yet, one after another. */
export function loadPlugins(files: readonly string[]): Promise<void> {
  const work = before.then(async () => {
    for (const path of files.map((file) => resolve(file))) if (!loaded.has(path)) await load(path);
  });
  before = work.catch(() => {});
  return work;
}

/** What the process that started this one had read, or what the user's shell names. */
export const inheritPlugins = (): Promise<void> =>
  loadPlugins((process.env[variable] ?? "").split(delimiter).filter(Boolean));

async function load(path: string): Promise<void> {
  if (!existsSync(path) || !statSync(path).isFile()) throw new UserError(`no plugin at ${path}`);
  const sha256 = createHash("sha256").update(readFileSync(path)).digest("hex");
  resolvePlugins();
  await registerAs(path, async () => {
    const { plugin } = await importPlugin(path);
    if (!isPlugin(plugin)) throw new UserError(notOne(path));
    plugin.install();
  });
  loaded.set(path, { path, sha256 });
  process.env[variable] = [...loaded.keys()].join(delimiter);
}

async function importPlugin(path: string): Promise<{ readonly plugin?: unknown }> {
  try {
    return await import(pathToFileURL(path).href);
  } catch (error) {
    if (error instanceof UserError) throw new UserError(`plugin ${path}: ${error.message}`);
    const said = error instanceof Error ? (error.stack ?? error.message) : String(error);
    throw new UserError(`plugin ${path} cannot be read: ${said}`, { cause: error });
  }
}

const isPlugin = (value: unknown): value is Plugin =>
  typeof value === "object" && value !== null && typeof (value as Plugin).install === "function";

const notOne = (path: string): string =>
  `${path} is no plugin: it must export one, as in: export const plugin = definePlugin({ envs: { … } }); see docs/extend`;

let resolving = false;

function resolvePlugins(): void {
  if (resolving) return;
  resolving = true;
  const home = new URL("../index.ts", import.meta.url).href;
  register("./plugin-resolver.mjs", import.meta.url, { data: { home } });
}
