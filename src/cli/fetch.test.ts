/** What `fetch libero` makes of its options and of the Hub's variables; the fetching itself is tested where it is done. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../../bin/reverie.mjs", import.meta.url));

function fetchLibero(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): { status: number | null; stderr: string } {
  const options = { encoding: "utf8", timeout: 120_000, env: { ...process.env, ...env } } as const;
  return spawnSync(process.execPath, [program, "fetch", "libero", ...args], options);
}

test("LIBERO's files have one revision: another one is refused, not ignored", () => {
  const { status, stderr } = fetchLibero(["--revision", "main"]);
  assert.match(stderr, /LIBERO's files are pinned to one revision/);
  assert.equal(status, 2);
});

test("LIBERO's files come from HF_ENDPOINT too: one that is no address is refused by name", () => {
  const { status, stderr } = fetchLibero([], { HF_ENDPOINT: "mirror" });
  assert.match(stderr, /HF_ENDPOINT is "mirror"/);
  assert.equal(status, 2);
});
