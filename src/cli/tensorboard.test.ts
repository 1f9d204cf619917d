import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { writeWheel } from "../../scripts/setup/small-wheel.ts";
import { installTensorBoard, tensorboardCommand } from "./tensorboard.ts";

const folder = mkdtempSync(join(tmpdir(), "reverie-tensorboard-"));
after(() => rmSync(folder, { recursive: true }));

test("a port that is none, or is taken, is said before anything is fetched", async () => {
  for (const port of ["0", "65536", "six", "60.5", ""])
    await assert.rejects(tensorboardCommand.run([folder, "--port", port]), /--port takes a whole number/);
  const server = createServer();
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as AddressInfo;
  await assert.rejects(
    tensorboardCommand.run([folder, "--port", String(port)]),
    /is taken by another program/,
  );
  server.close();
});

test("a folder that is not there is said to be so", async () => {
  await assert.rejects(tensorboardCommand.run([join(folder, "none")]), /there is no folder .*none/);
});

const list = readFileSync(new URL("./tensorboard-wheels.txt", import.meta.url), "utf8");
const pins = [...list.matchAll(/^([a-z-]+)==([\d.]+)/gm)].map(([, name = "", version = ""]) => ({
  name,
  version,
}));
const noPython = existsSync(new URL("../../.deps/venv/bin/python", import.meta.url))
  ? false
  : "the set-up's Python is not here";

test("every package is pinned by version and by at least one SHA-256", () => {
  const names = pins.map(({ name }) => name);
  for (const name of ["tensorboard", "setuptools", "numpy", "protobuf", "grpcio"])
    assert.ok(names.includes(name), name);
  for (const entry of list
    .replace(/^#.*\n/gm, "")
    .split(/\n(?! )/)
    .filter(Boolean))
    assert.match(
      entry,
      /^[a-z-]+==[\d.]+( ; python_version [<>=]+ "3\.\d+")? \\(\n {4}--hash=sha256:[0-9a-f]{64}( \\)?)+$/,
    );
});

test("files of the right name and version with other contents are not installed", {
  skip: noPython,
}, async (context) => {
  const forged = join(folder, "forged");
  mkdirSync(forged);
  for (const { name, version } of pins)
    writeWheel(forged, {
      file: `${name.replaceAll("-", "_")}-${version}-py3-none-any.whl`,
      contents: { [`${name.replaceAll("-", "_")}.py`]: "" },
    });
  const before = { ...process.env };
  context.after(() => void (process.env = before));
  process.env = { ...before, PIP_NO_INDEX: "1", PIP_FIND_LINKS: forged, PIP_CONFIG_FILE: "/dev/null" };
  const library = join(folder, "library");
  await assert.rejects(installTensorBoard(library), /DO NOT MATCH THE HASHES/);
  assert.ok(!existsSync(library));
});
