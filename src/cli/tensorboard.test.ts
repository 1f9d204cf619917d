import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { tensorboardCommand } from "./tensorboard.ts";

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
