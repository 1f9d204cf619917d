import assert from "node:assert/strict";
import { test } from "node:test";
import { assembleScene, drawScene, parseBddl, readBddl, restAction, SceneSimulation } from "#engine";
import { Mt19937 } from "#random";
import { beginEpisode, runEpisode } from "../experts/episode.ts";
import { makeExpert } from "../make-expert.ts";
import { SlotHost } from "../slots/slot-host.ts";
import { drawEvaluationStart } from "../starts/fresh-start.ts";
import { isGraspable } from "./experts/grasps.ts";
import { HomeTruth } from "./experts/home-truth.ts";
import { homePack } from "./pack.ts";

const pack = homePack();
const allTasks = Object.values(pack.suites).flat();
const sceneOf = (bddl: string) => assembleScene(pack, readBddl(pack.resolve(bddl)));

function worldOf(name: string): SceneSimulation {
  const task = allTasks.find((entry) => entry.name === name);
  assert.ok(task, name);
  const scene = sceneOf(task.bddl);
  return new SceneSimulation(scene, SceneSimulation.compile(scene));
}

test("there are four suites of ten tasks, and no two tasks share a sentence", () => {
  assert.deepEqual(Object.keys(pack.suites), [
    "behavior_spatial",
    "behavior_object",
    "behavior_goal",
    "behavior_long",
  ]);
  for (const tasks of Object.values(pack.suites)) assert.equal(tasks.length, 10);
  assert.equal(new Set(allTasks.map(({ language }) => language)).size, allTasks.length);
});

test("every scene holds several things that can be grasped, so that the words decide", () => {
  for (const { bddl } of allTasks) {
    const graspable = sceneOf(bddl).objects.filter(({ category }) => isGraspable(category));
    assert.ok(graspable.length >= 2, bddl);
  }
});

test("the tasks of behavior_goal begin alike: only their goals differ", () => {
  const beginnings = pack.suites.behavior_goal!.map(({ bddl }) => {
    const { init, regions, objects, fixtures } = readBddl(pack.resolve(bddl));
    return JSON.stringify({ init, regions, objects, fixtures });
  });
  assert.equal(new Set(beginnings).size, 1);
});

for (const task of allTasks) {
  test(`the expert solves "${task.language}" from a stored start, which is at rest and unsolved`, () => {
    const scene = sceneOf(task.bddl);
    using world = new SceneSimulation(scene, SceneSimulation.compile(scene));
    const { count, width, data } = pack.readInitStates(task);
    assert.equal(count, 50);
    const expert = makeExpert(world);
    for (const index of [3, 40]) {
      drawScene(world, new Mt19937(index));
      beginEpisode(world, data.subarray(index * width, (index + 1) * width));
      assert.equal(world.success, false, `start ${index} is already solved`);
      assert.ok(fastestObject(world) < 0.05, `in start ${index} something moves`);
      expert.reset();
      const { success, steps } = runEpisode(world, expert, { maxSteps: 160 });
      assert.ok(success, `start ${index} is not solved after ${steps} steps`);
    }
  });
}

test("an expert that takes another thing of the scene does not solve the task", () => {
  using world = worldOf("put_the_red_can_in_the_basket");
  const expert = makeExpert(world);
  drawScene(world, new Mt19937(1));
  expert.reset({ grasp: [0, 0, 0], place: [0, 0, 0], otherObject: 0.5 });
  assert.equal(runEpisode(world, expert, { maxSteps: 60 }).success, false);
});

test("a goal that holds for four steps does not count, one that holds for five does", () => {
  using world = worldOf("turn_on_the_radio");
  drawScene(world, new Mt19937(2));
  const rest = restAction(pack, -1);
  const { model, qpos } = world.simulation;
  const button = model.array("jnt_qposadr")[model.id("joint", "radio_1_button_slide")]!;
  qpos[button] = 0.015;
  assert.deepEqual(
    Array.from({ length: 6 }, () => world.step(rest)),
    [false, false, false, false, true, true],
  );
  qpos[button] = 0;
  assert.equal(world.step(rest), false);
});

test("a thing that a hand still holds is not placed", () => {
  using world = worldOf("put_the_red_can_in_the_basket");
  const expert = makeExpert(world);
  drawScene(world, new Mt19937(4));
  const truth = new HomeTruth(world);
  let [heldAbove, letGo] = [0, 0];
  for (let step = 0; step < 60; step++) {
    const [, , height] = truth.at("red_can_1");
    const [x, y] = truth
      .at("red_can_1")
      .map((value, axis) => value - truth.site("basket_1_contain_region")[axis]!);
    const over = Math.hypot(x!, y!) < 0.06 && height < 1;
    if (over && world.success) letGo++;
    else if (over) heldAbove++;
    world.step(expert.act());
  }
  assert.ok(heldAbove > 0 && letGo > 0);
});

test("one step at full speed carries both hands between three and five centimeters once they move", () => {
  using world = worldOf("open_the_drawer");
  drawScene(world, new Mt19937(0));
  const truth = new HomeTruth(world);
  const up = [0, 0, 1, 0, 0, 0, -1, 0, 0, 1, 0, 0, 0, -1];
  for (let step = 0; step < 3; step++) world.step(up);
  const before = [truth.hands.left.at[2], truth.hands.right.at[2]];
  world.step(up);
  for (const [i, hand] of [truth.hands.left, truth.hands.right].entries()) {
    const moved = hand.at[2] - before[i]!;
    assert.ok(moved > 0.03 && moved < 0.05, `${moved}`);
  }
});

