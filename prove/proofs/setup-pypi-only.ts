/**
 * Sets a clean clone up as on a machine that reaches PyPI, npm and Debian's packages but nothing of PyTorch's, builds
 * it, tests tensors on it, and moves it elsewhere.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { UserError } from "#registry";
import { Checks, type Proof } from "../proof.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** How this machine reaches the network at all: certificates and proxies. Everything else of the reader's is taken away. */
const network = /^(SSL_CERT_\w+|NODE_EXTRA_CA_CERTS|PIP_CERT|REQUESTS_CA_BUNDLE|\w+_proxy|\w+_PROXY)$/;

/** Python's name service, without PyTorch's hosts: so the proof means the same where they can be reached. */
const block = `import socket
known = socket.getaddrinfo
def without_pytorch(host, *args, **more):
    if "pytorch.org" in str(host): raise socket.gaierror("not reachable in this proof")
    return known(host, *args, **more)
socket.getaddrinfo = without_pytorch
`;

export const proof: Proof = {
  claim:
    "a machine that reaches only PyPI, npm and Debian packages sets itself up, and the checkout may be moved",
  goal: "all checks hold",
  minutes: 3,
  needs: "the network (about 620 MB are fetched) and 4 GB of disk",

  async run(say) {
    const checks = new Checks(say);
    const place = mkdtempSync(join(tmpdir(), "reverie-pypi-only-"));
    try {
      tryPlace(place, checks, say);
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
    return checks.outcome();
  },
};

function tryPlace(place: string, checks: Checks, say: (line: string) => void): void {
  const clone = join(place, "clone");
  say(`a clean clone of ${cloneInto(clone)}, an empty HOME, no pip settings, PyTorch's hosts out of reach`);
  const env = bareEnvironment(place);
  const setUp = timed(() => runIn(clone, env, ["scripts/setup.mjs"]));
  say(setUp.output.replace(/^/gm, "  | "));
  checks.check(`set-up succeeds (${setUp.seconds} s)`, setUp.status === 0, `exit code ${setUp.status}`);
  checks.check(
    "it says what is fetched, and why it is larger",
    /530 MB instead of 190 MB/.test(setUp.output),
  );
  const libraries = torchLibraries(clone);
  checks.check("libtorch_cpu.so is there", libraries.includes("libtorch_cpu.so"));
  checks.check(
    "no library of CUDA's half is",
    !libraries.some((name) => /cuda|nvshmem/.test(name)),
    String(libraries),
  );
  testTensors("tensor tests pass on it", clone, { env, checks });
  const moved = join(place, "moved");
  renameSync(clone, moved);
  const again = runIn(moved, env, ["scripts/setup.mjs"]);
  checks.check("moved, it has nothing to do", /set-up is in place/.test(again.output), again.output);
  testTensors("moved, tensor tests pass", moved, { env, checks });
}

function cloneInto(folder: string): string {
  if (!existsSync(join(root, ".git")))
    throw new UserError("this proof clones the checkout, and this is no git checkout");
  execFileSync("git", ["clone", "-q", "--no-hardlinks", root, folder]);
  return execFileSync("git", ["-C", folder, "log", "-1", "--format=%h %s"], { encoding: "utf8" }).trim();
}

function bareEnvironment(place: string): NodeJS.ProcessEnv {
  const blocked = join(place, "blocked");
  mkdirSync(blocked);
  writeFileSync(join(blocked, "sitecustomize.py"), block);
  mkdirSync(join(place, "home"));
  const kept = Object.entries(process.env).filter(([name]) => network.test(name));
  const own = {
    HOME: join(place, "home"),
    PATH: process.env.PATH,
    PYTHONPATH: blocked,
    PIP_CONFIG_FILE: "/dev/null",
  };
  return { ...Object.fromEntries(kept), ...own };
}

function runIn(
  folder: string,
  env: NodeJS.ProcessEnv,
  args: readonly string[],
): { status: number | null; output: string } {
  const options = { cwd: folder, env, encoding: "utf8", timeout: 30 * 60_000, maxBuffer: 2 ** 26 } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, args, options);
  return { status, output: `${stdout}${stderr}`.trim() };
}

function timed<T>(work: () => T): T & { seconds: number } {
  const start = Date.now();
  const result = work();
  return { ...result, seconds: Math.round((Date.now() - start) / 1000) };
}

function torchLibraries(clone: string): string[] {
  const lib = join(clone, ".deps", "venv", "lib");
  const python = existsSync(lib) ? (readdirSync(lib)[0] ?? "") : "";
  const folder = join(lib, python, "site-packages", "torch", "lib");
  return existsSync(folder) ? readdirSync(folder) : [];
}

function testTensors(
  what: string,
  folder: string,
  { env, checks }: { env: NodeJS.ProcessEnv; checks: Checks },
): void {
  const { status, output } = runIn(folder, env, ["--import", "tsx", "scripts/test.ts", "src/tensor"]);
  const summary = /(\d+) passed, (\d+) failed/.exec(output);
  const found = summary?.[0] ?? output.slice(-500);
  checks.check(`${what} (${found})`, status === 0 && Number(summary?.[1] ?? 0) > 20, found);
}
