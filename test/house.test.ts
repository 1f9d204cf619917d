/** The rules of the house that no compiler checks: who may import whom, how long a file may grow, what it says first. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { misplacedFamilies } from "./house/family-names.ts";
import { measureHouse } from "./house/measures.ts";
import { rooms } from "./house/rooms.ts";
import { sourcesOf } from "./house/sources.ts";
import { britishWords } from "./house/spelling.ts";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

const longest = 400;
/** Files that may be longer, each with its reason. */
const longFiles: Readonly<Record<string, string>> = {
  "src/tensor/aten.generated.ts": "generated from the operators' schemas",
};

/** Files that may start processes or threads, or open sockets, each with its reason. All but the first three start foreign programs. */
const starters: Readonly<Record<string, string>> = {
  "src/cluster/process-worker.ts": "starts our workers in processes",
  "src/cluster/thread-worker.ts": "starts our workers in threads",
  "src/cluster/thread-entry.ts": "is the program of such a thread",
  "src/formats/mp4-writer.ts": "ffmpeg",
  "src/metrics/side-logger.ts": "the Python SDKs of W&B and SwanLab",
  "src/simulators/libero/prepare/pip.ts": "pip, for LIBERO's files",
  "src/cli/claim/child-command.ts": "other commands of reverie, whole runs with folders of their own",
  "src/cli/doctor/machine.ts": "nvidia-smi and other questions to the machine",
  "src/cli/doctor/renderers.ts": "a renderer on trial, which may crash",
  "src/cli/doctor/set-up-state.ts": "the set-up's own check",
  "src/cli/tensorboard.ts": "TensorBoard",
};

/** Tests may borrow any room to check their own. */
const isTest = (path: string): boolean => path.endsWith(".test.ts");

const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => ({ path: join("src", file), room: file.split(sep)[0] ?? "" }))
  .map((source) => ({ ...source, text: readFileSync(source.path, "utf8") }));

/** What git tracks; a copy without its history has nothing to list. */
const notGit = existsSync(".git") ? false : "this copy is no git checkout";
const tracked = notGit
  ? []
  : execFileSync("git", ["ls-files", "-z"], { encoding: "utf8" }).split("\0").filter(Boolean);

test("every room imports only the rooms that its line in the table names", () => {
  const faults = sources.filter(({ path }) => !isTest(path)).flatMap(importFaults);
  assert.deepEqual(faults, []);
});

function importFaults({ path, room, text }: { path: string; room: string; text: string }): string[] {
  if (path === join("src", "index.ts")) return [];
  const allowed = rooms[room];
  if (!allowed) return [`${path}: ${room} is not a room; add it to the table in test/house/rooms.ts`];
  const targets = [...text.matchAll(/\b(?:from|import)\s*\(?\s*"([#.][^"]*)"/g)].map(
    ([, target = ""]) => target,
  );
  return targets.flatMap((target) => {
    if (target.startsWith("#")) {
      const fine = allowed.includes(target.slice(1));
      return fine ? [] : [`${path}: ${room} may import ${allowed.join(", ") || "nothing"}; not ${target}`];
    }
    const leaves = relative(join("src", room), resolve(path, "..", target)).startsWith("..");
    return leaves ? [`${path}: "${target}" leaves the ${room} room; import "#room" instead`] : [];
  });
}

test("every room that a line of the table names is imported", () => {
  const idle = Object.entries(rooms).flatMap(([room, allowed]) => {
    const own = sources.filter((source) => source.room === room && !isTest(source.path));
    return allowed
      .filter((other) => !own.some(({ text }) => text.includes(`"#${other}"`)))
      .map((other) => `${room} does not import ${other}`);
  });
  assert.deepEqual(idle, []);
});

test("only the tensor and mujoco rooms open an addon", () => {
  const openers = sources
    .filter(({ path, text }) => !isTest(path) && /"[^"]*\.node"|process\.dlopen/.test(text))
    .map(({ room }) => room);
  const others = openers.filter((room) => room !== "tensor" && room !== "mujoco");
  assert.deepEqual(others, []);
});

test("processes, threads and sockets are opened only by the listed files, and each of these opens one", () => {
  const opens = /"node:(child_process|worker_threads|cluster|net|tls|dgram|http|https|http2)"/;
  const found = sources.filter(({ path, text }) => !isTest(path) && opens.test(text)).map(({ path }) => path);
  assert.deepEqual(found.toSorted(), Object.keys(starters).toSorted());
});

test("the core names no family: each is named in its own folder, in its room's catalogue, and where a reason is given", () => {
  assert.deepEqual(misplacedFamilies(sourcesOf(".")), []);
});

const house = measureHouse();

test("no folder of a room imports, by whatever way round, what imports it", () => {
  assert.deepEqual(
    house.rooms.flatMap(({ circles }) => circles),
    [],
  );
});

test("every name that a door offers is imported by somebody outside of the room", () => {
  const idle = house.rooms.flatMap(({ room, idle }) =>
    idle.map((name) => `#${room} offers ${name} to nobody`),
  );
  assert.deepEqual(idle, []);
});

const widestDoor = 45;
/** Rooms whose doors may offer more, each with its reason. */
const wideDoors: Readonly<Record<string, number>> = {
  tensor: 70, // functions on tensors: a vocabulary, not an interface
  engine: 55, // half of it are the types that a pack of assets is written in
  simulators: 50, // envs and recordings both play scenes, step by step
  training: 60, // commands, programs, claims and fine-tuning stand on runs, checkpoints and evaluations
};

