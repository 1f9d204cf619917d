/**
 * A folder that somebody brought (a clone, a download by Hugging Face's tools, a folder that `fetch` made elsewhere):
 * the same files, checked against their published hashes where the folder knows them, and copied unless they are there.
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { UserError } from "#registry";
import { chooseFiles } from "./choose-files.ts";
import { type Expected, isWhole, sha256Of } from "./download.ts";
import type { Repository } from "./repository.ts";
import { readSource, type Source, writeSource } from "./source-file.ts";

export interface Copied {
  readonly files: number;
  readonly fetched: number;
  readonly bytes: number;
  readonly checked: number; // files whose published hash was known
  readonly skipped: readonly string[];
  readonly commit?: string | undefined;
}

export async function copyFolder(from: string, to: string, repository: Repository): Promise<Copied> {
  if (!existsSync(from) || !statSync(from).isDirectory())
    throw new UserError(`--from ${from}: there is no such folder`);
  const known = readSource(from);
  if (known && known.repository !== repository.name)
    throw new UserError(`${from} holds ${known.repository}, not ${repository.name}`);
  const offered = filesIn(from).map((path) => ({ path, size: statSync(join(from, path)).size }));
  const { wanted, skipped } = chooseFiles(offered, repository.kind);
  let [bytes, fetched, checked] = [0, 0, 0];
  const hashes: Source["files"] = {};
  for (const { path, size } of wanted) {
    const source = join(from, path);
    refusePointer(source, size);
    const published = known?.files[path] ?? publishedHash(from, path, size);
    if (published && !(await isWhole(source, published)))
      throw new UserError(`${source} is not the published file: its size or hash differs; copy it again`);
    if (published) checked++;
    const sha256 = await sha256Of(source);
    hashes[path] = { ...published, size, sha256 };
    bytes += size;
    if (await copied(source, join(to, path), { size, sha256 })) fetched++;
  }
  const commit =
    known?.commit ??
    publishedCommit(
      from,
      wanted.map(({ path }) => path),
    );
  writeSource(to, {
    repository: repository.name,
    kind: repository.kind,
    ...(commit !== undefined && { commit }),
    files: hashes,
  });
  return { files: wanted.length, fetched, bytes, checked, commit, skipped: skipped.map(({ path }) => path) };
}

/** All files below a folder, with "/" between the parts; links to files count as files. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => !path.split("/").includes(".git") && statSync(join(folder, path)).isFile())
    .sort();
}

/** False where the target is that file already: the same bytes, not only as many. */
async function copied(source: string, target: string, expected: Expected): Promise<boolean> {
  if (existsSync(target) && (await isWhole(target, expected))) return false;
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(source, `${target}.part`);
  renameSync(`${target}.part`, target);
  return true;
}

/** A clone without Git LFS holds notes about the files in place of the files. */
function refusePointer(path: string, size: number): void {
  if (size < 1000 && readFileSync(path, "utf8").startsWith("version https://git-lfs.github.com/spec/"))
    throw new UserError(
      `${path} is a Git LFS pointer, not the file: run "git lfs pull" in that folder first`,
    );
}

/**
 * What Hugging Face's own tools leave: `hf download --local-dir` writes commit and hash beside each file; its cache links to files
 * named by their hash.
 */
function publishedHash(from: string, path: string, size: number): Expected | undefined {
  const etag = metadata(from, path)?.[1] ?? basename(realpathSync(join(from, path)));
  if (/^[0-9a-f]{64}$/.test(etag)) return { size, sha256: etag };
  return /^[0-9a-f]{40}$/.test(etag) ? { size, gitSha1: etag } : undefined;
}

const metadata = (from: string, path: string): string[] | undefined => {
  const file = join(from, ".cache", "huggingface", "download", `${path}.metadata`);
  return existsSync(file) ? readFileSync(file, "utf8").split("\n") : undefined;
};

/** The commit that all files agree on; in Hugging Face's cache the folder is named by it. */
function publishedCommit(from: string, paths: readonly string[]): string | undefined {
  const commits = new Set(paths.map((path) => metadata(from, path)?.[0] ?? basename(realpathSync(from))));
  const [only = ""] = commits;
  return commits.size === 1 && /^[0-9a-f]{40}$/.test(only) ? only : undefined;
}
