import assert from "node:assert/strict";
import { test } from "node:test";
import { Mt19937 } from "#random";
import { UserError } from "#registry";
import { tabletopPack } from "../simulators/tabletop/pack.ts";
import { readBddl } from "./bddl.ts";
import { assembleScene } from "./scene.ts";
import { SceneSimulation } from "./scene-simulation.ts";

const pack = tabletopPack();
const [task] = Object.values(pack.suites)[0] ?? [];
const scene = assembleScene(pack, readBddl(pack.resolve(task!.bddl)));
const model = SceneSimulation.compile(scene);

function fresh(seed = 3): SceneSimulation {
  const world = new SceneSimulation(scene, model);
  world.reset(new Mt19937(seed), 1);
  return world;
}

const rest = [0, 0, 0, 0, 0, 0, -1];
const distance = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Math.hypot(...Array.from(a, (value, i) => value - b[i]!));

test("an arm told to rest stays where it is", () => {
  using world = fresh();
  const before = world.reading.handPosition.slice();
  for (let i = 0; i < 10; i++) world.step(rest);
  assert.ok(distance(before, world.reading.handPosition) < 5e-3, "held within half a centimeter");
});

test("an arm told to move goes that way, and the rest of the hand's pose stays", () => {
  using world = fresh();
  const before = world.reading.handPosition.slice();
  for (let i = 0; i < 5; i++) world.step([0, 0.5, 0, 0, 0, 0, -1]);
  const [x = 0, y = 0, z = 0] = world.reading.handPosition.map((value, i) => value - before[i]!);
  assert.ok(y > 0.04, `moved ${y} m along y`);
  assert.ok(Math.abs(x) < 0.02 && Math.abs(z) < 0.02, `strayed ${x}, ${z}`);
});

test("a rotation about the vertical turns the hand by what was asked", () => {
  using world = fresh();
  const yaw = () => {
    const [x = 0, y = 0, z = 0, w = 0] = world.reading.handQuaternion;
    return Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z));
  };
  const before = yaw();
  for (let i = 0; i < 4; i++) world.step([0, 0, 0, 0, 0, 0.4, -1]);
  for (let i = 0; i < 10; i++) world.step(rest);
  const turned = Math.atan2(Math.sin(yaw() - before), Math.cos(yaw() - before));
  assert.ok(turned > 0.3, `turned ${turned} rad`);
});

test("the fingers close on +1 and open on -1", () => {
  using world = fresh();
  const opening = () => Math.abs(world.reading.fingers[0]! - world.reading.fingers[1]!);
  for (let i = 0; i < 15; i++) world.step([0, 0, 0.5, 0, 0, 0, -1]);
  const open = opening();
  for (let i = 0; i < 15; i++) world.step([0, 0, 0, 0, 0, 0, 1]);
  assert.ok(opening() < 0.3 * open, `${open} m open, ${opening()} m closed`);
});

test("the same seed and actions give the same bits", () => {
  const end = () => {
    using world = fresh(11);
    for (let i = 0; i < 8; i++) world.step([0.3, -0.2, -0.6, 0, 0, 0.1, i < 4 ? -1 : 1]);
    return world.snapshot();
  };
  assert.deepEqual(end(), end());
});

test("a restored snapshot goes on to the bit, in another simulation", () => {
  using world = fresh();
  using other = fresh(99);
  const action = [0.2, 0.4, -0.8, 0.1, 0, 0, 1];
  for (let i = 0; i < 5; i++) world.step(action);
  other.restore(world.snapshot());
  for (let i = 0; i < 5; i++) {
    assert.equal(world.step(action), other.step(action));
    assert.deepEqual(other.simulation.qpos, world.simulation.qpos);
    assert.deepEqual(other.reading, world.reading);
  }
});

test("a snapshot taken before the first step restores the controller that has not looked yet", () => {
  const stale = { ...scene, pack: { ...pack, control: { ...pack.control, staleFirstStep: true } } };
  using world = new SceneSimulation(stale, model);
  world.reset(new Mt19937(3), 1);
  const kept = world.snapshot();
  world.step(rest);
  using other = new SceneSimulation(stale, model);
  other.restore(kept);
  other.step(rest);
  assert.deepEqual(other.simulation.qpos, world.simulation.qpos);
});

test("a stored start is set as it is, and one of another size is refused", () => {
  using world = fresh();
  const starts = pack.readInitStates(task!);
  world.setState(starts.data.subarray(0, starts.width));
  assert.deepEqual(
    [...world.simulation.qpos],
    [...starts.data.subarray(1, 1 + world.simulation.qpos.length)],
  );
  assert.throws(() => world.setState(new Float64Array(4)), UserError);
});

test("a wrong action is refused before anything moves", () => {
  using world = fresh();
  const before = world.snapshot();
  assert.throws(() => world.step([1, 2]), /an action has 7 numbers, not 2/);
  assert.throws(() => world.step([0, 0, Number.NaN, 0, 0, 0, 0]), /number 2 of the action is NaN/);
  assert.deepEqual(world.snapshot(), before);
});

test("an observation is offered once per control step", () => {
  using world = fresh();
  let count = 0;
  for (let i = 0; i < 4; i++) world.step(rest, () => count++);
  assert.equal(count, 4);
});
