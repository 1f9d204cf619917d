/**
 * Compiles the two Node-API addons, build/torch.node and build/mujoco.node, with plain g++.
 *
 * One compiler job per source file, as many at a time as the machine has cores and memory for; an object file is
 * named by the hash of all that went into it and is never built twice. The finished addon has a stamp with the
 * hashes of its sources, libraries and settings, so that an up-to-date one is recognized, and an outdated one explained,
 * without starting a program. Paths in stamps and flags are relative to the checkout, which may be moved.
 * Files are written under a temporary name and renamed, so that an interruption leaves nothing half-made.
 */
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism, freemem } from "node:os";
import { basename, join } from "node:path";
import { SetupFailure } from "./failure.mjs";
import { apiHeaders, build, inCheckout, native, root, runPath } from "./folders.mjs";
import { mujocoFolder, mujocoLibrary } from "./mujoco-wheel.mjs";
import { runProgram } from "./progress.mjs";
import { findCompiler } from "./requirements.mjs";
import { torchFlags } from "./torch-flags.mjs";
import { torchFolder } from "./torch-wheel.mjs";

const baseFlags = [
  "-std=c++20",
  "-O2",
  "-fPIC",
  "-fvisibility=hidden",
  "-DNDEBUG",
  "-DBUILDING_NODE_EXTENSION",
];
const warnings = ["-Wall", "-Wextra", "-Wno-unused-parameter", "-Wno-missing-field-initializers"];
const objects = join(build, "objects");
const memoryPerJob = 1.5 * 2 ** 30; // a file that includes libtorch's headers takes about this much

export const torchAddon = makeAddon("torch", {
  flags: torchFlags,
  libraries: () =>
    ["version.py", "lib/libtorch_cpu.so", "lib/libtorch_cuda.so"].map((file) => join(torchFolder(), file)),
});

export const mujocoAddon = makeAddon("mujoco", {
  flags: async () => ({
    compile: [`-I${inCheckout(apiHeaders())}`, "-isystem", inCheckout(join(mujocoFolder(), "include"))],
    link: [
      `-L${inCheckout(mujocoFolder())}`,
      `-l:${mujocoLibrary}`,
      "-ldl",
      `-Wl,-rpath,${runPath(mujocoFolder())}`,
    ],
  }),
  libraries: () => [join(mujocoFolder(), mujocoLibrary)],
});

function makeAddon(name, parts) {
  const target = join(build, `${name}.node`);
  const stampPath = `${target}.stamp`;
  return {
    name: `build/${name}.node`,
    mend: "npm run native",
    /** Its name, and why it is not done, for `reverie doctor`. */
    state() {
      const reason = existsSync(target) ? outdatedBy(stampPath, name, parts.libraries()) : undefined;
      return `build/${name}.node${reason === undefined ? "" : ` (${reason})`}`;
    },
    isDone: () => existsSync(target) && outdatedBy(stampPath, name, parts.libraries()) === undefined,

    async run({ detail, progress, verbose }) {
      const compiler = findCompiler();
      const reason = existsSync(target) ? outdatedBy(stampPath, name, parts.libraries()) : undefined;
      if (reason !== undefined) progress.note(`  it is made anew: ${reason}`);
      const stamp = JSON.stringify(stampOf(name, parts.libraries()));
      const { compile, link, note, warning } = await parts.flags(compiler);
      if (warning !== undefined) progress.advise(warning);
      const flags = [...baseFlags, ...compile];
      const files = sourcesOf(name).filter((path) => path.endsWith(".cpp"));
      const against = hashOfLibraries(parts.libraries()) + hashOf(settings());
      const made = await compileAll(compiler, name, { files, flags, against, detail, verbose });
      detail("linking");
      await runProgram(compiler, ["-shared", "-o", `${target}.new`, ...made, ...link], { cwd: root });
      renameSync(`${target}.new`, target);
      writeFileSync(stampPath, stamp);
      removeOld(name, made);
      return [`${files.length} files`, note].filter(Boolean).join(", ");
    },
  };
}

/** Every source and header of an addon, in a stable order. */
function sourcesOf(name) {
  const folder = join(native, name);
  const found = readdirSync(folder, { recursive: true }).map((file) => join(folder, file));
  return found.filter((path) => /\.(cpp|h|hpp)$/.test(path)).sort();
}

