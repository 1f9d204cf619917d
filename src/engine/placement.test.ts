import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Model, Simulation } from "#mujoco";
import { Mt19937 } from "#random";
import { assertClose } from "../../test/support/close.ts";
import { testPack, testTask } from "../../test/support/small-pack.ts";
import { parseBddl } from "./bddl.ts";
import { drawPlacements, jointDraws, PlacementError } from "./placement.ts";
import { assembleScene } from "./scene.ts";
import { ownedByReset, resetScene, setFixturePoses } from "./scene-reset.ts";

const pack = testPack();
after(() => pack.remove());
const scene = assembleScene(pack, parseBddl(testTask, "t.bddl"));
/** Where the sites are while the chest stands at the origin with its drawer out. */
const sites = (name: string) =>
  name === "chest_1_lid" ? ([0, 0, 0.05] as const) : ([0.4, 0, 0.01] as const);

test("things are drawn in the order workspace, on parts, in parts, on things, each x, y, angle", () => {
  const random = new Mt19937(5);
  const drawn = drawPlacements(scene, random, sites);
  assert.deepEqual(
    drawn.map(({ object }) => object.name),
    ["block_1", "block_2", "chest_1", "block_5", "block_3", "block_4"],
  );
  const same = new Mt19937(5);
  const [first, second] = drawn;
  // block_1: region shrunk by its radius 0.03, one range and so no bits for choosing it; bottom 0.02 under its origin.
  assertClose(
    first!.position,
    [same.uniform(-0.27, -0.13), same.uniform(-0.07, 0.07), 0.5 + 0.01 + 0.02],
    1e-7,
  );
  const angle = same.uniform(0, 1);
  assertClose(first!.orientation, [Math.cos(angle / 2), 0, 0, Math.sin(angle / 2)], 1e-7);
  // block_2: two ranges, so an integer is drawn first.
  const y = same.integer(2) === 0 ? [-0.07, 0.07] : [0.23, 0.37];
  assertClose(second!.position, [same.uniform(0.13, 0.27), same.uniform(y[0]!, y[1]!), 0.53], 1e-7);
});

test("a fixture takes its region's yaw and is not shrunk into its region", () => {
  const chest = drawPlacements(scene, new Mt19937(1), sites).find(({ object }) => object.fixture)!;
  const [x, y, z] = chest.position;
  assert.ok(x >= 0.2 && x <= 0.202 && y >= -0.3 && y <= -0.298);
  assert.equal(z, 0.5 + 0.05);
  assertClose(chest.orientation, [Math.cos(0.25), 0, 0, Math.sin(0.25)], 1e-7);
});

test("a thing in a drawer starts at the drawer's site, turned with the chest; a thing on a thing on its top", () => {
  const drawn = drawPlacements(scene, new Mt19937(2), sites);
  const by = (name: string) => drawn.find(({ object }) => object.name === name)!.position;
  const [chestX, chestY] = by("chest_1");
  assertClose(
    by("block_3"),
    [chestX + 0.4 * Math.cos(0.5), chestY + 0.4 * Math.sin(0.5), 0.55 + 0.01 + 0.02],
    1e-7,
  );
  const [x, y, z] = by("block_1");
  assertClose(by("block_4"), [x, y, z + 0.02 + 0.01 + 0.02], 1e-7);
});

test("a pack that writes quaternions scalar last gets them so, for objects and not for fixtures", () => {
  const odd = { ...scene, pack: { ...pack, placementQuaternion: "xyzw" as const } };
  const plain = drawPlacements(scene, new Mt19937(3), sites);
  for (const [i, { object, orientation }] of drawPlacements(odd, new Mt19937(3), sites).entries()) {
    const [w, x, y, z] = plain[i]!.orientation;
    assert.deepEqual(orientation, object.fixture ? [w, x, y, z] : [x, y, z, w]);
  }
});

test("a thing without a free spot is a PlacementError after 5000 attempts", () => {
  const crowded = testTask.replace("((0.1 -0.1 0.3 0.1) (0.1 0.2 0.3 0.4))", "((-0.2 0 -0.14 0.06))");
  const tight = crowded.replace("((-0.3 -0.1 -0.1 0.1))", "((-0.2 0 -0.14 0.06))");
  const small = assembleScene(pack, parseBddl(tight, "t.bddl"));
  assert.throws(() => drawPlacements(small, new Mt19937(0), sites), PlacementError);
});

test("the joints of an opened drawer are drawn from the category's range", () => {
  assert.deepEqual(jointDraws(scene), [{ joints: ["chest_1_slide"], range: [-0.2, -0.1] }]);
});

test("a reset draws one normal per arm joint, then joints as often as asked, and repeats from the same seed", () => {
  using model = Model.fromXml(scene.xml);
  using simulation = new Simulation(model, { own: ownedByReset });
  resetScene(scene, simulation, new Mt19937(9), 2);
  const same = new Mt19937(9);
  same.normal();
  same.uniform(-0.2, -0.1);
  assert.equal(simulation.qpos.at(-1), same.uniform(-0.2, -0.1), "the second draw of the drawer holds");
  assert.equal(simulation.qpos[0], 0.25);
  const first = simulation.qpos.slice();
  simulation.step(10);
  resetScene(scene, simulation, new Mt19937(9), 2);
  assert.deepEqual(simulation.qpos, first);
});

test("fixture poses given from elsewhere move the fixture and nothing else", () => {
  using model = Model.fromXml(scene.xml);
  using simulation = new Simulation(model, { own: ownedByReset });
  setFixturePoses(scene, simulation, { chest_1: { position: [1, 2, 3], orientation: [0, 0, 0, 1] } });
  simulation.forward();
  const id = model.id("body", "chest_1_main");
  assert.deepEqual([...simulation.array("xpos").subarray(3 * id, 3 * id + 3)], [1, 2, 3]);
  assert.notDeepEqual(model.array("body_pos").slice(3 * id, 3 * id + 3), new Float64Array([1, 2, 3]));
});
