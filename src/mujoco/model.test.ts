import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { UserError } from "#registry";
import { ballAndArm } from "../../test/support/ball-and-arm.ts";
import { Model } from "./model.ts";

const isUserError = (pattern: RegExp) => (error: unknown) =>
  error instanceof UserError && pattern.test(error.message);

function inFolder(body: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), "reverie-mujoco-"));
  try {
    body(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("a model's sizes, names and arrays are those of its text", () => {
  using model = Model.fromXml(ballAndArm);
  assert.equal(model.sizes.nq, 8);
  assert.deepEqual(model.names("body"), ["world", "ball", "arm"]);
  assert.equal(model.id("geom", "arm"), 2);
  assert.deepEqual(model.shape("body_pos"), [3, 3]);
  assert.deepEqual([...model.array("body_pos").subarray(3, 6)], [0, 0, 0.5]);
  assert.ok(model.array("geom_rgba") instanceof Float32Array);
  assert.ok(model.arrayNames().length > 300, "every array of mjModel is there");
});

test("bad XML is a user error with the model's name, MuJoCo's reason and the line", () => {
  const text = "<mujoco>\n<worldbody>\n<geom type='blob'/></worldbody></mujoco>";
  assert.throws(
    () => Model.fromXml(text, { name: "kitchen.xml" }),
    isUserError(/kitchen\.xml.*invalid keyword: 'blob'[\s\S]*line 3/),
  );
  assert.throws(() => Model.fromXml("not xml at all"), isUserError(/cannot load/));
  assert.throws(() => Model.fromFile("/nowhere/model.xml"), isUserError(/nowhere\/model\.xml/));
});

test("a missing mesh is a user error that names the file", () => {
  const text = "<mujoco><asset><mesh name='m' file='gone.stl'/></asset></mujoco>";
  assert.throws(() => Model.fromXml(text), isUserError(/gone\.stl/));
});

test("an unknown name is a user error that suggests the nearest", () => {
  using model = Model.fromXml(ballAndArm);
  assert.throws(
    () => model.id("joint", "hinje"),
    isUserError(/no joint named "hinje"; did you mean "hinge"/),
  );
  assert.throws(() => model.array("body_position"), isUserError(/no array named "body_position"/));
});

test("assets in memory stand in for files", () => {
  const tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
  const text = `<mujoco><asset><mesh name="t" file="t.obj"/></asset>
    <worldbody><body><freejoint/><geom type="mesh" mesh="t" density="6"/></body></worldbody></mujoco>`;
  using model = Model.fromXml(text, { assets: { "t.obj": new TextEncoder().encode(tetrahedron) } });
  assert.ok(Math.abs(model.array("body_mass")[1]! - 1) < 1e-12, "6 kg/m³ × 1/6 m³");
});

test("the same text is compiled once, and a private model shares nothing", () => {
  using first = Model.fromXml(ballAndArm);
  using second = Model.fromXml(ballAndArm);
  using apart = Model.fromXml(ballAndArm, { share: false });
  first.array("body_mass")[1] = 7; // against the rule, to see who shares
  assert.equal(second.array("body_mass")[1], 7);
  assert.notEqual(apart.array("body_mass")[1], 7);
  first.array("body_mass")[1] = apart.array("body_mass")[1]!;
});

test("a model on disk is compiled anew when a file it includes has changed", () => {
  inFolder((folder) => {
    const path = join(folder, "whole.xml");
    const part = (mass: number) =>
      `<mujocoinclude><body><geom size="1" mass="${mass}"/><freejoint/></body></mujocoinclude>`;
    writeFileSync(path, `<mujoco><worldbody><include file="part.xml"/></worldbody></mujoco>`);
    writeFileSync(join(folder, "part.xml"), part(1));
    using before = Model.fromFile(path);
    writeFileSync(join(folder, "part.xml"), part(2));
    using after = Model.fromFile(path);
    assert.deepEqual([before.array("body_mass")[1], after.array("body_mass")[1]], [1, 2]);
  });
});

test("a cache folder keeps the compiled model, and a damaged file in it is compiled again", () => {
  inFolder((folder) => {
    const text = ballAndArm.replace("ball and arm", `cached ${folder}`);
    Model.fromXml(text, { cacheFolder: folder }).dispose();
    const [file = ""] = readdirSync(folder);
    assert.match(file, /\.mjb$/);
    using loaded = Model.fromXml(text, { cacheFolder: folder });
    assert.deepEqual(loaded.names("camera"), ["front", "top"]);
    loaded.dispose();
    truncateSync(join(folder, file), 100);
    using again = Model.fromXml(text, { cacheFolder: folder });
    assert.equal(again.sizes.nq, 8);
  });
});

test("a disposed model is a JavaScript error, and its views are empty", () => {
  const model = Model.fromXml(ballAndArm);
  const view = model.array("qpos0");
  model.dispose();
  model.dispose();
  assert.throws(() => model.array("qpos0"), /disposed/);
  assert.equal(view.length, 0);
});
