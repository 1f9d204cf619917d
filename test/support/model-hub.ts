/**
 * A small Hub on loopback for tests: the three addresses that `fetch` uses, with ranges and a token, serving repositories of a few
 * files. It can break off, fall silent, lie about hashes, and move its branch between two questions.
 */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Files = Readonly<Record<string, Buffer>>;

export class TestHub {
  /** "models/lab/policy" or "datasets/lab/starts", by commit; `main` is the last one. */
  readonly repositories = new Map<string, Map<string, Files>>();
  readonly asked: string[] = [];
  breakAfter = Number.POSITIVE_INFINITY;
  silentAt: RegExp | undefined;
  lies = false;
  token: string | undefined;
  readonly #server = createServer((request, response) => this.#answer(request, response));

  async listen(): Promise<string> {
    await new Promise<void>((ready) => this.#server.listen(0, "127.0.0.1", ready));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  calm(): void {
    this.breakAfter = Number.POSITIVE_INFINITY;
    [this.silentAt, this.token, this.lies] = [undefined, undefined, false];
    this.asked.length = 0;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = decodeURIComponent(request.url ?? "");
    this.asked.push(`${url} ${request.headers.range ?? "whole"}`);
    if (this.silentAt?.test(url)) return;
    if (this.token !== undefined && request.headers.authorization !== `Bearer ${this.token}`)
      return void response.writeHead(401).end();
    const listing = /^\/api\/((?:models|datasets)\/[^/]+\/[^/]+)\/(revision|tree)\/([^/?]+)/.exec(url);
    if (listing) return void this.#describe(listing, response);
    const [, place = "", commit = "", path = ""] = /^\/(.+)\/resolve\/([^/]+)\/(.+)$/.exec(url) ?? [];
    const repository = place.startsWith("datasets/") ? place : `models/${place}`;
    const body = this.repositories.get(repository)?.get(commit)?.[path];
    if (!body) return void response.writeHead(404).end();
    this.#send(body, request.headers.range ?? "", response);
  }

  #describe([, repository = "", what, revision = ""]: RegExpExecArray, response: ServerResponse): void {
    const commits = this.repositories.get(repository);
    const commit = revision === "main" ? [...(commits?.keys() ?? [])].at(-1) : revision;
    const files = commits?.get(commit ?? "");
    if (!files) return void response.writeHead(404).end();
    response.setHeader("content-type", "application/json");
    const entries = Object.entries(files).map(([path, body]) => ({
      type: "file",
      path,
      ...this.#hashes(body),
    }));
    response.end(JSON.stringify(what === "revision" ? { sha: commit } : entries));
  }

  /** As the Hub does: SHA-256 for large files, git's own hash for small ones. */
  #hashes(body: Buffer): object {
    const size = body.length;
    if (size < 1000)
      return { size, oid: createHash("sha1").update(`blob ${size}\0`).update(body).digest("hex") };
    const oid = this.lies ? "0".repeat(64) : createHash("sha256").update(body).digest("hex");
    return { size, oid: "x", lfs: { oid, size, pointerSize: 1 } };
  }

  #send(body: Buffer, range: string, response: ServerResponse): void {
    const from = Number(/bytes=(\d+)-/.exec(range)?.[1] ?? 0);
    response.writeHead(from > 0 ? 206 : 200, { "content-length": body.length - from });
    if (body.length - from <= this.breakAfter) return void response.end(body.subarray(from));
    response.write(body.subarray(from, from + this.breakAfter), () => response.destroy());
  }
}