test("a hand that is pressed on the counter stops above it, and its aim does not run away", () => {
  using world = worldOf("open_the_drawer");
  drawScene(world, new Mt19937(0));
  const { left } = new HomeTruth(world).hands;
  for (let step = 0; step < 15; step++) world.step([0, 0.3, -1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, -1]);
  const ahead = Math.hypot(...left.at.map((value, axis) => value - left.aim[axis]!));
  assert.ok(left.at[2] > 0.905, `${left.at[2]}`);
  assert.ok(ahead < 0.12, `${ahead}`);
});

test("physics can step at 120 Hz, and the head can see 99 degrees", () => {
  const other = homePack({ physicsRate: 120, headView: 99 });
  const scene = assembleScene(other, readBddl(other.resolve(allTasks[0]!.bddl)));
  using world = new SceneSimulation(scene, SceneSimulation.compile(scene));
  const { model } = world.simulation;
  assert.equal(world.simulation.options().timestep, 1 / 120);
  assert.equal(model.array("cam_fovy")[model.id("camera", "robot0_head")], 99);
});

test("an action must have 14 finite numbers", () => {
  using world = worldOf("open_the_drawer");
  assert.throws(() => world.step([0, 0, 0, 0, 0, 0, 0]), /an action has 14 numbers, not 7/);
  assert.throws(() => world.step(Array(14).fill(Number.NaN)), /number 0 of the action is NaN/);
});

test("a snapshot goes on with the same bits, a goal half held included", () => {
  using world = worldOf("close_the_drawer");
  using other = worldOf("close_the_drawer");
  const expert = makeExpert(world);
  drawScene(world, new Mt19937(6));
  drawScene(other, new Mt19937(7));
  for (let step = 0; step < 12; step++) world.step(expert.act());
  other.restore(world.snapshot());
  for (let step = 0; step < 12; step++) {
    const action = expert.act();
    assert.equal(other.step(action), world.step(action));
    assert.deepEqual([...other.simulation.qpos], [...world.simulation.qpos]);
  }
});

test("a drawn start is the same for the same seed and another for another; odd ones of neighbors are mirrored", () => {
  const name = "pick_up_the_bowl_next_to_the_can_and_place_it_on_the_plate";
  using world = worldOf(name);
  const draw = (seed: number, trial: number) => [...drawEvaluationStart(world, name, { seed, trial })];
  const first = draw(3, 0);
  assert.deepEqual(draw(3, 0), first);
  assert.notDeepEqual(draw(4, 0), first);
  const { model } = world.simulation;
  const y = 1 + model.array("jnt_qposadr")[model.id("joint", "red_can_1_joint0")]! + 1;
  assert.ok(first[y]! > 0.3 && draw(3, 1)[y]! < -0.3);
});

test("a slot shows the head and both wrists, and a state of 16 numbers", () => {
  const host = new SlotHost({
    suite: "behavior_goal",
    width: 32,
    height: 32,
    wrist: true,
    gripperOpen: true,
  });
  try {
    const [begun] = host.begin([{ slot: 0, task: 5, trial: 0, seed: 1 }]);
    assert.equal(begun?.main.length, 32 * 32 * 3);
    assert.equal(begun?.wrist?.length, 2 * 32 * 32 * 3);
    assert.equal(begun?.state.length, 16);
    const half = begun!.wrist!.length / 2;
    assert.notDeepEqual(begun!.wrist!.subarray(0, half), begun!.wrist!.subarray(half));
    const [played] = host.chunk([{ slot: 0, actions: new Float32Array(2 * 14) }]);
    assert.equal(played?.success.length, 2);
    // The left hand is on the left: its y is positive.
    assert.ok(played!.state[1]! > 0.2 && played!.state[9]! < -0.2);
    // Upright: the tiles of the wall are lighter than the floor before the robot.
    const mean = (from: number) =>
      begun!.main.subarray(from, from + 960).reduce((sum, value) => sum + value, 0);
    assert.ok(mean(0) > mean(begun!.main.length - 960));
  } finally {
    host.dispose();
  }
});

test("a goal that no hand knows to reach is refused with the reason", () => {
  const text = `(define (problem home_manipulation) (:domain robosuite)
    (:regions (here (:target main_counter) (:ranges ((0.3 0.2 0.4 0.3)))))
    (:fixtures main_counter - counter) (:objects cup_1 - cup)
    (:init (On cup_1 main_counter_here)) (:goal (And (InLeftHand cup_1))))`;
  const scene = assembleScene(pack, parseBddl(text, "made-up.bddl"));
  using world = new SceneSimulation(scene, SceneSimulation.compile(scene));
  assert.throws(() => makeExpert(world), /made-up\.bddl.*inlefthand cup_1/);
});

/** Meters per second or radians per second, over all free objects. */
function fastestObject({ scene, simulation: { model, qvel } }: SceneSimulation): number {
  let fastest = 0;
  for (const { fixture, joints } of scene.objects) {
    if (fixture) continue;
    const at = model.array("jnt_dofadr")[model.id("joint", joints.at(-1) ?? "")]!;
    fastest = Math.max(fastest, ...qvel.subarray(at, at + 6).map(Math.abs));
  }
  return fastest;
}
