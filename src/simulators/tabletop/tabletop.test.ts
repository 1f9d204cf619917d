import assert from "node:assert/strict";
import { test } from "node:test";
import { assembleScene, drawScene, readBddl, SceneSimulation } from "#engine";
import { Mt19937 } from "#random";
import { beginEpisode, runEpisode } from "../experts/episode.ts";
import { sceneTruth } from "../experts/scene-truth.ts";
import { tabletopKit } from "../experts/tabletop-kit.ts";
import { TaskExpert } from "../experts/task-expert.ts";
import { drawStart } from "./make-starts.ts";
import { tabletopPack } from "./pack.ts";

const pack = tabletopPack();
const allTasks = Object.values(pack.suites).flat();
const sceneOf = (bddl: string) => assembleScene(pack, readBddl(pack.resolve(bddl)));

function worldOf(name: string): SceneSimulation {
  const task = allTasks.find((entry) => entry.name === name);
  assert.ok(task, name);
  const scene = sceneOf(task.bddl);
  return new SceneSimulation(scene, SceneSimulation.compile(scene));
}

test("there are four suites of at least five tasks, and no two tasks share a sentence", () => {
  assert.deepEqual(Object.keys(pack.suites), [
    "tabletop_spatial",
    "tabletop_object",
    "tabletop_goal",
    "tabletop_long",
  ]);
  for (const tasks of Object.values(pack.suites)) assert.ok(tasks.length >= 5);
  assert.equal(new Set(allTasks.map(({ language }) => language)).size, allTasks.length);
});

test("every scene holds several things that can be grasped, so that the words decide", () => {
  for (const { bddl } of allTasks) {
    const graspable = sceneOf(bddl).objects.filter(({ category }) => tabletopKit.grasps[category]);
    assert.ok(graspable.length >= 3, bddl);
  }
});

for (const task of allTasks) {
  test(`the expert solves "${task.language}" from stored starts, which are at rest and unsolved`, () => {
    const scene = sceneOf(task.bddl);
    using world = new SceneSimulation(scene, SceneSimulation.compile(scene));
    const expert = new TaskExpert(world, tabletopKit);
    const { count, width, data } = pack.readInitStates(task);
    assert.equal(count, 50);
    for (const index of [0, 17, 34, 49]) {
      drawScene(world, new Mt19937(index));
      beginEpisode(world, data.subarray(index * width, (index + 1) * width));
      assert.equal(world.success, false, `start ${index} is already solved`);
      assert.ok(fastestObject(world) < 0.05, `in start ${index} something moves`);
      expert.reset();
      const { success, steps } = runEpisode(world, expert, { maxSteps: 100 });
      assert.ok(success, `start ${index} is not solved after ${steps} steps`);
    }
  });
}

test("an expert that takes another object of the scene does not solve the task", () => {
  using world = worldOf("pick_up_the_left_red_cube_and_place_it_in_the_tray");
  const expert = new TaskExpert(world, tabletopKit);
  for (const choice of [0.1, 0.9]) {
    drawScene(world, new Mt19937(1));
    expert.reset({ grasp: [0, 0, 0], place: [0, 0, 0], otherObject: choice });
    assert.equal(runEpisode(world, expert, { maxSteps: 60 }).success, false);
  }
});

test("a drawn start is the same for the same seed and another for another", () => {
  using world = worldOf("turn_on_the_stove");
  const draw = (seed: number) => [...drawStart(world, new Mt19937(seed), false)];
  const first = draw(3);
  assert.deepEqual(draw(3), first);
  assert.notDeepEqual(draw(4), first);
});

test("a mirrored start has its objects on the other side and the hand where it was", () => {
  using world = worldOf("pick_up_the_red_cube_next_to_the_blue_can_and_place_it_in_the_tray");
  const plain = drawStart(world, new Mt19937(5), false);
  const mirrored = drawStart(world, new Mt19937(5), true);
  const { model } = world.simulation;
  const y = model.array("jnt_qposadr")[model.id("joint", "blue_can_1_joint0")]! + 1;
  assert.ok(plain[y]! > 0.1);
  assert.equal(mirrored[y], -plain[y]!);
  assert.deepEqual(mirrored.slice(0, 9), plain.slice(0, 9));
});

test("one step at full speed carries the hand between three and five centimeters once it is moving", () => {
  using world = worldOf("turn_on_the_stove");
  drawScene(world, new Mt19937(0));
  const truth = sceneTruth(world);
  for (let step = 0; step < 3; step++) world.step([1, 0, 0, 0, 0, 0, -1]);
  const before = truth.gripPosition()[0];
  world.step([1, 0, 0, 0, 0, 0, -1]);
  const traveled = truth.gripPosition()[0] - before;
  assert.ok(traveled > 0.03 && traveled < 0.05, `${traveled}`);
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
