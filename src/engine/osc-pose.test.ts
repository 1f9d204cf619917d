import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isNumericArray, readNpz } from "#formats";
import { Model, Simulation } from "#mujoco";
import { liberoForTests } from "../../test/libero-assets.ts";
import { needsShared, sharedFolder } from "../../test/shared.ts";
import { liberoRobots } from "../simulators/libero/problems.ts";
import { armLayout } from "./arm-layout.ts";
import { OscPose } from "./osc-pose.ts";

const { folder, skip: noAssets } = await liberoForTests();
const skip = needsShared() || noAssets;

function openRecording(name: string) {
  const recording = join(sharedFolder()!, "fixtures/libero/replay", name);
  const arrays = new Map([...readNpz(join(recording, "trace.npz")), ...readNpz(join(recording, "osc.npz"))]);
  const xml = readFileSync(join(recording, "model.xml"), "utf8").replaceAll(
    /file="(libero|robosuite)\//g,
    (_, prefix) => `file="${folder}/${prefix}/`,
  );
  const row = (name: string, index: number, width: number): Float64Array => {
    const array = arrays.get(name);
    assert.ok(array && isNumericArray(array) && array.data instanceof Float64Array, name);
    return array.data.subarray(index * width, (index + 1) * width);
  };
  return { xml, row };
}

/**
 * The recorded controller's torques, physics step by physics step, from recorded positions, velocities and goals. The
 * first physics step is left out: there the recorded controller looks at the reset pose.
 */
test("torques equal robosuite's to 1e-12 over 49 physics steps", { skip }, () => {
  const { xml, row } = openRecording("libero_goal_00_i0_s1");
  using model = Model.fromXml(xml);
  using simulation = new Simulation(model);
  const arm = armLayout(model, liberoRobots.mounted_panda!);
  const controller = new OscPose(simulation, arm, 150);
  let worst = 0;
  for (let step = 1; step < 50; step++) {
    simulation.qpos.set(row("q", step, 7), 0);
    simulation.qpos.set(row("sub_qpos", step - 1, simulation.qpos.length).subarray(7), 7);
    simulation.qvel.set(row("dq", step, 7), 0);
    simulation.forward();
    simulation.array("qfrc_bias").set(row("bias", step, 7), 0); // depends on velocities that were not recorded
    controller.observe();
    controller.goalPosition.set(row("goal_pos", step, 3));
    controller.goalRotation.set(row("goal_ori", step, 9));
    controller.actuate();
    const recorded = row("tau", step, 7);
    for (let k = 0; k < 7; k++) worst = Math.max(worst, Math.abs(simulation.ctrl[k]! - recorded[k]!));
  }
  assert.ok(worst < 1e-12, `off by ${worst}`);
});
