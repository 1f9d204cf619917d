import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { commands } from "./commands.ts";

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
  assert.match(stderr, /no command named "trian"; there are: start, train, /);
  assert.doesNotMatch(stderr, /\bat .*\.ts/);
});

test("a name that every object has is no command", () => {
  assert.equal(reverie("constructor").status, 2);
});

test("an unknown option is the user's error, not a crash", () => {
  const { stderr, status } = reverie("doctor", "--jsno");
  assert.equal(status, 2);
  assert.match(stderr, /--jsno/);
});

test("help for a command shows how it is called", () => {
  assert.match(reverie("help", "doctor").stdout, /usage: reverie doctor \[--json\]/);
});
