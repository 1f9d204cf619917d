/**
 * pip inside the checkout's own virtual environment, `.deps/venv`.
 *
 * Wheels are downloaded first, held against the pinned hashes, and only then unpacked, with --no-deps: we want the
 * native libraries and headers that they carry, not the Python packages that they ask for. pip writes a wheel's RECORD
 * file last, so its presence tells a whole installation from an interrupted one. pip is started as `python -m pip`:
 * the environment's scripts name their interpreter by an absolute path, which a moved checkout makes untrue.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deps, sitePackages, venv } from "./folders.mjs";
import { runProgram } from "./progress.mjs";
import { findPython } from "./requirements.mjs";
import { constraintLines, judgeWheel } from "./wheel-hashes.mjs";

const python = join(venv, "bin", "python");
const downloads = join(deps, "wheels");
const always = ["--disable-pip-version-check", "--no-input"];

/** Makes the virtual environment unless a working one is there; one that an interruption broke is replaced. */
export async function ensureVenv(detail) {
  if (existsSync(python) && spawnSync(python, ["-m", "pip", "--version"]).status === 0) return;
  const program = findPython();
  mkdirSync(deps, { recursive: true });
  detail("making .deps/venv");
  await runProgram(program, ["-m", "venv", "--clear", venv]);
}

/**
 * Downloads wheels, checks them, and installs them. `args` are further options for the download; with `dependencies`
 * what the wheels require comes too, in the versions that are pinned; `asPython` takes wheels made for another Python,
 * which is no matter for libraries that Python does not load.
 */
export async function installWheels(requirements, options) {
  const { args = [], dependencies = false, asPython, detail, progress } = options;
  rmSync(downloads, { recursive: true, force: true });
  mkdirSync(downloads, { recursive: true });
  try {
    const extent = dependencies ? ["--constraint", writeConstraints()] : ["--no-deps"];
    const foreign = asPython === undefined ? [] : ["--python-version", asPython];
    const wanted = [
      "--only-binary",
      ":all:",
      "--dest",
      downloads,
      ...extent,
      ...foreign,
      ...args,
      ...requirements,
    ];
    await pip("download", wanted, detail);
    const wheels = readdirSync(downloads).filter((file) => file.endsWith(".whl"));
    const paths = wheels.map((file) => join(downloads, file));
    detail("checking hashes");
    for (const path of paths) await checkWheel(path, progress);
    const place = asPython === undefined ? [] : [...foreign, "--target", sitePackages(), "--upgrade"];
    const unpack = ["--no-index", "--no-deps", "--no-compile", "--force-reinstall", ...place];
    await pip("install", [...unpack, ...paths], detail);
  } finally {
    rmSync(downloads, { recursive: true, force: true });
  }
}

async function checkWheel(path, progress) {
  const remark = await judgeWheel(path, { hasOwnIndex });
  if (remark !== undefined) progress.advise(remark);
}

function writeConstraints() {
  const path = join(downloads, "constraints.txt");
  writeFileSync(path, `${constraintLines().join("\n")}\n`);
  return path;
}

async function pip(command, args, detail) {
  const onLine = (line) => detail(line.trim().slice(0, 70));
  const quiet = [...always, "--progress-bar", "off"];
  await runProgram(python, ["-m", "pip", command, ...quiet, ...args], { onLine, env: pipEnvironment() });
}

/** The environment's Python, as [major, minor]; asked after `ensureVenv`. */
export function venvVersion() {
  const [, version = "0.0"] = /python(\d+\.\d+)/.exec(sitePackages() ?? "") ?? [];
  return version.split(".").map(Number);
}

let ownIndex;

/** Whether the reader's pip settings (files or PIP_* variables) name an index or a folder of wheels; asked once. */
function hasOwnIndex() {
  if (ownIndex !== undefined) return ownIndex;
  const ask = ["-m", "pip", "config", "list", ...always];
  const answer = spawnSync(python, ask, { encoding: "utf8", env: pipEnvironment(), timeout: 60_000 });
  ownIndex = /\.(index-url|extra-index-url|find-links)=/.test(answer.stdout ?? "");
  return ownIndex;
}

/** What pip would install for one requirement: its version, file address and own requirements. */
export async function pipResolve(requirement, args) {
  const report = join(deps, `pip-report-${process.pid}.json`);
  const dry = ["-m", "pip", "install", ...always, "-q", "--dry-run"];
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

/** Whether an address can be opened within a few seconds, asked through Python because it honors proxies as pip does. */
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

/**
 * The caller's own pip settings stay in force; only what would put packages elsewhere, or ask for sources or for hashes in
 * pip's own way, is taken out.
 */
function pipEnvironment() {
  const { PIP_TARGET, PIP_PREFIX, PIP_USER, PIP_NO_BINARY, PYTHONHOME, PYTHONPATH, ...env } = process.env;
  return { ...env, PIP_REQUIRE_HASHES: "0" }; // a zero also overrides pip's configuration files
}
