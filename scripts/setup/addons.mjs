/**
 * Compiles the two Node-API addons, build/torch.node and build/mujoco.node, with plain g++.
 *
 * One compiler job per source file, as many at a time as the machine has cores and memory for; an object file is
 * named by the hash of all that went into it and is never built twice. The finished addon has a stamp with the
 * hash of its sources, flags and libraries, so that an up-to-date one is recognised without starting a program.
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
import { build, native, nodeModules, root } from "./folders.mjs";
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
  libraries: () => [join(torchFolder(), "version.py"), join(torchFolder(), "lib", "libtorch.so")],
});

export const mujocoAddon = makeAddon("mujoco", {
  flags: async () => ({
    compile: [
      `-I${join(nodeModules, "node-api-headers", "include")}`,
      "-isystem",
      join(mujocoFolder(), "include"),
    ],
    link: [`-L${mujocoFolder()}`, `-l:${mujocoLibrary}`, "-ldl", `-Wl,-rpath,${mujocoFolder()}`],
  }),
  libraries: () => [join(mujocoFolder(), mujocoLibrary)],
});

function makeAddon(name, parts) {
  const target = join(build, `${name}.node`);
  const stampPath = `${target}.stamp`;
  return {
    name: `build/${name}.node`,
    mend: "npm run native",
    /** Why it is not done, for `reverie doctor`. */
    state: () => `build/${name}.node${existsSync(target) ? " is older than its sources" : ""}`,
    isDone: () => existsSync(target) && readText(stampPath) === stampOf(name, parts.libraries()),

    async run({ detail, verbose }) {
      const compiler = findCompiler();
      const stamp = stampOf(name, parts.libraries());
      const { compile, link, note } = await parts.flags(compiler);
      const flags = [...baseFlags, ...compile];
      const files = sourcesOf(name).filter((path) => path.endsWith(".cpp"));
      const against = hashOf(parts.libraries());
      const made = await compileAll(compiler, name, { files, flags, against, detail, verbose });
      detail("linking");
      await runProgram(compiler, ["-shared", "-o", `${target}.new`, ...made, ...link]);
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

/** The hash of all that decides what the addon is; read by file, never by asking a program. */
function stampOf(name, libraries) {
  const hash = createHash("sha256");
  const scripts = ["addons.mjs", "torch-flags.mjs"].map((file) => join(root, "scripts", "setup", file));
  for (const path of [...sourcesOf(name), ...scripts]) hash.update(`${path}\0${readText(path)}\0`);
  return hash.update(hashOf(libraries)).digest("hex");
}

/** What an object file depends on beside our sources: the libraries, by path, size and version, and the compiler. */
function hashOf(libraries) {
  const hash = createHash("sha256");
  for (const path of libraries) {
    hash.update(`${path}\0${existsSync(path) ? statSync(path).size : "absent"}\0`);
    if (path.endsWith(".py")) hash.update(readText(path) ?? "");
  }
  return hash.update(`${process.arch} ${process.env.CXX ?? ""} ${process.env.CUDA_HOME ?? ""}`).digest("hex");
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
    const output = await runProgram(compiler, [...warnings, ...flags, "-c", path, "-o", partial], {
      cwd: root,
    });
    if (verbose && output) process.stderr.write(`\n${output}`);
    renameSync(partial, object);
  } catch (error) {
    rmSync(partial, { force: true });
    throw new SetupFailure(`${path} does not compile\n${error.message}`);
  }
}

const jobsAtOnce = () => Math.max(1, Math.min(availableParallelism(), Math.floor(freemem() / memoryPerJob)));

/** Keeps the newest 200 objects, so that switching between two torches does not compile anew, and no leavings. */
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
