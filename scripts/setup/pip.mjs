/**
 * pip inside the checkout's own virtual environment, `.deps/venv`.
 *
 * Wheels are unpacked with --no-deps: we want the native libraries and headers that they carry, not the
 * Python packages that they ask for. pip writes a wheel's RECORD file last, so its presence tells a whole
 * installation from an interrupted one.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { deps, sitePackages, venv } from "./folders.mjs";
import { runProgram } from "./progress.mjs";
import { findPython } from "./requirements.mjs";

const python = join(venv, "bin", "python");

/** Makes the virtual environment unless a working one is there; one that an interruption broke is replaced. */
export async function ensureVenv(detail) {
  if (existsSync(python) && spawnSync(python, ["-m", "pip", "--version"]).status === 0) return;
  const program = findPython();
  mkdirSync(deps, { recursive: true });
  detail("making .deps/venv");
  await runProgram(program, ["-m", "venv", "--clear", venv]);
}

/** Installs requirements into the virtual environment; `args` are further options of pip. */
export async function pipInstall(requirements, args, detail) {
  const base = ["-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--progress-bar", "off"];
  const onLine = (line) => detail(line.trim().slice(0, 70));
  await runProgram(python, [...base, ...args, ...requirements], { onLine, env: pipEnvironment() });
}

/** What pip would install for one requirement: its version, file address and own requirements. */
export async function pipResolve(requirement, args) {
  const report = join(deps, `pip-report-${process.pid}.json`);
  const dry = ["-m", "pip", "install", "--disable-pip-version-check", "--no-input", "-q", "--dry-run"];
  try {
    await runProgram(
      python,
      [...dry, "--ignore-installed", "--no-deps", "--report", report, ...args, requirement],
      { env: pipEnvironment() },
    );
    const [{ metadata, download_info: source }] = JSON.parse(readFileSync(report, "utf8")).install;
    return { version: metadata.version, url: source.url, requires: metadata.requires_dist ?? [] };
  } finally {
    rmSync(report, { force: true });
  }
}

/** Whether an address can be opened within a few seconds, asked through Python because it honours proxies as pip does. */
export function answersQuickly(url) {
  const question = "import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=4).read(1)";
  return spawnSync(python, ["-c", question, url], { timeout: 6000 }).status === 0;
}

/** The `.dist-info` folder of a completely installed package, or undefined. */
export function installedInfo(name) {
  const site = sitePackages();
  if (site === undefined) return undefined;
  const folder = readdirSync(site).find(
    (entry) => entry.startsWith(`${name}-`) && entry.endsWith(".dist-info"),
  );
  if (folder === undefined || !existsSync(join(site, folder, "RECORD"))) return undefined;
  return { version: folder.slice(name.length + 1, -".dist-info".length), folder: join(site, folder) };
}

/** The caller's own pip settings stay in force; only what would put packages elsewhere is taken out. */
function pipEnvironment() {
  const { PIP_TARGET, PIP_PREFIX, PIP_USER, PYTHONHOME, PYTHONPATH, ...env } = process.env;
  return env;
}
