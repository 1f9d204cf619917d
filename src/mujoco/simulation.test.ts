import assert from "node:assert/strict";
import { test } from "node:test";
import { UserError } from "#registry";
import { ballAndArm } from "../../test/support/ball-and-arm.ts";
import { Model } from "./model.ts";
import { Simulation, takeWarnings } from "./simulation.ts";

const model = Model.fromXml(ballAndArm);

test("a ball in free fall follows Euler's method to the last bit", () => {
  using simulation = new Simulation(model);
  simulation.step(10);
  let [height, speed] = [0.5, 0];
  for (let i = 0; i < 10; i++) {
    speed += 0.002 * -9.81;
    height += 0.002 * speed;
  }
  assert.ok(Math.abs(simulation.qpos[2]! - height) < 1e-15);
  assert.ok(Math.abs(simulation.time - 0.02) < 1e-15);
});

test("step1 then step2 gives the same bits as step", () => {
  using whole = new Simulation(model);
  using halves = new Simulation(model);
  whole.ctrl[0] = halves.ctrl[0] = 0.5;
  for (let i = 0; i < 300; i++) {
    whole.step();
    halves.step1();
    halves.step2();
  }
  assert.deepEqual(whole.qpos, halves.qpos);
  assert.deepEqual(whole.qvel, halves.qvel);
});

test("writing to a view moves the world", () => {
  using simulation = new Simulation(model);
  simulation.qpos[7] = Math.PI / 2;
  simulation.forward();
  const tip = simulation.array("site_xpos");
  assert.ok(Math.abs(tip[0]! - 0.5) < 1e-12 && Math.abs(tip[2]! - 0.1) < 1e-12, `${tip}`);
});

test("kinematics gives forward's poses and mass matrix, and looks for no contacts", () => {
  using whole = new Simulation(model);
  using part = new Simulation(model);
  for (const simulation of [whole, part]) simulation.qpos.set([0.1, 0, 0.05, 1, 0, 0, 0, 0.7]);
  whole.forward();
  part.kinematics();
  for (const name of ["xpos", "xmat", "site_xpos", "geom_xpos", "cam_xpos", "cdof", "qM", "subtree_com"]) {
    assert.deepEqual(part.array(name), whole.array(name), name);
  }
  assert.deepEqual([whole.contactPairs().length, part.contactPairs().length], [2, 0]);
});

test("a simulation's own arrays change its world and nobody else's", () => {
  using changed = new Simulation(model, { own: ["body_pos"] });
  using other = new Simulation(model);
  changed.modelArray("body_pos")[3 * 2] = 9;
  changed.forward();
  other.forward();
  assert.equal(changed.array("xpos")[3 * 2], 9);
  assert.equal(other.array("xpos")[3 * 2], 0.5);
  assert.throws(() => new Simulation(model, { own: ["body_poss"] }), UserError);
});

test("the Jacobian of a site predicts its velocity", () => {
  using simulation = new Simulation(model);
  simulation.qvel[6] = 2; // hinge about y; the tip is 0.4 m along x
  simulation.forward();
  const nv = model.sizes.nv!;
  const [translation, rotation] = [new Float64Array(3 * nv), new Float64Array(3 * nv)];
  simulation.jacobian("site", model.id("site", "tip"), translation, rotation);
  assert.ok(Math.abs(translation[2 * nv + 6]! * 2 - -0.8) < 1e-12);
  assert.equal(rotation[nv + 6], 1);
});

test("the full mass matrix has the free ball's mass on its diagonal", () => {
  using simulation = new Simulation(model);
  simulation.forward();
  const nv = model.sizes.nv!;
  const matrix = new Float64Array(nv * nv);
  simulation.fullMassMatrix(matrix);
  assert.ok(Math.abs(matrix[0]! - model.array("body_mass")[1]!) < 1e-12);
  assert.equal(matrix[1], 0);
});

