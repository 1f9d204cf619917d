import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../../../bin/reverie.mjs", import.meta.url));
const doctor = (env: NodeJS.ProcessEnv = {}) => {
  const options = { encoding: "utf8", env: { ...process.env, ...env } } as const;
  return spawnSync(process.execPath, [program, "doctor", "--json"], options);
};

test("the doctor finds both libraries in this checkout and measures a renderer", () => {
  const { mujoco, torch, renderers } = JSON.parse(doctor().stdout);
  assert.equal(mujoco.version, "3.3.7");
  assert.match(torch.version, /^2\./);
  const working = renderers.filter(({ works }: { works: boolean }) => works);
  for (const { framesPerSecond } of working) assert.ok(framesPerSecond > 0);
});

test("with a torch addon that cannot be opened the doctor still answers, and fails", () => {
  const { stdout, status } = doctor({ REVERIE_TORCH_ADDON: "absent.node", REVERIE_TORCH: "absent" });
  const { torch, missing } = JSON.parse(stdout);
  assert.match(torch.error, /absent\.node/);
  assert.ok(missing.length > 0);
  assert.equal(status, 1);
});
