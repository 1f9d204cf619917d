import assert from "node:assert/strict";
import { test } from "node:test";
import { headlineText, progressBar, timeText } from "./terminal-lines.ts";
import { TerminalView } from "./terminal-view.ts";

class FakeScreen {
  text = "";
  readonly isTTY: boolean;
  readonly columns = 200;

  constructor(isTTY: boolean) {
    this.isTTY = isTTY;
  }

  write(text: string): void {
    this.text += text;
  }

  /** What a person would see: cursor-up-and-clear applied. */
  seen(): string[] {
    const lines: string[] = [];
    for (const part of this.text.replaceAll("\x1b", "ESC").split(/(?=ESC\[\d+AESC\[J)/)) {
      const up = /^ESC\[(\d+)AESC\[J/.exec(part);
      if (up) lines.splice(lines.length - Number(up[1]));
      lines.push(
        ...part
          .slice(up?.[0].length ?? 0)
          .split("\n")
          .slice(0, -1),
      );
    }
    return lines;
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
  const options = { title: "libero_10_grpo", totalSteps: 10, screen, now: () => now.ms };
  return { screen, terminal: new TerminalView(options) };
}

test("away from a terminal each step is one plain line without control codes", async () => {
  const { screen, terminal } = view(false, { ms: 0 });
  terminal.write(0, step);
  terminal.write(9, step);
  await terminal.close();
  assert.deepEqual(screen.text.split("\n"), [
    "step 1/10  success 43.8 %  loss 0.0123  kl 0.002  20 s: rollouts 60 %, training 35 %, other 5 %  left 3:00",
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
    "libero_10_grpo  step 2/10  █████░░░░░░░░░░░░░░░░░░░ 20 %  elapsed 31 s  left 2:40",
    "success 43.8 %  loss 0.0123  kl 0.002  eval 50.0 % (step 1)",
    "20 s: rollouts 60 %, training 35 %, other 5 %",
    "now: training 3/8, 1.0 s",
  ]);
  await terminal.close();
  assert.equal(screen.seen().length, 4);
});

test("a redraw is not made more often than an eye can follow", () => {
  const now = { ms: 1000 };
  const { screen, terminal } = view(true, now);
  terminal.write(0, step);
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
    assert.match(text, /left 2:00/);
    assert.doesNotMatch(text, /step|NaN|Infinity/);
    if (isTTY) assert.match(text, /libero_10 {2}.* 33 %/);
  }
});
