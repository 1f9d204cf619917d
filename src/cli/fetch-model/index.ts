/**
 * `fetch <owner>/<name>`: a model's folder from the Hugging Face Hub, or from a folder that somebody copied here.
 *
 * Only what loading needs is fetched: configuration, tokenizer, statistics and weights, not Python's pickled duplicates.
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { HubApiError, type ListFileEntry, listFiles } from "@huggingface/hub";
import { UserError } from "#registry";
import { download } from "./download.ts";

export interface FetchModelOptions {
  readonly repo: string;
  readonly to?: string | undefined;
  readonly from?: string | undefined;
  readonly revision?: string | undefined;
  readonly hubUrl?: string;
  readonly token?: string | undefined;
  readonly say?: (line: string) => void;
  readonly onBytes?: (done: number, total: number, file: string) => void;
}

export interface FetchedModel {
  readonly folder: string;
  readonly files: number;
  readonly fetched: number;
  readonly bytes: number;
}

/** `$REVERIE_HOME/models/<owner>/<name>`, else under `~/.cache/reverie`. */
export function modelFolder(repo: string, environment: NodeJS.ProcessEnv = process.env): string {
  return join(environment.REVERIE_HOME ?? join(homedir(), ".cache", "reverie"), "models", repo);
}

const isRepo = (name: string): boolean => /^[\w.-]+\/[\w.-]+$/.test(name) && !name.includes("..");

export async function fetchModel(options: FetchModelOptions): Promise<FetchedModel> {
  const { repo, from } = options;
  if (!isRepo(repo))
    throw new UserError(`"${repo}" is not a model's name; expected owner/name, as on huggingface.co`);
  const folder = options.to ?? modelFolder(repo);
  return from === undefined ? fetchFromHub(folder, options) : copyFolder(from, folder, options);
}

async function fetchFromHub(folder: string, options: FetchModelOptions): Promise<FetchedModel> {
  const { repo, revision = "main", hubUrl = "https://huggingface.co", token, say, onBytes } = options;
  const wanted = chooseFiles(await listAll(options));
  const total = wanted.reduce((sum, { size }) => sum + size, 0);
  say?.(`${wanted.length} files, ${(total / 1e9).toFixed(2)} GB, to ${folder}`);
  let done = 0;
  let fetched = 0;
  for (const { path, size, lfs, oid } of wanted) {
    const url = `${hubUrl}/${repo}/resolve/${encodeURIComponent(revision)}/${path}`;
    const count = (bytes: number): void => onBytes?.((done += bytes), total, path);
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const expected = { size, sha256: lfs?.oid, gitSha1: lfs ? undefined : oid };
    if (await download(url, join(folder, path), expected, { headers, onBytes: count })) fetched++;
  }
  return { folder, files: wanted.length, fetched, bytes: total };
}

async function listAll({ repo, revision, hubUrl, token }: FetchModelOptions): Promise<ListFileEntry[]> {
  const entries: ListFileEntry[] = [];
  const access = token === undefined ? {} : { accessToken: token };
  const place = {
    ...(revision !== undefined && { revision }),
    ...(hubUrl !== undefined && { hubUrl }),
    ...access,
  };
  try {
    for await (const entry of listFiles({ repo, recursive: true, ...place })) entries.push(entry);
  } catch (error) {
    throw new UserError(explain(repo, error));
  }
  return entries.filter(({ type }) => type === "file");
}

function explain(repo: string, error: unknown): string {
  const status = error instanceof HubApiError ? error.statusCode : undefined;
  if (status === 401 || status === 403)
    return `${repo} is private, gated or misspelt; set HF_TOKEN to a token that may read it`;
  if (status === 404) return `the Hugging Face Hub has no model ${repo}, or not at this revision`;
  return `the Hugging Face Hub cannot be asked for ${repo} (${(error as Error).message}); with a copy of its folder, use --from FOLDER`;
}

const needed = /\.(json|safetensors|model|txt|pt)$/;

/** Paths come from a server: none may lead out of the folder. */
export function chooseFiles(entries: readonly ListFileEntry[]): ListFileEntry[] {
  const bad = entries.find(({ path }) => path.startsWith("/") || path.split("/").includes(".."));
  if (bad)
    throw new UserError(
      `the server offers a file called ${bad.path}, which leads out of its folder; nothing is fetched`,
    );
  const chosen = entries.filter(({ path }) => needed.test(path) && !path.startsWith("."));
  if (chosen.some(({ path }) => path.endsWith(".safetensors"))) return chosen;
  throw new UserError("this repository has no .safetensors weights, and others are not read");
}

/** A folder that somebody brought: the same files, copied unless they are there already. */
function copyFolder(from: string, to: string, { say }: FetchModelOptions): FetchedModel {
  if (!existsSync(join(from, "config.json")))
    throw new UserError(`${from} is not a model's folder: it has no config.json`);
  const names = readdirSync(from, { recursive: true, encoding: "utf8" }).filter((name) => needed.test(name));
  say?.(`${names.length} files from ${from} to ${to}`);
  let [bytes, fetched] = [0, 0];
  for (const name of names) {
    const [source, target] = [join(from, name), join(to, name)];
    const { size } = statSync(source);
    bytes += size;
    if (existsSync(target) && statSync(target).size === size) continue;
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(source, target);
    fetched++;
  }
  return { folder: to, files: names.length, fetched, bytes };
}