test("a ball at rest touches the floor and is held up by its weight", () => {
  using simulation = new Simulation(model);
  simulation.step(1500);
  const pairs = simulation.contactPairs();
  assert.deepEqual([...pairs], [model.id("geom", "floor"), model.id("geom", "ball")]);
  const weight = model.array("body_mass")[1]! * 9.81;
  assert.ok(Math.abs(simulation.contact(0).force[0]! - weight) < 0.01 * weight);
  assert.throws(() => simulation.contact(1), /whole number/);
});

test("a restored state continues to the bit", () => {
  using simulation = new Simulation(model);
  simulation.step(200);
  const kept = simulation.state();
  simulation.step(200);
  const end = simulation.state();
  simulation.reset();
  simulation.setState(kept);
  simulation.step(200);
  assert.deepEqual(simulation.state(), end);
  assert.throws(() => simulation.setState(new Float64Array(3)), UserError);
});

test("a keyframe is reached by name", () => {
  using simulation = new Simulation(model);
  simulation.reset("low");
  assert.equal(simulation.qpos[7], 0.3);
  assert.throws(() => simulation.reset("high"), UserError);
});

test("an option of one simulation is not an option of the next", () => {
  using fine = new Simulation(model);
  using coarse = new Simulation(model);
  coarse.setOption("timestep", 0.01);
  fine.step();
  coarse.step();
  assert.deepEqual([fine.time, coarse.time], [0.002, 0.01]);
  assert.equal(coarse.options().timestep, 0.01);
  assert.throws(() => coarse.setOption("timestop", 1), /no option named timestop/);
});

test("an error inside MuJoCo is a JavaScript error and the simulation goes on", () => {
  // Sixty boxes in contact need more scratch memory than this, which MuJoCo treats as fatal.
  const crowd = Array.from(
    { length: 60 },
    (_, i) => `<body pos="0 0 ${0.1 * i}"><freejoint/><geom type="box" size=".1 .1 .1"/></body>`,
  );
  using cramped = Model.fromXml(
    `<mujoco><size memory="40K"/><worldbody><geom type="plane" size="1 1 1"/>${crowd.join("")}</worldbody></mujoco>`,
  );
  using simulation = new Simulation(cramped);
  assert.throws(() => simulation.step(), /MuJoCo: .*(stack|arena|memory)/i);
  assert.throws(() => simulation.step(), /MuJoCo: /);
  for (let i = 0; i < 60; i++) simulation.qpos[7 * i + 2] = 1 + i; // apart: no contacts, no need for memory
  simulation.step();
  assert.equal(simulation.time, 0.002);
});

test("MuJoCo's warnings are kept instead of written to a file", () => {
  using simulation = new Simulation(model);
  takeWarnings();
  simulation.qvel[2] = Number.NaN;
  simulation.step();
  assert.match(takeWarnings().join("\n"), /QVEL/);
  assert.deepEqual(takeWarnings(), []);
});

test("wrong arguments are JavaScript errors", () => {
  using simulation = new Simulation(model);
  const short = new Float64Array(2);
  assert.throws(() => simulation.jacobian("site", 0, short, short), /at least 21/);
  assert.throws(() => simulation.jacobian("site", 99, short, short), /whole number/);
  assert.throws(() => simulation.step(-1), /whole number/);
  assert.throws(() => simulation.step(0.5), /whole number/);
  assert.throws(() => simulation.array("qposs"), UserError);
});

test("a disposed simulation is a JavaScript error, and its views are empty", () => {
  const simulation = new Simulation(model);
  const { qpos } = simulation;
  simulation.dispose();
  simulation.dispose();
  assert.throws(() => simulation.step(), /disposed/);
  assert.throws(() => simulation.array("qpos"), /disposed/);
  assert.equal(qpos.length, 0);
});

test("a simulation outlives the model it was made from", () => {
  const shortLived = Model.fromXml(ballAndArm.replace("ball and arm", "short-lived"));
  using simulation = new Simulation(shortLived);
  shortLived.dispose();
  simulation.step(10);
  assert.ok(simulation.qpos[2]! < 0.5);
});
