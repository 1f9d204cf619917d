/** Gets one exact wheel, known by its hash, from PyPI (or the index that pip is set up with), or from a folder of wheels. */
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setUpFolder, UserError } from "#registry";
import { sha256 } from "../manifest.ts";

export interface Wheel {
  readonly name: string;
  readonly version: string;
  /** Of the published file; no other is opened. */
  readonly sha256: string;
}

const venvPython = join(setUpFolder(), ".deps", "venv", "bin", "python");

/** The wheel's path: found in `folder`, or downloaded there. */
export async function getWheel(wheel: Wheel, folder: string): Promise<string> {
  const found = findWheel(wheel, folder);
  if (found) return checked(found, wheel);
  const python = existsSync(venvPython) ? venvPython : "python3";
  const wanted = `${wheel.name}==${wheel.version}`;
  const options = ["--no-deps", "--only-binary", ":all:", "--disable-pip-version-check", "--quiet", "--dest"];
  const { code, output } = await run(python, ["-m", "pip", "download", ...options, folder, wanted]);
  const path = findWheel(wheel, folder);
  if (code === 0 && path) return checked(path, wheel);
  throw new UserError(
    `pip could not download ${wanted}:\n${output.trim()}\nput its wheel into a folder and give it with --wheels FOLDER`,
  );
}

function checked(path: string, wheel: Wheel): string {
  const found = sha256(readFileSync(path));
  if (found === wheel.sha256) return path;
  throw new UserError(
    `${basename(path)} is not the published file: its SHA-256 is ${found}, expected ${wheel.sha256}; ` +
      "it was not opened. Remove it and get it from PyPI",
  );
}

function findWheel({ name, version }: Wheel, folder: string): string | undefined {
  const beginning = `${name.replaceAll("-", "_")}-${version}-`;
  const file = existsSync(folder)
    ? readdirSync(folder).find((entry) => entry.startsWith(beginning) && entry.endsWith(".whl"))
    : undefined;
  return file && join(folder, file);
}

/** Minutes that a download may take; pip's own time-outs end one that stands still long before. */
const longest = 60;

/** Runs a program to its end, or to its deadline; its output is kept for the message of a failure. */
export function run(program: string, args: readonly string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], timeout: 60_000 * longest });
    let output = "";
    const collect = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-4000);
    };
    child.stdout.on("data", collect);
    child.stderr.on("data", collect);
    child.on("error", (error) => reject(new UserError(`cannot run ${program}: ${error.message}`)));
    child.on("close", (code, signal) => {
      const end =
        signal === null ? "" : `\n${program} was ended by ${signal} (it may take ${longest} minutes)`;
      resolve({ code: code ?? 1, output: output + end });
    });
  });
}
