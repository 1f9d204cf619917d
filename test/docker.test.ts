/** The Dockerfile's steps are the README's: Docker itself is not needed to see that, nor that no privilege is left. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const read = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), "utf8");

interface Step {
  readonly name: string;
  readonly text: string;
}

/** The Dockerfile's instructions in order, continued lines joined. */
const steps: readonly Step[] = read("Dockerfile")
  .replaceAll("\\\n", " ")
  .split("\n")
  .filter((line) => line.trim() !== "" && !line.startsWith("#"))
  .map((line) => ({
    name: line.split(" ")[0] ?? "",
    text: line.replace(/^\S+\s+/, "").replaceAll(/\s+/g, " "),
  }));

const step = (name: string, holds: (text: string) => boolean = () => true): number =>
  steps.findIndex((candidate) => candidate.name === name && holds(candidate.text));
const textOf = (name: string): string => steps[step(name)]?.text ?? "";

/** The packages of the first apt-get install in a text. */
const packagesIn = (text: string): string[] =>
  (/apt-get install -y ([^`&\n]*)/.exec(text)?.[1] ?? "")
    .split(/\s{2,}\S|#/)[0]
    ?.split(" ")
    .filter((word) => /^[a-z]/.test(word)) ?? [];

const commands = JSON.parse(read("package.json")) as {
  scripts: Record<string, string>;
  engines: { node: string };
};

test("the image has the packages that the README names, set-up's renderers and certificates, and nothing else", async () => {
  const named = packagesIn(read("README.md"));
  assert.deepEqual(named, ["python3", "python3-venv", "git", "g++"]);
  assert.deepEqual(packagesIn(read("docs/set-up.md")), named, "the page says what the README says");
  const { mesaPackages } = await import(new URL("../scripts/setup/mesa.mjs", import.meta.url).href);
  assert.deepEqual(packagesIn(textOf("RUN")), ["ca-certificates", ...named, ...mesaPackages]);
});

test("its Debian and Node are among those that the README names", () => {
  const [, node = "", release] = /^node:(\d+)-(\w+)-slim$/.exec(textOf("FROM")) ?? [];
  assert.equal(release, "bookworm", "Debian 12");
  const [, oldest = ""] = />=(\d+)/.exec(commands.engines.node) ?? [];
  assert.ok(Number(node) >= Number(oldest));
  assert.match(read("README.md"), /Debian 12 .*Node ≥ 20\.19/);
});

test("it runs the set-up that npm start begins with, and then npm start", () => {
  const [setUp = ""] = commands.scripts.start?.split(" && ") ?? [];
  const done = step("RUN", (text) => text.split(" && ")[0] === setUp);
  assert.ok(done > step("COPY"), "after the sources are there");
  assert.deepEqual(JSON.parse(textOf("CMD")), ["npm", "start"]);
  assert.match(read("README.md"), /^npm start {2}/m);
});

test("from the set-up on it works as a user without privileges, in a folder of that user's", () => {
  const user = step("USER");
  assert.equal(steps[user]?.text, "node");
  assert.ok(user < step("COPY") && steps.filter(({ name }) => name === "USER").length === 1);
  assert.match(textOf("COPY"), /^--chown=node:node \. \.$/);
  assert.ok(step("RUN", (text) => text === `chown node:node ${textOf("WORKDIR")}`) < user);
});

test("one argument chooses the build of torch, by the variable that set-up reads; the page shows both", () => {
  assert.equal(textOf("ARG"), "TORCH_BUILD=cpu");
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the Dockerfile's own syntax
  assert.equal(textOf("ENV"), "REVERIE_TORCH_BUILD=${TORCH_BUILD}");
  assert.match(read("scripts/setup/torch-wheel.mjs"), /process\.env\.REVERIE_TORCH_BUILD/);
  for (const command of [
    "docker build -t reverie .",
    "docker build -t reverie:cuda --build-arg TORCH_BUILD=cuda .",
  ])
    assert.ok(read("docs/set-up.md").includes(command) && read("Dockerfile").includes(command), command);
});

test("what set-up makes is left out of the build's context, and what git tracks is not", () => {
  const ignored = read(".dockerignore")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  for (const made of [".deps", "build", "node_modules", ".git"]) assert.ok(ignored.includes(made), made);
  for (const needed of ["native", "src", "scripts", "bin", "examples", "checkpoints", "package-lock.json"])
    assert.ok(!ignored.includes(needed), needed);
});

test("the page lists every variable of ours that the product reads", async () => {
  const { execFileSync } = await import("node:child_process");
  const root = fileURLToPath(new URL("..", import.meta.url));
  const found = execFileSync(
    "grep",
    [
      "-rhoE",
      "\\b(REVERIE|HF)_[A-Z_]+",
      "src",
      "scripts/setup",
      "--include=*.ts",
      "--include=*.mjs",
      "--exclude=*.test.ts",
    ],
    { cwd: root, encoding: "utf8" },
  );
  const page = read("docs/set-up.md");
  // Written by us into C++, never read from the environment.
  const macros = ["REVERIE_ON_HOST", "REVERIE_CUDA", "REVERIE_NCCL"];
  const missing = [...new Set(found.trim().split("\n"))].filter(
    (name) => !macros.includes(name) && !page.includes(name),
  );
  assert.deepEqual(missing, []);
});
