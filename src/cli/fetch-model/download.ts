/**
 * One file from the web to disk: resumed where it broke off, checked against its hash, put in place whole.
 *
 * Bytes go to `<file>.part` first; a second try asks for the rest only. A file that is already there with the right
 * hash is not fetched again.
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
import { UserError } from "#registry";

/** What the file must be: its size, and either git's hash of a small file or SHA-256 of a large one. */
export interface Expected {
  readonly size: number;
  readonly sha256?: string | undefined;
  readonly gitSha1?: string | undefined;
}

export interface DownloadOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly onBytes?: (bytes: number) => void;
}

/** True when something was fetched, false when the file was already there. */
export async function download(
  url: string,
  path: string,
  expected: Expected,
  { headers = {}, onBytes }: DownloadOptions = {},
): Promise<boolean> {
  if (existsSync(path) && (await isWhole(path, expected))) {
    onBytes?.(expected.size);
    return false;
  }
  mkdirSync(dirname(path), { recursive: true });
  const part = `${path}.part`;
  if (existsSync(part) && statSync(part).size > expected.size) rmSync(part);
  await fetchRest(url, part, expected.size, headers, onBytes);
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
  headers: Readonly<Record<string, string>>,
  onBytes?: (bytes: number) => void,
): Promise<void> {
  const have = existsSync(part) ? statSync(part).size : 0;
  if (have === size && size > 0) return onBytes?.(have);
  const response = await fetch(url, {
    headers: { ...headers, ...(have > 0 && { range: `bytes=${have}-` }) },
  });
  if (!response.ok || !response.body) {
    throw new UserError(`${url} answered ${response.status} ${response.statusText}`.trim());
  }
  const goesOn = response.status === 206;
  if (goesOn) onBytes?.(have);
  const source = Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]);
  const counted = async function* (chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      onBytes?.(chunk.length);
      yield chunk;
    }
  };
  try {
    await pipeline(source, counted, createWriteStream(part, { flags: goesOn ? "a" : "w" }));
  } catch (error) {
    throw new UserError(
      `${url} broke off (${(error as Error).message}); run the same command again to go on`,
    );
  }
}

async function isWhole(path: string, { size, sha256, gitSha1 }: Expected): Promise<boolean> {
  if (statSync(path).size !== size) return false;
  if (sha256 !== undefined) return (await digest(path, createHash("sha256"))) === sha256;
  if (gitSha1 === undefined) return true;
  const hash = createHash("sha1").update(`blob ${size}\0`); // how git names a file's content
  return (await digest(path, hash)) === gitSha1;
}

async function digest(path: string, hash: Hash): Promise<string> {
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  return hash.digest("hex");
}
