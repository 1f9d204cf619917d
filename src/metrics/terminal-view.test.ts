import assert from "node:assert/strict";
import { test } from "node:test";
import { headlineText, progressBar, timeText } from "./terminal-lines.ts";
import { TerminalView } from "./terminal-view.ts";

/** A terminal as far as the view uses one: it also echoes what is typed, as terminals do. */
class FakeScreen {
  text = "";
  readonly isTTY: boolean;
  readonly columns = 200;
  readonly #lines = [""];
  #row = 0;
  #column = 0;

  constructor(isTTY: boolean) {
    this.isTTY = isTTY;
  }

  write(text: string): void {
    this.text += text;
    for (const piece of text.replaceAll("\x1b", "␛").match(/␛\[\d*[A-Z]|[\s\S]/gu) ?? []) this.#take(piece);
  }

  #take(piece: string): void {
    const up = /^␛\[(\d+)A$/.exec(piece);
    if (up) this.#row -= Number(up[1]);
    else if (piece === "␛[J") {
      this.#lines.length = this.#row + 1;
      this.#lines[this.#row] = this.#lines[this.#row]!.slice(0, this.#column);
    } else if (piece === "\r") this.#column = 0;
    else if (piece === "\n") [this.#row, this.#column] = [this.#row + 1, 0];
    else {
      const line = this.#lines[this.#row]!;
      this.#lines[this.#row] = line.slice(0, this.#column) + piece + line.slice(this.#column + 1);
      this.#column++;
    }
    this.#lines[this.#row] ??= "";
  }

  /** What a person would see. */
  seen(): string[] {
    return this.#lines.slice(0, this.#lines.at(-1) === "" ? -1 : undefined);
  }
}

const step = {
  "env/success_once": 0.4375,
  "train/loss": 0.01234,
  "train/actor/approx_kl": 0.002,
  "time/step": 20,
  "time/generate_rollouts": 12,
  "time/actor_training": 7,
  "time/env/interact": 11,
};

function view(isTTY: boolean, now: { ms: number }) {
  const screen = new FakeScreen(isTTY);
  const terminal = new TerminalView({ title: "libero_10_grpo", screen, now: () => now.ms });
  terminal.opened(0, 10);
  return { screen, terminal };
}

test("away from a terminal each step is one plain line without control codes", async () => {
  const { screen, terminal } = view(false, { ms: 0 });
  terminal.write(0, step);
  terminal.write(9, step);
  await terminal.close();
  assert.deepEqual(screen.text.split("\n"), [
    "step 1/10  success 43.8 %  loss 0.0123  kl 0.002  20 s: rollouts 60 %, training 35 %, other 5 %  3:00 left",
    "step 10/10  success 43.8 %  loss 0.0123  kl 0.002  20 s: rollouts 60 %, training 35 %, other 5 %  done",
    "",
  ]);
});

test("away from a terminal a long phase gives a sign of life every half minute and no more", () => {
  const now = { ms: 0 };
  const { screen, terminal } = view(false, now);
  for (; now.ms <= 65_000; now.ms += 1000) terminal.doing("generate_rollouts", now.ms / 1000, 100);
  assert.deepEqual(screen.text.split("\n"), [
    "  step 1: rollouts 30/100, 30 s",
    "  step 1: rollouts 60/100, 1:00",
    "",
  ]);
});

test("on a terminal one block is redrawn in place, and what is said stays above it", async () => {
  const now = { ms: 0 };
  const { screen, terminal } = view(true, now);
  terminal.write(0, { ...step, "eval/success_once": 0.5 });
  now.ms = 30_000;
  terminal.doing("actor_training", 3, 8);
  terminal.say("saved checkpoint global_step_1");
  now.ms = 31_000;
  terminal.write(1, step);
  assert.deepEqual(screen.seen(), [
    "saved checkpoint global_step_1",
    "libero_10_grpo  step 2/10  █████░░░░░░░░░░░░░░░░░░░ 20 %  elapsed 31 s  2:40 left",
    "success 43.8 %  loss 0.0123  kl 0.002  eval 50.0 % (step 1)",
    "20 s: rollouts 60 %, training 35 %, other 5 %",
    "now: training 3/8, 1.0 s",
  ]);
  await terminal.close();
  assert.equal(screen.seen().length, 4);
});

test("within a phase a redraw is not made more often than an eye can follow", () => {
  const now = { ms: 1000 };
  const { screen, terminal } = view(true, now);
  terminal.write(0, step);
  terminal.doing("generate_rollouts", 0, 50);
  const before = screen.text.length;
  for (let i = 0; i < 50; i++) terminal.doing("generate_rollouts", i, 50);
  assert.equal(screen.text.length, before);
});

test("phases that overlap claim no other time", () => {
  const text = timeText({ "time/step": 10, "time/a": 8, "time/b": 6 });
  assert.equal(text, "10 s: a 80 %, b 60 %");
  assert.equal(timeText({}), "");
});

test("numbers that are not there, or not defined, are not shown", () => {
  assert.equal(headlineText({ "train/critic/explained_variance": Number.NaN, "env/return": 2 }), "return 2");
  assert.equal(progressBar(0.5, 4), "██░░");
  assert.equal(progressBar(7, 2), "██");
});

test("an evaluation alone shows its own progress and time left, and no steps", () => {
  for (const isTTY of [true, false]) {
    const now = { ms: 0 };
    const screen = new FakeScreen(isTTY);
    const terminal = new TerminalView({ title: "libero_10", totalSteps: 0, screen, now: () => now.ms });
    terminal.doing("eval", 0, 300);
    now.ms = 60_000;
    terminal.doing("eval", 100, 300);
    const text = screen.seen().join("\n");
    assert.match(text, /evaluation 100\/300, 1:00/);
    assert.match(text, /2:00 left/);
    assert.doesNotMatch(text, /step|NaN|Infinity/);
    if (isTTY) assert.match(text, /libero_10 {2}.* 33 %/);
  }
});

test("a phase that begins just after a redraw is named at once", () => {
  const now = { ms: 1000 };
  const { screen, terminal } = view(true, now);
  terminal.doing("cal_adv_and_returns");
  now.ms += 5;
  terminal.doing("actor_training");
  assert.equal(screen.seen().at(-1), "now: training, 0.0 s");
});

test("the block is redrawn on a timer when nothing is told, and no more once it is closed", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const now = { ms: 0 };
  const { screen, terminal } = view(true, now);
  terminal.doing("actor_training");
  now.ms = 240_000;
  t.mock.timers.tick(1000);
  assert.deepEqual(screen.seen().at(-1), "now: training, 4:00");
  await terminal.close();
  const before = screen.text;
  t.mock.timers.tick(1000);
  assert.equal(screen.text, before);
});

test("away from a terminal a phase that tells nothing still gives signs of life", (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const now = { ms: 0 };
  const { screen, terminal } = view(false, now);
  terminal.doing("actor_training");
  now.ms = 31_000;
  t.mock.timers.tick(1000);
  assert.deepEqual(screen.seen(), ["  step 1: training, 31 s"]);
});

test("what is said after Ctrl-C leaves nothing of the block behind, although the terminal echoed ^C", () => {
  const { screen, terminal } = view(true, { ms: 0 });
  terminal.doing("actor_training");
  screen.write("^C");
  terminal.say("stopping after this step");
  assert.deepEqual(screen.seen()[0], "stopping after this step");
  assert.equal(screen.seen().filter((line) => line.includes("█") || line.includes("░")).length, 1);
});

test("before a run has opened the view says what is being loaded, and names no steps", () => {
  const screen = new FakeScreen(true);
  const terminal = new TerminalView({ title: "libero_10", screen, now: () => 0 });
  terminal.doing("load_policy");
  assert.deepEqual(screen.seen(), ["libero_10  elapsed 0.0 s", "now: loading the policy, 0.0 s"]);
});

test("no time left is given where none is known: a last step that takes too long, an evaluation's last episode", () => {
  const now = { ms: 0 };
  const { screen, terminal } = view(true, now);
  terminal.opened(8, 10);
  terminal.write(8, step);
  now.ms = 25_000; // steps take 20 s
  terminal.doing("actor_training");
  assert.match(screen.seen()[0]!, /elapsed 25 s {2}time left not known yet$/);
  const evaluation = new TerminalView({ title: "x", totalSteps: 0, screen, now: () => now.ms });
  evaluation.doing("eval", 0, 300);
  now.ms += 1000;
  evaluation.doing("eval", 299, 300);
  assert.match(screen.seen().at(-2)!, /nearly done$/);
  assert.doesNotMatch(screen.text, /0\.0 s left/);
});
