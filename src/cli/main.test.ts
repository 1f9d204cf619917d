import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Described } from "./command.ts";
import { commands } from "./commands.ts";
import { evaluationSettings } from "./world/evaluate.ts";

const program = fileURLToPath(new URL("../../bin/reverie.mjs", import.meta.url));
const reverie = (...args: string[]) => spawnSync(process.execPath, [program, ...args], { encoding: "utf8" });

test("without arguments it lists every command and succeeds", () => {
  const { stdout, status } = reverie();
  assert.equal(status, 0);
  for (const name of Object.keys(commands)) assert.match(stdout, new RegExp(`^ {2}${name} `, "m"));
});

test("an unknown command is answered with the known ones, exit code 2 and no stack", () => {
  const { stderr, status } = reverie("trian");
  assert.equal(status, 2);
  assert.match(stderr, /no command named "trian"; did you mean train\? there are: start, train, /);
  assert.doesNotMatch(stderr, /\bat .*\.ts/);
});

test("a name that every object has is no command", () => {
  assert.equal(reverie("constructor").status, 2);
});

test("an unknown option is the user's error, not a crash", () => {
  const { stderr, status } = reverie("doctor", "--jsno");
  assert.equal(status, 2);
  assert.match(stderr, /Unknown option '--jsno'; reverie help doctor lists the options/);
});

test("help for a command shows how it is called", () => {
  assert.match(reverie("help", "doctor").stdout, /usage: reverie doctor \[--json\]/);
});

for (const name of Object.keys(commands))
  test(`help ${name} begins with the command's summary and its usage`, async () => {
    const { usage } = await commands[name]!.load();
    assert.ok(usage.startsWith(name), usage);
    const { stdout, status } = reverie("help", name);
    assert.equal(status, 0);
    assert.ok(stdout.startsWith(`${commands[name]!.summary}\n\nusage: reverie ${name}`), stdout);
  });

test("help knows itself, and --help after a subcommand is about that one", () => {
  assert.match(reverie("help", "help").stdout, /usage: reverie help \[COMMAND \[SUBCOMMAND\]\]/);
  assert.equal(reverie("world", "train", "--help").stdout, reverie("help", "world", "train").stdout);
  const { stderr, status } = reverie("help", "world", "trian");
  assert.equal(status, 2);
  assert.match(stderr, /no world command named "trian"; did you mean train\?/);
});

test("help for a subcommand has every setting of its schema, with default and meaning", () => {
  const { stdout } = reverie("help", "world", "evaluate");
  for (const key of Object.keys(evaluationSettings.shape))
    assert.match(stdout, new RegExp(`^  ${key} `, "m"));
  assert.match(stdout, /^ {2}temperature +(= 1)? +of the policy; 0 is greedy$/m);
  assert.match(reverie("help", "world", "train").stdout, /settings with --family evac/);
});

test("every option that a command takes is named in its help", async () => {
  for (const [name, entry] of Object.entries(commands)) {
    const { subcommands = {}, ...command } = await entry.load();
    const all: [string, Described][] = [[name, command], ...Object.entries(subcommands)];
    for (const [what, { options, usage, details = "", settings = {} }] of all) {
      const text = `${usage}\n${details}`;
      const silent = Object.keys(options).filter((option) => !text.includes(`--${option}`));
      assert.deepEqual(silent, [], `${name} ${what}`);
      assert.ok(Object.keys(settings).length === 0 || "set" in options, `${what} has settings and no --set`);
    }
  }
});

test("where too few files may be open, it says so and how to raise the limit", () => {
  const { stderr, status } = spawnSync(
    "bash",
    ["-c", `ulimit -n 64; exec "${process.execPath}" "${program}" list`],
    {
      encoding: "utf8",
    },
  );
  assert.equal(status, 2);
  assert.match(stderr, /only 64 files may be open at once here.*ulimit -n 4096/);
});
