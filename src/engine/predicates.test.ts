import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Model, Simulation } from "#mujoco";
import { UserError } from "#registry";
import { testPack, testTask } from "../../test/support/small-pack.ts";
import { parseBddl } from "./bddl.ts";
import { Predicates } from "./predicates.ts";
import { assembleScene } from "./scene.ts";

const pack = testPack();
after(() => pack.remove());
const scene = assembleScene(pack, parseBddl(testTask, "task.bddl"));
const model = Model.fromXml(scene.xml);

/** A world with the blocks far apart, in which single things can be moved. */
function world() {
  const simulation = new Simulation(model);
  const predicates = new Predicates(scene, simulation);
  const address = (joint: string) => model.array("jnt_qposadr")[model.id("joint", joint)]!;
  const put = (block: string, x: number, y: number, z: number) =>
    simulation.qpos.set([x, y, z, 1, 0, 0, 0], address(`${block}_joint0`));
  for (const i of [1, 2, 3, 4, 5]) put(`block_${i}`, i, 5, 1);
  const ask = (name: string, ...args: string[]) => {
    simulation.forward();
    return predicates.compile({ name, args, line: 3 }, "task.bddl")();
  };
  return {
    simulation,
    predicates,
    put,
    ask,
    slide: (q: number) => (simulation.qpos[address("chest_1_slide")] = q),
  };
}

test("a block lies on another when it touches it from above within 3 cm", () => {
  const { put, ask } = world();
  put("block_2", 3, 3, 1);
  put("block_1", 3.01, 3, 1.039); // 1 mm into it
  assert.equal(ask("on", "block_1", "block_2"), true);
  assert.equal(ask("on", "block_2", "block_1"), false);
  put("block_1", 3.035, 3, 1.039);
  assert.equal(ask("on", "block_1", "block_2"), false, "too far to the side");
  put("block_1", 3, 3, 1.1);
  assert.equal(ask("on", "block_1", "block_2"), false, "in the air");
});

test("a zone of the workspace needs no contact, only the place", () => {
  const { put, ask } = world();
  put("block_1", -0.2, 0, 0.55);
  assert.equal(ask("on", "block_1", "bench_left"), true);
  put("block_1", -0.2, 0.2, 0.55);
  assert.equal(ask("on", "block_1", "bench_left"), false);
});

test("a block is in a drawer when its center is inside the region's box, and the box moves with the drawer", () => {
  const { put, ask, slide } = world();
  put("block_1", 0.4, 0, 0.01); // chest at the origin, the drawer's region 0.4 m along x
  assert.equal(ask("in", "block_1", "chest_1_inside"), true);
  slide(-0.15);
  assert.equal(ask("in", "block_1", "chest_1_inside"), false);
});

test("a drawer is open beyond its threshold, by region or by fixture", () => {
  const { ask, slide } = world();
  slide(-0.05);
  assert.equal(ask("open", "chest_1_inside"), false);
  slide(-0.15);
  assert.equal(ask("open", "chest_1_inside"), true);
  assert.equal(ask("open", "chest_1"), true);
});

test("the goal holds when every part of it does", () => {
  const { simulation, predicates, put, slide } = world();
  const goal = predicates.goal(scene.task);
  put("block_2", 3, 3, 1);
  put("block_1", 3, 3, 1.039);
  simulation.forward();
  assert.equal(goal(), false);
  slide(-0.15);
  simulation.forward();
  assert.equal(goal(), true);
});

test("up is a height, of an object or a region", () => {
  const { put, ask } = world();
  put("block_1", 0, 3, 0.99);
  assert.equal(ask("up", "block_1"), false);
  put("block_1", 0, 3, 1);
  assert.equal(ask("up", "block_1"), true);
  assert.equal(ask("up", "bench_left"), false);
});

test("a question that makes no sense is a user error with file and line", () => {
  const { ask } = world();
  const refuses = (pattern: RegExp, name: string, ...args: string[]) =>
    assert.throws(
      () => ask(name, ...args),
      (error) => error instanceof UserError && pattern.test(error.message),
    );
  refuses(
    /task\.bddl:3: \(upon .*no such predicate; there are: true, false, on/,
    "upon",
    "block_1",
    "block_2",
  );
  refuses(/"nothing" is neither an object nor a region/, "on", "block_1", "nothing");
  refuses(/a block cannot be asked that/, "open", "block_1");
});
