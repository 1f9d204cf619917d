/**
 * `fetch <owner>/<name>`: a model, a world or a dataset from the Hugging Face Hub, or from a folder that somebody copied here.
 *
 * Every file is of one commit, asked for once, and is checked against its hash. `reverie-source.json` beside the files keeps both.
 */
import { existsSync, mkdirSync, statfsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { UserError } from "#registry";
import { chooseFiles } from "./choose-files.ts";
import { copyFolder } from "./copy-folder.ts";
import { download } from "./download.ts";
import { authorization, commitOf, filesOf, type HubFile } from "./hub.ts";
import { fileAddress, hubAddress, type Repository, repositoryFolder, repositoryOf } from "./repository.ts";
import { readSource, writeSource } from "./source-file.ts";

export { repositoryFolder, repositoryOf } from "./repository.ts";
export { sourceFile } from "./source-file.ts";

export interface FetchModelOptions {
  readonly repo: string;
  readonly to?: string | undefined;
  readonly from?: string | undefined;
  readonly revision?: string | undefined;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Milliseconds without an answer after which a server is given up. */
  readonly patience?: number;
  readonly say?: (line: string) => void;
  readonly onBytes?: (done: number, total: number, file: string) => void;
}

export interface FetchedModel {
  readonly folder: string;
  readonly files: number;
  readonly fetched: number;
  readonly bytes: number;
  /** Of the repository; absent where a copied folder does not know it. */
  readonly commit?: string | undefined;
}

export async function fetchModel(options: FetchModelOptions): Promise<FetchedModel> {
  const { environment = process.env, from } = options;
  const repository = repositoryOf(options.repo, environment);
  const folder = options.to ?? repositoryFolder(repository, environment);
  if (from === undefined) return fetchFromHub(repository, folder, options);
  if (options.revision !== undefined)
    throw new UserError("--revision has no meaning with --from: a folder holds one version");
  const { skipped, checked, ...copied } = await copyFolder(from, folder, repository);
  options.say?.(skippedText(skipped));
  options.say?.(
    `${checked} of ${copied.files} files checked against their published hash, the rest byte by byte only`,
  );
  return { folder, ...copied };
}

async function fetchFromHub(
  repository: Repository,
  folder: string,
  options: FetchModelOptions,
): Promise<FetchedModel> {
  const { environment = process.env, revision = "main", patience = 60_000, say, onBytes } = options;
  const hub = hubAddress(environment);
  const token = environment.HF_TOKEN || undefined;
  const asked = { hub, token, patience };
  const commit = await commitOf(repository, revision, asked);
  const { wanted, skipped } = chooseFiles(await filesOf(repository, commit, asked), repository.kind);
  const total = wanted.reduce((sum, { size }) => sum + size, 0);
  say?.(`${repository.name} at commit ${commit} (${revision}), from ${hub}`);
  const earlier = readSource(folder)?.commit;
  if (earlier !== undefined && earlier !== commit)
    say?.(`${folder} holds commit ${earlier}: what differs is replaced`);
  say?.(skippedText(skipped.map(({ path }) => path)));
  say?.(`${wanted.length} files, ${gigabytes(total)}, to ${folder}`);
  mkdirSync(folder, { recursive: true });
  requireRoom(folder, wanted);
  const reading = { headers: authorization(token), patience };
  let [done, fetched] = [0, 0];
  for (const { path, ...expected } of wanted) {
    const count = (bytes: number): void => onBytes?.((done += bytes), total, path);
    const url = fileAddress(hub, repository, commit, path);
    if (await download(url, join(folder, path), expected, { ...reading, onBytes: count })) fetched++;
  }
  const files = Object.fromEntries(wanted.map(({ path, ...expected }) => [path, expected]));
  writeSource(folder, { repository: repository.name, kind: repository.kind, commit, files });
  return { folder, files: wanted.length, fetched, bytes: total, commit };
}

/** Before the first byte: a disk that cannot hold what is still to come. */
function requireRoom(folder: string, wanted: readonly HubFile[]): void {
  const there = ({ path, size }: HubFile): boolean =>
    existsSync(join(folder, path)) && statSync(join(folder, path)).size === size;
  const needed = wanted.filter((file) => !there(file)).reduce((sum, { size }) => sum + size, 0);
  const { bavail, bsize } = statfsSync(folder);
  if (needed > bavail * bsize)
    throw new UserError(
      `${gigabytes(needed)} are to come and ${dirname(folder)} has room for ${gigabytes(bavail * bsize)}; make room, or give another --to FOLDER`,
    );
}

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(2)} GB`;

const mostNamed = 12;

function skippedText(paths: readonly string[]): string {
  if (paths.length === 0) return "no file is left out";
  const more = paths.length > mostNamed ? ` and ${paths.length - mostNamed} more` : "";
  return `left out, because no run reads them: ${paths.slice(0, mostNamed).join(", ")}${more}`;
}