/** What decides what the addon is, each part with its hash; read by file, never by asking a program. */
function stampOf(name, libraries) {
  const scripts = ["addons.mjs", "torch-flags.mjs"].map((file) => join(root, "scripts", "setup", file));
  return {
    sources: hashOfTexts(sourcesOf(name)),
    scripts: hashOfTexts(scripts),
    libraries: hashOfLibraries(libraries),
    settings: hashOf(settings()),
  };
}

const reasons = {
  sources: "its C++ sources have changed",
  scripts: "the way it is built has changed",
  libraries: "the libraries that it is linked with are others",
  settings: "the compiler (CXX), CUDA_HOME or the processor is another one",
};

/** Why the addon with this stamp is not current, in words; undefined when it is. */
function outdatedBy(stampPath, name, libraries) {
  const found = readStamp(stampPath);
  if (found === undefined) return "an earlier or interrupted set-up made it";
  const wanted = stampOf(name, libraries);
  const part = Object.keys(reasons).find((key) => found[key] !== wanted[key]);
  return part && reasons[part];
}

function readStamp(path) {
  try {
    return JSON.parse(readText(path) ?? "");
  } catch {
    return undefined;
  }
}

const hashOf = (text) => createHash("sha256").update(text).digest("hex");
const hashOfTexts = (paths) =>
  hashOf(paths.map((path) => `${inCheckout(path)}\0${readText(path)}\0`).join(""));
const settings = () => `${process.arch} ${process.env.CXX ?? ""} ${process.env.CUDA_HOME ?? ""}`;

/** The libraries by path and size, and torch's version by its text. */
function hashOfLibraries(libraries) {
  const describe = (path) =>
    `${inCheckout(path)}\0${statSync(path, { throwIfNoEntry: false })?.size ?? "absent"}\0` +
    (path.endsWith(".py") ? (readText(path) ?? "") : "");
  return hashOf(libraries.map(describe).join(""));
}

async function compileAll(compiler, name, { files, flags, against, detail, verbose }) {
  const headers = createHash("sha256").update(flags.join("\0")).update(against);
  for (const path of sourcesOf(name).filter((file) => !file.endsWith(".cpp"))) headers.update(readText(path));
  const shared = headers.digest("hex");
  const jobs = files.map((path) => ({ path, object: objectPath(name, path, shared) }));
  const missing = jobs.filter(({ object }) => !existsSync(object));
  mkdirSync(join(objects, name), { recursive: true });
  detail(`compiling ${missing.length} files`);
  let done = 0;
  await inParallel(missing, jobsAtOnce(), async (job) => {
    await compileOne(compiler, job, { flags, verbose });
    detail(`compiled ${++done} of ${missing.length}`);
  });
  return jobs.map(({ object }) => object);
}

/** Works through a list, a few items at a time; after a failure those at work end and no more are begun. */
async function inParallel(items, limit, work) {
  const waiting = [...items];
  const failures = [];
  const takeTurns = async () => {
    while (waiting.length > 0 && failures.length === 0) {
      await work(waiting.shift()).catch((error) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: limit }, takeTurns));
  if (failures.length > 0) throw failures[0];
}

function objectPath(name, path, shared) {
  const key = createHash("sha256").update(shared).update(readFileSync(path)).digest("hex").slice(0, 16);
  return join(objects, name, `${basename(path, ".cpp")}-${key}.o`);
}

async function compileOne(compiler, { path, object }, { flags, verbose }) {
  const partial = `${object}.${process.pid}`;
  try {
    const output = await runProgram(
      compiler,
      [...warnings, ...flags, "-c", inCheckout(path), "-o", partial],
      {
        cwd: root,
      },
    );
    if (verbose && output) process.stderr.write(`\n${output}`);
    renameSync(partial, object);
  } catch (error) {
    rmSync(partial, { force: true });
    throw new SetupFailure(`${path} does not compile\n${error.message}`);
  }
}

const jobsAtOnce = () => Math.max(1, Math.min(availableParallelism(), Math.floor(freemem() / memoryPerJob)));

/** Keeps the newest 200 objects, so that switching between two torches does not compile anew, and no leftovers. */
function removeOld(name, current) {
  const folder = join(objects, name);
  const others = readdirSync(folder)
    .map((file) => join(folder, file))
    .filter((path) => !current.includes(path));
  const whole = others.filter((path) => path.endsWith(".o")); // else left by a set-up that was killed
  const byAge = whole.map((path) => ({ path, time: statSync(path).mtimeMs })).sort((a, b) => b.time - a.time);
  const kept = new Set(byAge.slice(0, 200).map(({ path }) => path));
  for (const path of others) if (!kept.has(path)) rmSync(path, { force: true });
}

function readText(path) {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}
