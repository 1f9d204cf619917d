/** Scenes built from BDDL against scenes that Python LIBERO built: same compiled model, same drawn starts. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { assembleScene, ownedByReset, readBddl, resetScene } from "#engine";
import { readNpz } from "#formats";
import { Model, Simulation } from "#mujoco";
import { Mt19937 } from "#random";
import { liberoForTests } from "../../../test/libero-assets.ts";
import { needsShared, sharedFolder } from "../../../test/shared.ts";
import { liberoPack } from "./pack.ts";

const { folder, skip } = await liberoForTests();
const pack = liberoPack(folder);
const cases = join(sharedFolder() ?? "", "fixtures/libero/replay");
const chosen = needsShared() ? ["any"] : readdirSync(cases).filter((_, i) => i % 3 === 0);

for (const name of chosen) {
  test(`${name}: the compiled model and the drawn start are the reference's`, {
    skip: needsShared() || skip,
  }, () => {
    const meta = JSON.parse(readFileSync(join(cases, name, "meta.json"), "utf8"));
    const scene = assembleScene(pack, readBddl(pack.resolve(`bddl_files/${meta.bddl}`)));
    using ours = Model.fromXml(scene.xml);
    const text = readFileSync(join(cases, name, "model.xml"), "utf8");
    using theirs = Model.fromXml(text.replace(/file="(libero|robosuite)\//g, `file="${folder}/$1/`));

    assert.deepEqual(ours.sizes, theirs.sizes);
    for (const field of theirs.arrayNames()) {
      // Paths differ as text (scenes/../textures); degenerate polygons have NaN normals, which deepEqual accepts.
      if (field.endsWith("pathadr")) continue;
      assert.deepEqual(ours.array(field), theirs.array(field), field);
    }
    for (const kind of ["body", "joint", "geom", "site", "camera", "actuator"] as const)
      assert.deepEqual(ours.names(kind), theirs.names(kind));

    using simulation = new Simulation(ours, { own: ownedByReset });
    // The reference env was seeded after construction, and its first reset draws joints twice.
    resetScene(scene, simulation, new Mt19937(meta.seed), 2);
    const start = readNpz(join(cases, name, "trace.npz")).get("post_reset_state")?.data as Float64Array;
    assert.deepEqual(simulation.qpos, start.subarray(1, 1 + simulation.qpos.length));
    for (const { body, pos, quat } of Object.values<{ body: string; pos: number[]; quat: number[] }>(
      meta.fixtures,
    )) {
      const id = ours.id("body", body);
      assert.deepEqual([...simulation.modelArray("body_pos").subarray(3 * id, 3 * id + 3)], pos);
      assert.deepEqual([...simulation.modelArray("body_quat").subarray(4 * id, 4 * id + 4)], quat);
    }
  });
}

test("a stored start fits the model of its task, for one task of each suite", { skip }, () => {
  for (const suite of ["libero_spatial", "libero_object", "libero_goal", "libero_10", "libero_90"]) {
    const task = pack.suites[suite]![3]!;
    const scene = assembleScene(pack, readBddl(pack.resolve(task.bddl)));
    using model = Model.fromXml(scene.xml);
    const states = pack.readInitStates(task);
    assert.equal(states.count, 50);
    assert.equal(states.width, 1 + (model.sizes.nq ?? 0) + (model.sizes.nv ?? 0));
  }
});
