/** The scripts in the shells themselves: what they offer for what has been typed. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { commands } from "../commands.ts";
import { completionCommand, completions } from "./index.ts";
import { scripts } from "./scripts.ts";

const all = await completions();
const lacks = (shell: string) =>
  spawnSync(shell, ["-c", "true"]).status === 0 ? false : `there is no ${shell} on this machine`;

/** What bash offers after these words, files left out. */
function bashOffers(...typed: string[]): string[] {
  const line = `cd "$(mktemp -d)"; COMP_WORDS=(reverie ${typed.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${typed.length}`;
  const script = `${scripts.bash(all)}\n${line}; _reverie; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync("bash", ["-c", script], { encoding: "utf8" });
  assert.equal(stderr, "");
  return stdout.split("\n").filter(Boolean);
}

test("bash offers commands, subcommands, configurations, and the options of the command that was typed", {
  skip: lacks("bash"),
}, () => {
  assert.deepEqual(bashOffers("tr"), ["train"]);
  assert.deepEqual(bashOffers("world", "tr"), ["train-vae", "train", "train-reward"]);
  assert.deepEqual(bashOffers("train", "quick"), ["quickstart"]);
  assert.deepEqual(bashOffers("world", "refresh", "--e"), ["--exam"]);
  assert.deepEqual(bashOffers("world", "train", "--e"), []);
  assert.deepEqual(bashOffers("help", "comp"), ["compare", "completion"]);
});

test("fish offers the same", { skip: lacks("fish") }, () => {
  const offers = (typed: string): string[] => {
    const script = `${scripts.fish(all)}\ncomplete -C '${typed}'`;
    const { stdout } = spawnSync("fish", ["-c", script], { encoding: "utf8" });
    return stdout
      .split("\n")
      .map((line) => line.split("\t")[0]!)
      .filter(Boolean);
  };
  assert.deepEqual(offers("reverie world train --fam"), ["--family"]);
  assert.deepEqual(offers("reverie train quick"), ["quickstart"]);
});

test("zsh reads its script", { skip: lacks("zsh") }, () => {
  const { status, stderr } = spawnSync("zsh", ["-n", "-c", scripts.zsh(all)], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
});

test("every command and each of its options is in every script", async () => {
  for (const [name, entry] of Object.entries(commands)) {
    const { options } = await entry.load();
    for (const [shell, script] of Object.entries(scripts))
      for (const word of [name, ...Object.keys(options)])
        assert.ok(script(all).includes(word), `${shell}: ${name} ${word}`);
  }
});

test("a shell that is not known is answered with those that are", async () => {
  await assert.rejects(completionCommand.run(["tcsh"]), /for which shell\? there are: bash, zsh, fish/);
});
