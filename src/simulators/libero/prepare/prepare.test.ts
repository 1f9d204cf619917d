/** Preparing LIBERO's files: sources, what is needed, checksums, and everything that can be wrong with them. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { UserError } from "#registry";
import { fileChecker, isIntact, readManifest, sha256, writeManifest } from "../manifest.ts";
import { hubSource } from "./hub-source.ts";
import { localSource } from "./local-assets.ts";
import { withLock } from "./lock.ts";
import { firstFiles, neededBy } from "./needed-files.ts";
import { getWheel } from "./pip.ts";

const root = mkdtempSync(join(tmpdir(), "reverie-prepare-"));
after(() => rmSync(root, { recursive: true, force: true }));
const folder = (name: string, files: Record<string, string> = {}): string => {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name, file)), { recursive: true });
    writeFileSync(join(root, name, file), text);
  }
  mkdirSync(join(root, name), { recursive: true });
  return join(root, name);
};
const bytes = (text: string) => new TextEncoder().encode(text);
const read = async (promise: Promise<Uint8Array | undefined>) => new TextDecoder().decode(await promise);

test("all 130 tasks, their starts and the robots are where following begins", () => {
  const files = firstFiles();
  assert.equal(files.filter((file) => file.endsWith(".bddl")).length, 130);
  assert.equal(files.filter((file) => file.endsWith(".pruned_init")).length, 130);
  assert.ok(files.includes("robosuite/robots/panda/robot.xml"));
});

test("a task needs its stage and categories; a stage needs its textures as replaced, each asset once", () => {
  const task = `(define (problem LIBERO_Floor_Manipulation) (:fixtures floor - floor) (:objects a - basket)
    (:goal (And (On a a))))`;
  const stage = "libero/scenes/libero_floor_base_style.xml";
  const basket = "libero/stable_scanned_objects/basket/basket.xml";
  assert.deepEqual(neededBy("bddl_files/t.bddl", bytes(task)), [stage, basket]);
  const scene = `<mujoco><asset><texture name="texplane" file="../textures/old.png"/><mesh name="m" file="a/m.msh"/>
    <mesh name="m" file="a/absent.msh"/><texture type="skybox"/></asset></mujoco>`;
  assert.deepEqual(neededBy(stage, bytes(scene)), [
    "libero/textures/light-gray-floor-tile.png",
    "libero/scenes/a/m.msh",
  ]);
});

const landmark = "scenes/libero_tabletop_base_style.xml";

test("a folder of assets is found a few levels down, as a folder or packed", async () => {
  const outer = folder("outer", { [`downloads/libero/${landmark}`]: "<mujoco/>" });
  assert.equal(await read((await localSource(outer, "")).read(landmark)), "<mujoco/>");
  const archive = join(root, "assets.tar.gz");
  execFileSync("tar", ["-czf", archive, "-C", outer, "."]);
  const source = await localSource(archive, join(root, "scratch"));
  assert.equal(await read(source.read(landmark)), "<mujoco/>");
  assert.equal(await source.read("scenes/absent.xml"), undefined);
  assert.equal(source.label, "assets.tar.gz");
});

test("a path that is absent, no archive, or without assets is refused with what was expected", async () => {
  const junk = join(folder("junk", { "a.tar.xz": "not a tar" }), "a.tar.xz");
  await assert.rejects(localSource(join(root, "nowhere"), ""), /no such folder or archive/);
  await assert.rejects(localSource(junk, join(root, "scratch2")), /tar cannot unpack it/);
  await assert.rejects(
    localSource(folder("bare"), ""),
    /expected LIBERO's assets, with scenes\/libero_tabletop/,
  );
});

test("a wheel is taken from a folder; one that no index has names the command's way out", async () => {
  const wheels = folder("wheels", { "some_thing-1.2-py3-none-any.whl": "a wheel" });
  const wheel = { name: "some-thing", version: "1.2", sha256: sha256(bytes("a wheel")) };
  assert.match(await getWheel(wheel, wheels), /some_thing-1\.2-py3-none-any\.whl$/);
  await assert.rejects(
    getWheel({ ...wheel, name: "reverie-no-such-package" }, folder("empty")),
    (error: unknown) =>
      error instanceof UserError && /pip could not download .*--wheels FOLDER/s.test(error.message),
  );
});

test("a wheel that is not the published file is refused by its hash, and not opened", async () => {
  const wheels = folder("forged", { "some_thing-1.2-py3-none-any.whl": "another wheel" });
  const wheel = { name: "some-thing", version: "1.2", sha256: sha256(bytes("a wheel")) };
  await assert.rejects(
    getWheel(wheel, wheels),
    (error: unknown) => error instanceof UserError && error.message.includes(sha256(bytes("another wheel"))),
  );
});

/** Speaks as much of the hub's protocol as a small file needs. */
const revision = "0b3ea86be5fe169d0fd036ae63d1070ec09e90f6";
async function hubServer(
  answer: (path: string) => { body: string; etag?: string } | undefined,
  watch: (request: IncomingMessage) => void = () => {},
): Promise<Server> {
  const server = createServer((request, response) => {
    watch(request);
    const path = decodeURIComponent(request.url ?? "").split(`/resolve/${revision}/`)[1] ?? "";
    const found = answer(path);
    if (!found) return response.writeHead(404, { "X-Error-Code": "EntryNotFound" }).end();
    const range = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? "");
    const etag = found.etag ?? '"abc"';
    const size = Buffer.byteLength(found.body);
    if (!range) return response.writeHead(200, { ETag: etag, "Content-Length": size }).end(found.body);
    const part = Buffer.from(found.body).subarray(Number(range[1]), Number(range[2]) + 1);
    return response.writeHead(206, { ETag: etag, "Content-Range": `bytes 0-0/${size}` }).end(part);
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  return server;
}
const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

test("a file from the hub is checked, a missing one is missing, a failing server is tried three times", async () => {
  let asked = 0;
  const good = sha256(bytes("mesh"));
  const server = await hubServer((path) => {
    if (path === "a/m.msh") return { body: "mesh", etag: `"${good}"` };
    if (path === "a/bad.msh") asked++;
    return path === "a/bad.msh" ? { body: "mush", etag: `"${good}"` } : undefined;
  });
  const source = hubSource({ hubUrl: urlOf(server), pause: 1 });
  assert.equal(await read(source.read("a/m.msh")), "mesh");
  assert.equal(await source.read("a/none.msh"), undefined);
  await assert.rejects(
    source.read("a/bad.msh"),
    /cannot download a\/bad\.msh .*checksum is wrong.*--from PATH/s,
  );
  assert.ok(asked >= 3);
  server.closeAllConnections();
  server.close();
});

test("the pinned revision is asked for and said, and a token is shown to the server", async () => {
  const asked: (string | undefined)[] = [];
  const server = await hubServer(
    () => ({ body: "mesh" }),
    (request) => asked.push(request.headers.authorization),
  );
  const source = hubSource({ hubUrl: urlOf(server), accessToken: "hf_secret", pause: 1 });
  assert.equal(await read(source.read("a/m.msh")), "mesh");
  assert.ok(asked.length > 0 && asked.every((header) => header === "Bearer hf_secret"), String(asked));
  assert.match(source.label, new RegExp(`revision ${revision.slice(0, 7)}`));
  server.closeAllConnections();
  server.close();
});

test("an unreachable hub says so and offers a local copy", async () => {
  const source = hubSource({ hubUrl: "http://127.0.0.1:9", pause: 1 });
  await assert.rejects(
    source.read("a"),
    (error: unknown) => error instanceof UserError && /--from PATH/.test(error.message),
  );
});

test("a changed, shortened or removed file is named against the manifest; an unlisted one is not judged", () => {
  const place = folder("checked", { "libero/a.png": "picture", "libero/b.png": "other" });
  const entry = { bytes: 7, sha256: sha256(bytes("picture")), source: "test" };
  writeManifest(
    place,
    new Map([
      ["libero/a.png", entry],
      ["libero/gone.png", entry],
    ]),
  );
  assert.deepEqual(readManifest(place).get("libero/a.png"), entry);
  assert.ok(isIntact(place, "libero/a.png", entry));
  fileChecker(place)(join(place, "libero/a.png"));
  fileChecker(place)(join(place, "libero/b.png"));
  for (const text of ["picturE", "pic"]) {
    writeFileSync(join(place, "libero/a.png"), text);
    assert.throws(
      () => fileChecker(place)(join(place, "libero/a.png")),
      /LIBERO's libero\/a\.png .*reverie fetch libero/,
    );
  }
  assert.throws(() => fileChecker(place)(join(place, "libero/gone.png")), /missing or not the file/);
  writeFileSync(join(place, "manifest.json"), "{");
  assert.throws(() => readManifest(place), /manifest\.json is damaged; remove it/);
});

test("two preparations of one folder take turns, and the lock of a dead one does not stop the next", async () => {
  const place = folder("locked");
  const order: string[] = [];
  const work = (name: string) => async () => {
    order.push(`${name} begins`);
    await new Promise((resume) => setTimeout(resume, 50));
    order.push(`${name} ends`);
  };
  await Promise.all([withLock(place, work("a"), () => {}), withLock(place, work("b"), () => {})]);
  assert.deepEqual(order, ["a begins", "a ends", "b begins", "b ends"]);
  const leaver = `
    import { FileLock } from "./src/formats/index.ts";
    FileLock.take(${JSON.stringify(join(place, ".preparing.lock"))}, "dead");
    process.kill(process.pid, "SIGKILL");`;
  spawnSync(process.execPath, ["--import", "tsx", "--input-type=module", "-e", leaver]);
  assert.ok(existsSync(join(place, ".preparing.lock")));
  await withLock(
    place,
    async () => order.push("after"),
    () => {},
  );
  assert.equal(order.at(-1), "after");
});
