import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { benchPython } from "../../bench/python.ts";

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

interface Ended {
  readonly output: string;
  readonly code: number | null;
  readonly seconds: number;
}

function start(command: string, args: readonly string[]): Promise<Ended> {
  const begun = performance.now();
  // Gloo finds its interface by the host's name; on machines where that does not resolve, loopback always works.
  const child = spawn(command, args, {
    env: { ...process.env, GLOO_SOCKET_IFNAME: "lo", OMP_NUM_THREADS: "1" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (data) => {
    output += data;
  });
  return new Promise((resolve) =>
    child.on("close", (code) => resolve({ output, code, seconds: (performance.now() - begun) / 1000 })),
  );
}

const node = (...args: (string | number)[]) =>
  start(process.execPath, ["--import", "tsx", here("node-rank.ts"), ...args.map(String)]);

/** What every rank of a group must hold: sums of (r+1), root's 42, r+5 of all, and its own part of the sum. */
function expected(rank: number, world: number) {
  const ranks = Array.from({ length: world }, (_, r) => r);
  const sum = ranks.reduce((total, r) => total + r + 1, 0);
  return {
    sum: [sum, 10 * sum],
    fromRoot: [42],
    gathered: ranks.map((r) => r + 5),
    scattered: [ranks.reduce((total, r) => total + rank + r, 0)],
  };
}

test("three Node ranks agree in all-reduce, broadcast, all-gather and reduce-scatter", async () => {
  const port = await freePort();
  const ended = await Promise.all([0, 1, 2].map((rank) => node(rank, 3, port)));
  for (const [rank, { output }] of ended.entries()) assert.deepEqual(JSON.parse(output), expected(rank, 3));
});

function pythonWithTorch(): string | undefined {
  try {
    return benchPython(["numpy", "filelock", "typing_extensions", "sympy", "networkx", "jinja2", "fsspec"]);
  } catch {
    return undefined;
  }
}

for (const pythonRank of [0, 1]) {
  test(`a Node rank and a Python rank share one group, Python being rank ${pythonRank}`, async (t) => {
    const python = pythonWithTorch();
    if (!python) return t.skip("needs a Python that can import torch, and none could be set up");
    const port = await freePort();
    const [ours, theirs] = await Promise.all([
      node(1 - pythonRank, 2, port),
      start(python, [here("python_rank.py"), String(pythonRank), "2", String(port)]),
    ]);
    assert.deepEqual(JSON.parse(ours.output), expected(1 - pythonRank, 2));
    assert.deepEqual(JSON.parse(theirs.output), expected(pythonRank, 2));
  });
}

test("when a rank dies the others fail with a clear error within the time-out", async () => {
  const port = await freePort();
  const [survivor] = await Promise.all([node(0, 2, port, "die", 5000), node(1, 2, port, "die", 5000)]);
  assert.equal(survivor.code, 3);
  assert.match(JSON.parse(survivor.output).error, /UserError: all_reduce failed on rank 0 of 2/);
  assert.ok(survivor.seconds < 30, `${survivor.seconds} s`);
});
