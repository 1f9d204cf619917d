import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { assembleScene, drawScene, parseBddl, readBddl, SceneSimulation } from "#engine";
import { Mt19937 } from "#random";
import { liberoFolder } from "../libero/folder.ts";
import { liberoPack } from "../libero/pack.ts";
import { tabletopPack } from "../tabletop/pack.ts";
import { beginEpisode, runEpisode } from "./episode.ts";
import type { Handling, Point } from "./expert.ts";
import { chooseGrasp, chooseGraspInside, isInside } from "./grasp-choice.ts";
import { liberoKit } from "./libero-kit.ts";
import { funnel, halfTurn, moveTowards } from "./motion.ts";
import { planSkills } from "./plan.ts";
import { tabletopKit } from "./tabletop-kit.ts";
import { TaskExpert } from "./task-expert.ts";

const handling: Handling = { gain: 10, leastAction: 0, near: 0.02, exact: 0.01, stillSteps: 1 };

test("a move keeps its direction where its speed is cut", () => {
  const action = moveTowards([0, 0, 0], [0.4, 0.2, -0.5], -1, handling);
  assert.deepEqual([...action], [1, 0.5, -1, 0, 0, 0, -1]);
});

test("a small distance is covered with the least action that friction lets through, none when it is there", () => {
  const sticky = { ...handling, leastAction: 0.4 };
  const [x = 0] = moveTowards([0, 0, 0], [0.02, 0, 0], 1, sticky);
  assert.ok(Math.abs(x - 0.4) < 1e-12);
  const [there = 0] = moveTowards([0, 0, 0], [0.004, 0, 0], 1, sticky);
  assert.ok(Math.abs(there - 0.04) < 1e-12);
});

test("a funnel is high outside its mouth, low at its axis and half as high half-way", () => {
  const height = (x: number) => funnel([x, 0, 9], [0, 0, 1], 0.2, { inner: 0.01, outer: 0.05 })[2];
  assert.deepEqual([0.005, 0.03, 0.2].map(height), [1, 1.1, 1.2]);
});

test("a gripper rotated 180° counts as not turned", () => {
  assert.ok(Math.abs(halfTurn(Math.PI)) < 1e-12);
  assert.ok(Math.abs(halfTurn(2) - (2 - Math.PI)) < 1e-12);
  assert.equal(halfTurn(0.3), 0.3);
});

test("a rim is taken on the side away from a neighbor", () => {
  const rim = { offset: [0, 0.05, 0.02] as Point, eitherSide: true };
  const neighbor = (y: number) => [{ at: [0, y, 0] as Point, radius: 0.05 }];
  assert.deepEqual(chooseGrasp(rim, [0, 0, 0], neighbor(0.16), 0.1).offset, [0, -0.05, 0.02]);
  assert.deepEqual(chooseGrasp(rim, [0, 0, 0], neighbor(-0.16), 0.1).offset, [0, 0.05, 0.02]);
});

test("a bowl in a drawer is taken along the drawer's longer side, with the hand turned that way", () => {
  const drawer = {
    at: [1, 1, 0] as Point,
    axes: Float64Array.of(1, 0, 0, 0, 1, 0, 0, 0, 1),
    size: [0.1, 0.07, 0.03] as Point,
  };
  const { offset, turn } = chooseGraspInside({ offset: [0, 0.05, 0.02] }, [0.98, 1, 0], drawer);
  assert.deepEqual(offset, [0.05, 0, 0.02]); // the wall at +x is farther
  assert.ok(Math.abs(Math.abs(turn) - Math.PI / 2) < 1e-12);
  assert.ok(isInside([1.05, 1.02, 0.01], drawer));
  assert.ok(!isInside([1.05, 1.2, 0.01], drawer));
});

const goalText = (goal: string) => `(define (problem tabletop_manipulation) (:domain robosuite)
  (:regions (zone (:target main_table) (:ranges ((0 0 0.1 0.1)))) (top_side (:target cabinet_1)))
  (:fixtures main_table - table cabinet_1 - cabinet stove_1 - stove)
  (:objects plate_1 - plate red_cube_1 - red_cube)
  (:init (On plate_1 main_table_zone) (On red_cube_1 main_table_zone))
  (:goal (And ${goal})))`;

test("a goal that no skill serves is refused with the reason", () => {
  const plan = (goal: string) =>
    planSkills(assembleScene(tabletopPack(), parseBddl(goalText(goal), "made-up.bddl")), tabletopKit);
  assert.equal(plan("(On red_cube_1 cabinet_1_top_side)").length, 1);
  assert.throws(() => plan("(On plate_1 cabinet_1_top_side)"), /made-up\.bddl.*how to grasp a plate/);
  assert.throws(() => plan("(Turnoff stove_1)"), /how to turnoff a stove/);
});

const noLibero = existsSync(liberoFolder()) ? false : "needs LIBERO's files: reverie fetch libero";

test("the expert solves a task of libero_object and one of libero_spatial", { skip: noLibero }, () => {
  const pack = liberoPack();
  for (const [suite, index] of [
    ["libero_object", 0],
    ["libero_spatial", 2],
  ] as const) {
    const task = pack.suites[suite]![index]!;
    const scene = assembleScene(pack, readBddl(pack.resolve(task.bddl)));
    using world = new SceneSimulation(scene, SceneSimulation.compile(scene));
    const { data, width } = pack.readInitStates(task);
    drawScene(world, new Mt19937(0));
    beginEpisode(world, data.subarray(0, width));
    const { success } = runEpisode(world, new TaskExpert(world, liberoKit), { maxSteps: 300 });
    assert.ok(success, task.language);
  }
});
