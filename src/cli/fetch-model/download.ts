/**
 * One file from the web to disk: resumed where it broke off, checked against its hash, put in place whole.
 *
 * Bytes go to `<file>.<hash>.part` first; a second try asks for the rest only, and never of another version of the file. A
 * file that is already there with the right hash is not fetched again. A server that falls silent is given up.
 */
import { createHash, type Hash } from "node:crypto";
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { systemRefusal, UserError } from "#registry";

/** What the file must be: its size, and either git's hash of a small file or SHA-256 of a large one. */
export interface Expected {
  readonly size: number;
  readonly sha256?: string | undefined;
  readonly gitSha1?: string | undefined;
}

export interface DownloadOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly onBytes?: (bytes: number) => void;
  /** Milliseconds without a byte after which the server is given up. */
  readonly patience?: number;
}

/** True when something was fetched, false when the file was already there. */
export async function download(
  url: string,
  path: string,
  expected: Expected,
  options: DownloadOptions = {},
): Promise<boolean> {
  if (existsSync(path) && (await isWhole(path, expected))) {
    options.onBytes?.(expected.size);
    return false;
  }
  mkdirSync(dirname(path), { recursive: true });
  const part = `${path}.${(expected.sha256 ?? expected.gitSha1 ?? "unknown").slice(0, 12)}.part`;
  if (existsSync(part) && statSync(part).size > expected.size) rmSync(part);
  await fetchRest(url, part, expected.size, options);
  if (!(await isWhole(part, expected))) {
    rmSync(part);
    throw new UserError(`${url} did not arrive whole: its hash is not the published one; try again`);
  }
  renameSync(part, path);
  return true;
}

async function fetchRest(
  url: string,
  part: string,
  size: number,
  { headers = {}, onBytes, patience = 60_000 }: DownloadOptions,
): Promise<void> {
  const have = existsSync(part) ? statSync(part).size : 0;
  if (have === size && size > 0) return onBytes?.(have);
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(new Error(`no byte for ${patience / 1000} s`)), patience);
  try {
    const range = have > 0 ? { range: `bytes=${have}-` } : {};
    const response = await fetch(url, { headers: { ...headers, ...range }, signal: silence.signal });
    if (!response.ok || !response.body)
      throw new UserError(`${url} answered ${response.status} ${response.statusText}`.trim());
    const goesOn = response.status === 206;
    if (goesOn) onBytes?.(have);
    const counted = async function* (chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const chunk of chunks) {
        timer.refresh();
        onBytes?.(chunk.length);
        yield chunk;
      }
    };
    const source = Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]);
    await pipeline(source, counted, createWriteStream(part, { flags: goesOn ? "a" : "w" }));
  } catch (error) {
    if (error instanceof UserError || systemRefusal(error) !== undefined) throw error;
    const { message, cause } = (silence.signal.reason ?? error) as Error;
    const why = cause instanceof Error ? `${message}: ${cause.message}` : message;
    throw new UserError(`${url} broke off (${why}); run the same command again to go on`);
  } finally {
    clearTimeout(timer);
  }
}

/** Whether a file is what it must be, as far as that is known. */
export async function isWhole(path: string, { size, sha256, gitSha1 }: Expected): Promise<boolean> {
  if (statSync(path).size !== size) return false;
  if (sha256 !== undefined) return (await digest(path, createHash("sha256"))) === sha256;
  if (gitSha1 === undefined) return true;
  const hash = createHash("sha1").update(`blob ${size}\0`); // how git names a file's content
  return (await digest(path, hash)) === gitSha1;
}

export const sha256Of = (path: string): Promise<string> => digest(path, createHash("sha256"));

async function digest(path: string, hash: Hash): Promise<string> {
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  return hash.digest("hex");
}
