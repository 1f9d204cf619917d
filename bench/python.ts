/**
 * Python for the reference side of a bench: a virtual environment of its own that sees set-up's torch and MuJoCo,
 * and a child process that answers one JSON line per request, so that both sides can be measured in turns.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** What PyTorch's own wheel, which set-up keeps, imports besides. */
export const torchNeeds = ["numpy", "filelock", "typing_extensions", "sympy", "networkx", "jinja2", "fsspec"];

/** The interpreter with these PyPI packages; REVERIE_PYTHON names one that already has them. */
export function benchPython(packages: readonly string[]): string {
  const given = process.env.REVERIE_PYTHON;
  if (given) return given;
  const folder = join(root, ".deps/bench-venv");
  const python = join(folder, "bin/python");
  if (!existsSync(python)) run("python3", ["-m", "venv", folder]);
  seeSetUpPackages(folder);
  const missing = packages.filter(
    (p) => spawnSync(python, ["-m", "pip", "show", "-q", p.split("==")[0] ?? p]).status !== 0,
  );
  if (missing.length > 0) run(python, ["-m", "pip", "install", "-q", ...missing]);
  return python;
}

/** A .pth file lets the bench's Python import the torch and mujoco that set-up installed, without a second copy. */
function seeSetUpPackages(folder: string): void {
  const versions = (base: string) =>
    readdirSync(join(base, "lib")).map((v) => join(base, "lib", v, "site-packages"));
  const [target] = versions(folder);
  const [source] = versions(join(root, ".deps/venv"));
  if (target && source) writeFileSync(join(target, "reverie.pth"), `${source}\n`);
}

function run(command: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, {
    stdio: ["ignore", "ignore", "pipe"],
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed: ${stderr}`);
}

/** A Python program that reads a JSON request a line and writes a JSON answer a line. */
export class Reference {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #reader: Interface;

  constructor(python: string, script: string, args: readonly string[] = [], env = process.env) {
    this.#child = spawn(python, ["-u", script, ...args], { stdio: ["pipe", "pipe", "inherit"], env });
    this.#child.stdin?.on("error", () => {}); // a program that died is noticed when its answer does not come
    this.#reader = createInterface({ input: this.#child.stdout as NodeJS.ReadableStream });
    this.#lines = this.#reader[Symbol.asyncIterator]();
  }

  async ask<T>(request: Record<string, unknown>): Promise<T> {
    this.#child.stdin?.write(`${JSON.stringify(request)}\n`);
    const { value, done } = await this.#lines.next();
    if (done) throw new Error("the reference program ended early; its errors are above");
    return JSON.parse(value) as T;
  }

  close(): void {
    this.#child.stdin?.end();
    this.#reader.close();
  }
}
