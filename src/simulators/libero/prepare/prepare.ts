/**
 * Prepares LIBERO's files once: robot from robosuite's wheel, tasks and stored states from RLinf's LIBERO wheel, objects
 * and scenes from a local copy or the Hugging Face hub.
 *
 * Each file is written under a temporary name, then renamed and entered into the manifest; a run that was interrupted
 * goes on where it stopped, and a run with everything in place only checks the checksums.
 */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "#formats";
import { UserError } from "#registry";
import { isIntact, type ManifestEntry, readManifest, sha256, writeManifest } from "../manifest.ts";
import { type HubOptions, hubSource, sourceName } from "./hub-source.ts";
import { localSource } from "./local-assets.ts";
import { withLock } from "./lock.ts";
import { firstFiles, neededBy } from "./needed-files.ts";
import { getWheel, type Wheel } from "./pip.ts";
import { type AssetSource, wheelSource } from "./source.ts";

export interface PrepareOptions {
  /** The folder to prepare. */
  readonly folder: string;
  /** A folder or archive with LIBERO's objects and scenes; without it they come from the hub. */
  readonly from?: string;
  /** A folder with the two wheels, for machines without a package index. */
  readonly wheels?: string;
  readonly hub?: HubOptions;
  readonly say?: (line: string) => void;
}

export interface Prepared {
  readonly files: number;
  readonly bytes: number;
  /** How many of them were written this time. */
  readonly fetched: number;
}

/** Files asked for at the same time; matters for the hub only. */
const atOnce = 6;

const robosuite: Wheel = {
  name: "robosuite",
  version: "1.4.1",
  sha256: "62587cd5888d9d3d813f3ffcc7017f6f77efa618952527a0b9bb139ffd0a3741",
};
const tasks: Wheel = {
  name: "rlinf-libero",
  version: "0.1.3",
  sha256: "6d66835128856cee77d3252dda902bf33c5478305670496ec5137abd05e770a5",
};

export const prepareLibero = (options: PrepareOptions): Promise<Prepared> =>
  withLock(options.folder, () => prepare(options), options.say ?? (() => {}));

async function prepare(options: PrepareOptions): Promise<Prepared> {
  const scratch = join(options.folder, ".unfinished");
  const work = new Preparation(options, sourcesOf(options, scratch));
  try {
    for (let batch = firstFiles(); batch.length > 0; ) batch = await work.take(batch);
    return work.finish();
  } finally {
    work.save();
    rmSync(scratch, { recursive: true, force: true });
  }
}

type OpenSource = () => Promise<AssetSource>;

/** Sources by top folder, opened when the first file from them is wanted. */
function sourcesOf(options: PrepareOptions, scratch: string): Record<string, OpenSource> {
  const { from, wheels = join(scratch, "wheels"), hub, say } = options;
  const fetched = (wheel: Wheel) =>
    once(async () => {
      say?.(`getting ${nameOf(wheel)} from PyPI`);
      return getWheel(wheel, wheels);
    });
  const [robotWheel, taskWheel] = [fetched(robosuite), fetched(tasks)];
  const robot = once(async () =>
    wheelSource(await robotWheel(), nameOf(robosuite), "robosuite/models/assets/"),
  );
  const suite = (folder: string) =>
    once(async () => wheelSource(await taskWheel(), nameOf(tasks), `libero/libero/${folder}/`));
  const objects = once(async () => {
    say?.(`getting objects and scenes from ${from ?? sourceName}`);
    return from === undefined ? hubSource(hub) : localSource(from, join(scratch, "assets"));
  });
  return {
    robosuite: robot,
    bddl_files: suite("bddl_files"),
    init_files: suite("init_files"),
    libero: objects,
  };
}

const nameOf = ({ name, version }: Wheel): string => `${name} ${version}`;

function once<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined;
  return () => (opened ??= open());
}

class Preparation {
  readonly #folder: string;
  readonly #say: (line: string) => void;
  readonly #sources: Record<string, OpenSource>;
  readonly #manifest: Map<string, ManifestEntry>;
  readonly #done = new Map<string, ManifestEntry>();
  readonly #seen = new Set<string>();
  readonly #missing: string[] = [];
  #fetched = 0;

  constructor({ folder, say }: PrepareOptions, sources: Record<string, OpenSource>) {
    this.#folder = folder;
    this.#say = say ?? (() => {});
    this.#sources = sources;
    this.#manifest = readManifest(folder);
  }

  /** Makes sure of these files and gives those that they need in turn. */
  async take(batch: readonly string[]): Promise<string[]> {
    const fresh = [...new Set(batch)].filter((file) => !this.#seen.has(file));
    for (const file of fresh) this.#seen.add(file);
    const next: string[] = [];
    const worker = async () => {
      for (let file = fresh.pop(); file !== undefined; file = fresh.pop()) {
        const bytes = await this.#obtain(file);
        if (bytes) next.push(...neededBy(file, bytes));
      }
    };
    try {
      await Promise.all(Array.from({ length: atOnce }, worker));
    } finally {
      fresh.length = 0; // the other workers stop after a failure
    }
    return next;
  }

  finish(): Prepared {
    if (this.#missing.length > 0)
      throw new UserError(
        `${this.#missing.length} of LIBERO's files are missing:\n${this.#missing.join("\n")}`,
      );
    const bytes = [...this.#done.values()].reduce((sum, entry) => sum + entry.bytes, 0);
    return { files: this.#done.size, bytes, fetched: this.#fetched };
  }

  save(): void {
    writeManifest(this.#folder, new Map([...this.#manifest, ...this.#done]));
  }

  async #obtain(file: string): Promise<Uint8Array | undefined> {
    const path = join(this.#folder, file);
    const known = this.#manifest.get(file);
    if (known && isIntact(this.#folder, file, known)) {
      this.#done.set(file, known);
      return readFileSync(path);
    }
    const [top = "", ...inner] = file.split("/");
    const source = await this.#sources[top]?.();
    const bytes = await source?.read(inner.join("/"));
    if (!source || !bytes) {
      this.#missing.push(`  ${file}: not in ${source?.label ?? "any source"}`);
      return undefined;
    }
    replaceFile(path, [bytes]);
    this.#done.set(file, { bytes: bytes.byteLength, sha256: sha256(bytes), source: source.label });
    if (++this.#fetched % 200 === 0) this.#say(`${this.#fetched} files written`);
    return bytes;
  }
}
