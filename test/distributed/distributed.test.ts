import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { benchPython } from "../../bench/python.ts";

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));

interface Ended {
  readonly output: string;
  readonly code: number | null;
  readonly seconds: number;
}

interface Rank {
  /** Where rank 0 listens; never told by the others. */
  readonly port: Promise<number>;
  readonly ended: Promise<Ended>;
}

function start(command: string, args: readonly string[]): Rank {
  const begun = performance.now();
  // Python's Gloo finds its interface by the host's name; on machines where that does not resolve, loopback always works.
  const child = spawn(command, args, {
    env: { ...process.env, GLOO_SOCKET_IFNAME: "lo", OMP_NUM_THREADS: "1" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  const port = new Promise<number>((resolve, reject) => {
    child.stdout.on("data", (data) => {
      output += data;
      const [first = "{}"] = output.split("\n");
      if (output.includes("\n") && "port" in JSON.parse(first)) resolve(Number(JSON.parse(first).port));
    });
    child.on("close", (code) =>
      reject(new Error(`${command} ended with code ${code} before it told its port`)),
    );
  });
  port.catch(() => {}); // only rank 0 is asked for it
  const ended = new Promise<Ended>((resolve) =>
    child.on("close", (code) => {
      const last = output.trim().split("\n").at(-1) ?? "";
      resolve({ output: last, code, seconds: (performance.now() - begun) / 1000 });
    }),
  );
  return { port, ended };
}

const node = (...args: (string | number)[]) =>
  start(process.execPath, ["--import", "tsx", here("node-rank.ts"), ...args.map(String)]);

/** Rank 0 takes any port and tells it; the others follow. */
async function meet(first: Rank, others: (port: number) => readonly Rank[]): Promise<Ended[]> {
  const port = await first.port;
  return Promise.all([first, ...others(port)].map(({ ended }) => ended));
}

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

test("three Node ranks agree in all-reduce, broadcast, all-gather and reduce-scatter, and listen on loopback only", async () => {
  const ended = await meet(node(0, 3, 0), (port) => [1, 2].map((rank) => node(rank, 3, port)));
  for (const [rank, { output }] of ended.entries())
    assert.deepEqual(JSON.parse(output), { ...expected(rank, 3), outside: [] });
});

function pythonWithTorch(): string | undefined {
  try {
    const packages = ["numpy", "filelock", "typing_extensions", "sympy", "networkx", "jinja2", "fsspec"];
    const python = benchPython(packages);
    // Where libtorch is the CPU half of PyPI's CUDA build, its Python half is not there.
    return spawnSync(python, ["-c", "import torch"]).status === 0 ? python : undefined;
  } catch {
    return undefined;
  }
}

for (const pythonRank of [0, 1]) {
  test(`a Node rank and a Python rank share one group, Python being rank ${pythonRank}`, async (t) => {
    const python = pythonWithTorch();
    if (!python) return t.skip("needs a Python that can import torch, and none could be set up");
    const script = (port: number) =>
      start(python, [here("python_rank.py"), String(pythonRank), "2", String(port)]);
    const ended =
      pythonRank === 0
        ? await meet(script(0), (port) => [node(1, 2, port)])
        : await meet(node(0, 2, 0), (port) => [script(port)]);
    assert.deepEqual(JSON.parse(ended[pythonRank]!.output), expected(pythonRank, 2));
    const ours = 1 - pythonRank;
    assert.deepEqual(JSON.parse(ended[ours]!.output), { ...expected(ours, 2), outside: [] });
  });
}

test("when a rank dies the others fail with a clear error within the time-out", async () => {
  const [survivor] = await meet(node(0, 2, 0, "die", 5000), (port) => [node(1, 2, port, "die", 5000)]);
  assert.ok(survivor);
  assert.equal(survivor.code, 3);
  assert.match(JSON.parse(survivor.output).error, /PeerLost: all_reduce failed on rank 0 of 2/);
  assert.ok(survivor.seconds < 30, `${survivor.seconds} s`);
});