test(`no door offers more than ${widestDoor} names, but for the listed ones`, () => {
  const wide = house.rooms
    .filter(({ room, door }) => door > (wideDoors[room] ?? widestDoor))
    .map(({ room, door }) => `#${room}: ${door}`);
  assert.deepEqual(wide, []);
});

test("no two doors offer the same name", () => {
  assert.deepEqual(house.shared, []);
});

test("code and documents have one spelling, the American one", { skip: notGit }, () => {
  assert.deepEqual(britishWords(tracked), []);
});

test(`no file under src is longer than ${longest} lines, but for the listed ones`, () => {
  const long = sources
    .map(({ path, text }) => ({ path, lines: text.split("\n").length }))
    .filter(({ path, lines }) => lines > longest && !Object.hasOwn(longFiles, path))
    .map(({ path, lines }) => `${path}: ${lines} lines; split it by what it knows, not by size`);
  assert.deepEqual(long, []);
});

test("every file under src but a test begins by saying what it is", () => {
  const silent = sources.filter(({ path, text }) => !isTest(path) && !/^(#!.*\n)?\/\*\*/.test(text));
  assert.deepEqual(
    silent.map(({ path }) => path),
    [],
  );
});

test("no file or folder is named for having no name", { skip: notGit }, () => {
  const nameless = /(^|[/-])(utils?|common|helpers?|misc|manager|base)([-./]|$)/;
  assert.deepEqual(
    tracked.filter((path) => /^src\/.*\.ts$/.test(path) && nameless.test(path)),
    [],
  );
});

test("code for tests lies in tests and in test/support", () => {
  const misplaced = sources.filter(
    ({ path, text }) => !isTest(path) && (/\/test-[^/]*$/.test(path) || /"node:(test|assert)[/"]/.test(text)),
  );
  assert.deepEqual(
    misplaced.map(({ path }) => path),
    [],
  );
});

test("no source has a default export, an enum or a namespace", () => {
  const forbidden = /^export default|^\s*(export\s+)?(const\s+)?enum\s|^\s*(export\s+)?namespace\s/m;
  assert.deepEqual(
    sources.filter(({ text }) => forbidden.test(text)).map(({ path }) => path),
    [],
  );
});

test("no tracked file holds a path of one machine or the address of one package registry", {
  skip: notGit,
}, () => {
  // Written in pieces so that this file does not find itself. A folder of ours may be named home.
  const machine = new RegExp(
    ["/wor" + "k/", "/roo" + "t/", "(?<![\\w.])/hom" + "e/[a-z]", "/tm" + "p/[a-z]"].join("|"),
  );
  const registry = new RegExp(
    ["registry\\.npm" + "js\\.org", "files\\.python" + "hosted\\.org", "/op" + "t/pypi"].join("|"),
  );
  const binary = /\.(png|safetensors|npy|npz|mp4|pth|pt|bin|jpg)$/;
  const faults = tracked
    .filter((path) => !binary.test(path) && existsSync(path))
    .flatMap((path) => {
      const text = readFileSync(path, "utf8");
      const hit = machine.exec(text) ?? registry.exec(text);
      return hit ? [`${path}: ${hit[0]}`] : [];
    });
  assert.deepEqual(faults, []);
});

test("tracked files stay under 32 MB in all", { skip: notGit }, () => {
  const total = tracked
    .filter((path) => existsSync(path))
    .reduce((sum, path) => sum + statSync(path).size, 0);
  assert.ok(total < 32e6, `${(total / 1e6).toFixed(1)} MB`);
});

test("the lockfile has an entry for every optional package, without which npm ci refuses it", () => {
  type Entry = { readonly optionalDependencies?: Readonly<Record<string, string>> };
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as {
    packages: Record<string, Entry>;
  };
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter(
        (name) => !(`node_modules/${name}` in packages) && !(`${path}/node_modules/${name}` in packages),
      )
      .map((name) => `${path} needs ${name}`),
  );
  assert.deepEqual(missing, []);
});

test("every package of the lockfile is pinned by its hash", () => {
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as {
    packages: Record<string, { readonly integrity?: string }>;
  };
  const unpinned = Object.entries(packages).filter(
    ([path, { integrity }]) => path !== "" && !/^sha512-/.test(integrity ?? ""),
  );
  assert.deepEqual(
    unpinned.map(([path]) => path),
    [],
  );
});

test("the README fits in 150 lines and CONTRIBUTING in 100", () => {
  const lines = (path: string) => readFileSync(path, "utf8").trimEnd().split("\n").length;
  assert.ok(lines("README.md") <= 150, `README.md: ${lines("README.md")}`);
  assert.ok(lines("CONTRIBUTING.md") <= 100, `CONTRIBUTING.md: ${lines("CONTRIBUTING.md")}`);
});

test("every page of docs is in their index, and every link of a page leads somewhere", () => {
  const pages = readdirSync("docs", { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".md"),
  );
  const index = readFileSync("docs/README.md", "utf8");
  const faults = pages.filter((page) => page !== "README.md" && !index.includes(`(${page})`));
  for (const page of [...pages.map((file) => join("docs", file)), "README.md", "CONTRIBUTING.md"]) {
    for (const [, target = ""] of readFileSync(page, "utf8").matchAll(
      /\]\((?!https?:|#)([^)#\s]+)[^)]*\)/g,
    )) {
      if (!existsSync(resolve(page, "..", target))) faults.push(`${page} links to ${target}`);
    }
  }
  assert.deepEqual(faults, []);
});
