import assert from "node:assert/strict";
import { test } from "node:test";
import { JobClock } from "./job-clock.ts";
import { JobView } from "./job-view.ts";

function clockAt(limit: number, spent = 0) {
  const time = { seconds: 0 };
  const clock = new JobClock({ limit, spent, now: () => 1000 * time.seconds });
  return { clock, time };
}

test("before the first training step only the limit is known", () => {
  const { clock, time } = clockAt(600);
  clock.begin("before");
  time.seconds = 50;
  assert.deepEqual(clock.left(), { seconds: 550, atMost: true });
  assert.equal(clockAt(0).clock.left().seconds, Number.NaN);
});

test("in training the time left is steps, the second evaluation and the report, but never beyond the limit", () => {
  const { clock, time } = clockAt(600);
  clock.evaluationTook(50);
  clock.begin("training");
  clock.trainingOpened(0, 10);
  clock.stepTook(30); // warms caches, and is forgotten
  time.seconds = 90;
  clock.stepTook(10);
  assert.deepEqual(clock.left(), { seconds: 8 * 10 + 55 + 20, atMost: false });
  time.seconds = 590;
  assert.equal(clock.left().seconds, 10);
});

test("training must stop when another step, the evaluation and the report would not fit", () => {
  const { clock, time } = clockAt(600, 100); // 100 s were spent before an interruption
  clock.evaluationTook(50);
  clock.trainingOpened(0, 100);
  clock.stepTook(20);
  clock.stepTook(20);
  time.seconds = 600 - 100 - 2 * 20 - 55 - 20;
  clock.stepTook(20);
  assert.equal(clock.mustStop, false);
  time.seconds += 21;
  assert.equal(clock.mustStop, true);
  assert.equal(clockAt(0).clock.mustStop, false);
});

test("a slow first step does not end the training when the second one plays faster", () => {
  const { clock, time } = clockAt(300);
  clock.evaluationTook(50);
  clock.trainingOpened(0, 100);
  time.seconds = 60;
  clock.played(10, 10);
  time.seconds = 90;
  clock.stepTook(90);
  time.seconds = 100; // half of the episodes in 10 s, where the first step took 30
  clock.played(5, 10);
  assert.equal(clock.mustStop, false);
  time.seconds = 150; // as slow as the first
  clock.played(9, 10);
  assert.equal(clock.mustStop, true);
});

test("the first step is not the last one while there is any time after it", () => {
  const { clock, time } = clockAt(100);
  clock.trainingOpened(0, 100);
  time.seconds = 70;
  assert.equal(clock.mustStop, false);
  time.seconds = 81; // the report takes 20 s
  assert.equal(clock.mustStop, true);
});

test("one slow step among quick ones does not end the training", () => {
  const { clock, time } = clockAt(300);
  clock.trainingOpened(0, 100);
  for (const seconds of [20, 20, 20, 120]) clock.stepTook(seconds);
  time.seconds = 200;
  clock.stepTook(20);
  assert.equal(clock.mustStop, false);
});

test("where there is no terminal every step is one line, and a long phase shows that it lives", () => {
  const { clock, time } = clockAt(0);
  const lines: string[] = [];
  const view = new JobView({ write: (text: string) => lines.push(text) }, clock, () => 1000 * time.seconds);
  view.measured(0.43);
  clock.begin("training");
  view.begin("training");
  clock.trainingOpened(0, 3);
  view.opened(0, 3);
  for (const done of [1, 2, 3]) {
    time.seconds += 9;
    view.doing("generate_rollouts", done, 10);
  }
  clock.stepTook(27);
  view.told(0, { "env/success_once": 0.5 });
  assert.deepEqual(lines, [
    "2 of 3: learning in the simulator\n",
    "  playing episodes, decisions 3/10, 18 s, 27 s gone, time left not known yet\n",
    "  step 1/3  success in training 50.0 % (base policy 43.0 %)  27 s gone, about 1:14 left\n",
  ]);
});

test("on a terminal the lines are drawn over, and nothing is left of them at the end", () => {
  const { clock } = clockAt(600);
  let screen = "";
  const view = new JobView({ isTTY: true, write: (text: string) => (screen += text) }, clock, () => 0);
  view.begin("before");
  view.doing("eval", 150, 300);
  assert.match(screen, /█{15}░{15} {2}episode 150\/300/);
  view.close();
  assert.ok(screen.endsWith("\r\x1b[2A\x1b[J"));
});

test("when the time is up the view says so and what is still to come, not 0.0 s left", () => {
  const { clock, time } = clockAt(60);
  let screen = "";
  const view = new JobView({ isTTY: true, write: (text: string) => (screen += text) }, clock, () => 0);
  clock.begin("before");
  view.begin("before");
  time.seconds = 86;
  view.doing("eval", 10, 300);
  assert.match(screen, /1:26 gone, --minutes is over\n/);
  clock.evaluationTook(100);
  clock.begin("training");
  view.begin("training");
  view.doing("generate_rollouts", 1, 2);
  assert.match(screen, /--minutes is over; about 2:10 more\n/);
  assert.doesNotMatch(screen, /0\.0 s left/);
});

test("part after part, the view never shows the phase of the part before", () => {
  const { clock } = clockAt(0);
  const drawn: string[] = [];
  const view = new JobView({ isTTY: true, write: (text: string) => drawn.push(text) }, clock, () => 0);
  view.begin("training");
  view.doing("cal_adv_and_returns");
  view.doing("actor_training");
  assert.match(drawn.at(-1)!, /now: learning, updates, 0\.0 s\n$/);
  view.begin("after");
  view.doing("start_engine");
  assert.match(drawn.at(-1)!, /now: starting the engine/);
});

test("how fast evaluations are is known after some episodes, and earlier where much of the time is gone already", () => {
  const { clock, time } = clockAt(600);
  clock.begin("before");
  time.seconds = 10;
  clock.evaluated(0, 300);
  time.seconds = 20;
  clock.evaluated(30, 300);
  assert.equal(clock.evaluationSpeed(), undefined);
  clock.evaluated(60, 300);
  assert.deepEqual(clock.evaluationSpeed(), { opening: 10, playing: 50 });
  time.seconds = 190;
  clock.evaluated(15, 300);
  assert.deepEqual(clock.evaluationSpeed(), { opening: 10, playing: 3600 });
});
