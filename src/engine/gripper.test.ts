import assert from "node:assert/strict";
import { test } from "node:test";
import { Model, Simulation } from "#mujoco";
import { GripperControl } from "./gripper.ts";

const model = Model.fromXml(`<mujoco><worldbody>
  <body><joint name="left" type="slide"/><geom size=".01"/></body>
  <body><joint name="right" type="slide"/><geom size=".01"/></body></worldbody>
  <actuator><position joint="left" ctrlrange="0 .04"/><position joint="right" ctrlrange="-.04 0"/></actuator></mujoco>`);

const layout = { actuators: [0, 1], lowest: [0, -0.04], highest: [0.04, 0], qposAddresses: [0, 1] };

function gripper() {
  const simulation = new Simulation(model);
  const definition = { xml: "", initialJointPositions: [0, 0], closingSigns: [-1, 1], speed: 0.01 };
  return { simulation, control: new GripperControl(simulation, layout, definition) };
}

test("the fingers' targets start half open and move one hundredth per physics step", () => {
  const { simulation, control } = gripper();
  control.actuate(0);
  assert.deepEqual([...simulation.ctrl], [0.02, -0.02]);
  control.actuate(-1);
  assert.deepEqual([...control.target], [0.01, -0.01]);
});

test("only the sign of the action counts, and the target stops at its limits", () => {
  const { simulation, control } = gripper();
  for (let i = 0; i < 150; i++) control.actuate(0.003);
  assert.deepEqual([...control.target], [-1, 1]);
  assert.deepEqual([...simulation.ctrl], [0, 0]);
});

test("a reset brings the target back to the middle", () => {
  const { control } = gripper();
  control.actuate(1);
  control.reset();
  assert.deepEqual([...control.target], [0, 0]);
});
