/**
 * A compiled MuJoCo model: what does not change while a world runs.
 *
 * The same text and assets are compiled once per process; every `Model` of them, on every thread, is a
 * door to the same memory. So treat its arrays as read-only. A `Simulation` that must change some
 * (`body_pos`, say) gets its own copy of just those: `new Simulation(model, { own: ["body_pos"] })`.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { nearest, UserError } from "#registry";
import { type ArrayView, ArrayViews, type ModelArrays } from "./arrays.ts";
import { type Assets, modelFingerprint } from "./fingerprint.ts";
import { addon, hasCode, type ModelHandle } from "./native.ts";
import { type ObjectKind, objectKinds } from "./object-kinds.ts";

export interface LoadOptions {
  /** Files by name, found before those on disk. */
  readonly assets?: Assets;
  /** How errors call the model; by default its path, or "the model". */
  readonly name?: string;
  /** Keep compiled models in this folder too, so that the next process need not compile. */
  readonly cacheFolder?: string;
  /** False: compile anew, into memory that no other `Model` shares. Default true. */
  readonly share?: boolean;
}

export class Model implements Disposable {
  readonly name: string;
  /** MuJoCo's sizes: nq, nv, nu, nbody, ngeom, … */
  readonly sizes: Readonly<Record<string, number>>;
  readonly #handle: ModelHandle;
  readonly #arrays: ArrayViews;
  readonly #ids = new Map<ObjectKind, Map<string, number>>();
  #disposed = false;

  private constructor(handle: ModelHandle, name: string) {
    this.#handle = handle;
    this.name = name;
    this.sizes = addon().modelSizes(handle);
    const { buffer, fields } = addon().modelMemory(handle);
    this.#arrays = new ArrayViews(name, buffer, fields);
  }

  static fromXml(xml: string, options: LoadOptions = {}): Model {
    const name = options.name ?? "the model";
    const assets = options.assets ?? {};
    const key = options.share === false ? "" : modelFingerprint(xml, assets, undefined);
    return new Model(load(key, name, options, { xml, path: null }), name);
  }

  static fromFile(path: string, options: LoadOptions = {}): Model {
    const xml = readText(path);
    const whole = resolve(path);
    const key = options.share === false ? "" : modelFingerprint(xml, options.assets ?? {}, dirname(whole));
    return new Model(
      load(key, options.name ?? path, options, { xml: null, path: whole }),
      options.name ?? path,
    );
  }

  /** A view of one of mjModel's arrays, row-major. Shared with others: read, do not write. */
  array<Name extends keyof ModelArrays>(name: Name): ModelArrays[Name];
  array(name: string): ArrayView;
  array(name: string): ArrayView {
    this.handle;
    return this.#arrays.get(name);
  }

  /** Rows and columns of an array. */
  shape(name: string): readonly [rows: number, columns: number] {
    return this.#arrays.shape(name);
  }

  arrayNames(): string[] {
    return this.#arrays.names();
  }

  /** The id of a named object; an unknown name is an error that suggests the nearest. */
  id(kind: ObjectKind, name: string): number {
    const found = this.#idsOf(kind).get(name);
    if (found !== undefined) return found;
    const guess = nearest(name, [...this.#idsOf(kind).keys()]);
    throw new UserError(
      `${this.name} has no ${kind} named "${name}"${guess ? `; did you mean "${guess}"?` : ""}`,
    );
  }

  has(kind: ObjectKind, name: string): boolean {
    return this.#idsOf(kind).has(name);
  }

  /** Names by id; an unnamed object has the empty string. */
  names(kind: ObjectKind): string[] {
    const { type, count } = objectKinds[kind];
    return Array.from(
      { length: this.sizes[count] ?? 0 },
      (_, id) => addon().idToName(this.handle, type, id) ?? "",
    );
  }

  /** For `Simulation` and `Renderer`; throws once the model is disposed. */
  get handle(): ModelHandle {
    if (this.#disposed) throw new Error(`${this.name} was disposed and cannot be used any more`);
    return this.#handle;
  }

  /** Frees the model once no simulation or renderer uses it; its views become empty. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    addon().disposeModel(this.#handle);
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  #idsOf(kind: ObjectKind): Map<string, number> {
    const known = this.#ids.get(kind);
    if (known) return known;
    const ids = new Map<string, number>();
    for (const [id, name] of this.names(kind).entries()) if (name !== "") ids.set(name, id);
    this.#ids.set(kind, ids);
    return ids;
  }
}

interface Source {
  readonly xml: string | null;
  readonly path: string | null;
}

function load(key: string, name: string, options: LoadOptions, source: Source): ModelHandle {
  const file =
    options.cacheFolder && key ? join(options.cacheFolder, `${key}-${addon().version()}.mjb`) : undefined;
  if (file && !addon().modelIsCached(key) && existsSync(file)) {
    try {
      return addon().loadBinary(key, file);
    } catch (error) {
      if (!hasCode(error, "MODEL")) throw error;
      rmSync(file, { force: true }); // cut short or of another version: compile again
    }
  }
  const handle = compile(key, name, options, source);
  if (file && !existsSync(file)) save(handle, file);
  return handle;
}

function compile(key: string, name: string, options: LoadOptions, source: Source): ModelHandle {
  const assets = options.assets ? Object.entries(options.assets).flat() : null;
  try {
    return addon().loadModel(key, source.xml, source.path, assets);
  } catch (error) {
    if (!hasCode(error, "MODEL")) throw error;
    throw new UserError(`MuJoCo cannot load ${name}: ${error.message.trim()}`);
  }
}

function save(handle: ModelHandle, file: string): void {
  mkdirSync(dirname(file), { recursive: true });
  const unfinished = `${file}.${process.pid}.part`;
  addon().saveModel(handle, unfinished);
  renameSync(unfinished, file);
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UserError(`cannot read the model ${path}: ${(error as Error).message}`);
  }
}
