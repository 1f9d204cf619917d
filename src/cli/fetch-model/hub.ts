/** Asks the Hub which commit a revision is, and which files that commit has. No question waits for ever. */
import { HubApiError, type ListFileEntry, listFiles } from "@huggingface/hub";
import { z } from "zod";
import { UserError } from "#registry";
import type { Expected } from "./download.ts";
import type { Repository } from "./repository.ts";

export interface HubOptions {
  readonly hub: string;
  readonly token?: string | undefined;
  /** Milliseconds without an answer after which the Hub counts as absent. */
  readonly patience: number;
}

export type HubFile = Expected & { readonly path: string };

/** The commit that a branch, tag or commit names now: asked once, so that all files are of the same one. */
export async function commitOf(
  repository: Repository,
  revision: string,
  options: HubOptions,
): Promise<string> {
  const { kind, name } = repository;
  const url = `${options.hub}/api/${kind}s/${name}/revision/${encodeURIComponent(revision)}`;
  const answer = await asking(repository, options, async () => {
    const response = await patientFetch(options)(url);
    if (!response.ok) throw new Refusal(response.status);
    return (await response.json()) as unknown;
  });
  const { data } = z.looseObject({ sha: z.string().regex(/^[0-9a-f]{40}$/) }).safeParse(answer);
  if (!data) throw new UserError(`${url} does not say which commit "${revision}" is`);
  return data.sha;
}

export async function filesOf(
  repository: Repository,
  commit: string,
  options: HubOptions,
): Promise<HubFile[]> {
  const entries: ListFileEntry[] = [];
  await asking(repository, options, async () => {
    const listing = listFiles({
      repo: { type: repository.kind, name: repository.name },
      recursive: true,
      revision: commit,
      hubUrl: options.hub,
      fetch: patientFetch(options),
    });
    for await (const entry of listing) entries.push(entry);
  });
  return entries
    .filter(({ type }) => type === "file")
    .map(({ path, size, lfs, oid }) => ({
      path,
      size,
      sha256: lfs?.oid,
      gitSha1: lfs ? undefined : oid,
    }));
}

export const authorization = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

/** With the token, whatever its form: a mirror may have its own; and no longer than the patience lasts. */
const patientFetch =
  ({ token, patience }: HubOptions): typeof fetch =>
  (input, init) => {
    const headers = { ...(init?.headers as Record<string, string> | undefined), ...authorization(token) };
    return fetch(input, { ...init, headers, signal: AbortSignal.timeout(patience) });
  };

class Refusal extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`it answered ${status}`);
    this.status = status;
  }
}

async function asking<T>(repository: Repository, options: HubOptions, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw new UserError(explain(repository, options, error));
  }
}

function explain({ kind, name }: Repository, { hub, patience, token }: HubOptions, error: unknown): string {
  const status =
    error instanceof HubApiError ? error.statusCode : error instanceof Refusal ? error.status : undefined;
  if (status === 401 || status === 403)
    return token === undefined
      ? `${hub} lets nobody read the ${kind} ${name} without a token (private, gated or misspelt): set HF_TOKEN`
      : `${hub} does not let this HF_TOKEN read the ${kind} ${name} (private, gated or misspelt)`;
  if (status === 404)
    return `${hub} has no ${kind} ${name}, or not at this revision${kind === "model" ? `; a dataset is datasets/${name}` : ""}`;
  const late = error instanceof Error && error.name === "TimeoutError";
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
  const why = late ? `no answer for ${patience / 1000} s` : `${(error as Error).message}${cause}`;
  return `${hub} cannot be asked for ${name} (${why}); for a mirror set HF_ENDPOINT, for a copy of the folder use --from FOLDER`;
}
