import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { chooseFiles, fetchModel, modelFolder } from "./index.ts";

const config = Buffer.from('{"model_type":"openvla"}');
const weights = Buffer.alloc(3_000_000, "weights");
const sha256 = createHash("sha256").update(weights).digest("hex");
const gitSha1 = createHash("sha1").update(`blob ${config.length}\0`).update(config).digest("hex");

/** A small stand-in for the Hub: two of its addresses, with ranges; it can lie or break off on demand. */
let breakAfter = Number.POSITIVE_INFINITY;
let lie = false;
const asked: string[] = [];
const server: Server = createServer((request, response) => {
  const { url = "", headers } = request;
  if (url.startsWith("/api/models/lab/policy/tree/")) {
    response.setHeader("content-type", "application/json");
    const lfs = { oid: lie ? "0".repeat(64) : sha256, size: weights.length, pointerSize: 1 };
    response.end(
      JSON.stringify([
        { type: "file", path: "config.json", size: config.length, oid: gitSha1 },
        { type: "file", path: "model.safetensors", size: weights.length, oid: "x", lfs },
        { type: "file", path: "pytorch_model.bin", size: 9, oid: "y" },
      ]),
    );
    return;
  }
  const body = url.endsWith("config.json") ? config : url.endsWith("model.safetensors") ? weights : undefined;
  asked.push(`${url.split("/").at(-1)} ${headers.range ?? "whole"}`);
  if (!body) return void response.writeHead(404).end();
  const from = Number(/bytes=(\d+)-/.exec(headers.range ?? "")?.[1] ?? 0);
  response.writeHead(from > 0 ? 206 : 200, { "content-length": body.length - from });
  if (body.length - from <= breakAfter) return void response.end(body.subarray(from));
  response.write(body.subarray(from, from + breakAfter), () => response.destroy());
});
let hubUrl = "";
before(async () => {
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  hubUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => server.close());
beforeEach(() => {
  breakAfter = Number.POSITIVE_INFINITY;
  lie = false;
  asked.length = 0;
});

const temporary = (): string => mkdtempSync(join(tmpdir(), "reverie-fetch-"));

test("a model's files are fetched, checked, and not fetched twice; pickles are left out", async () => {
  const to = temporary();
  const first = await fetchModel({ repo: "lab/policy", to, hubUrl });
  assert.deepEqual([first.files, first.fetched], [2, 2]);
  assert.deepEqual(readFileSync(join(to, "model.safetensors")), weights);
  assert.ok(!existsSync(join(to, "pytorch_model.bin")));
  const second = await fetchModel({ repo: "lab/policy", to, hubUrl });
  assert.deepEqual([second.files, second.fetched], [2, 0]);
});

test("a download that broke off goes on where it stopped", async () => {
  const to = temporary();
  breakAfter = 1_000_000;
  await assert.rejects(
    fetchModel({ repo: "lab/policy", to, hubUrl }),
    /broke off .* run the same command again/,
  );
  breakAfter = Number.POSITIVE_INFINITY;
  await fetchModel({ repo: "lab/policy", to, hubUrl });
  assert.match(asked.at(-1)!, /^model\.safetensors bytes=\d+-$/);
  assert.deepEqual(readFileSync(join(to, "model.safetensors")), weights);
});

test("bytes that do not have the published hash are refused and removed", async () => {
  const to = temporary();
  lie = true;
  await assert.rejects(fetchModel({ repo: "lab/policy", to, hubUrl }), /its hash is not the published one/);
  assert.ok(!existsSync(join(to, "model.safetensors")));
  assert.ok(!existsSync(join(to, "model.safetensors.part")));
});

test("a model that is not there is said to be so, and a wrong name never reaches the network", async () => {
  await assert.rejects(fetchModel({ repo: "lab/other", to: temporary(), hubUrl }), /no model lab\/other/);
  await assert.rejects(fetchModel({ repo: "../etc", hubUrl }), /is not a model's name/);
});

test("a server's path that leads out of the folder is refused", () => {
  const entry = { type: "file", size: 1, path: "../../evil.safetensors" } as const;
  assert.throws(() => chooseFiles([entry]), /leads out of its folder; nothing is fetched/);
});

test("a copied folder is taken as it is, once", async () => {
  const [from, to] = [temporary(), temporary()];
  await assert.rejects(fetchModel({ repo: "lab/policy", from, to }), /has no config\.json/);
  writeFileSync(join(from, "config.json"), config);
  writeFileSync(join(from, "model.safetensors"), weights);
  assert.equal((await fetchModel({ repo: "lab/policy", from, to })).fetched, 2);
  assert.equal((await fetchModel({ repo: "lab/policy", from, to })).fetched, 0);
});

test("models live under REVERIE_HOME", () => {
  assert.equal(modelFolder("lab/policy", { REVERIE_HOME: "/data" }), "/data/models/lab/policy");
});
