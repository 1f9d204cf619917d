import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { Model } from "#mujoco";
import { UserError } from "#registry";
import { testPack, testTask } from "../../test/support/small-pack.ts";
import { parseBddl } from "./bddl.ts";
import { assembleScene } from "./scene.ts";
import { parseXml } from "./xml.ts";

const pack = testPack();
after(() => pack.remove());
const scene = assembleScene(pack, parseBddl(testTask, "t.bddl"));
const root = parseXml(scene.xml, "scene");
const world = root.child("worldbody")!;

test("an assembled scene compiles, with qpos in the order arm, objects, fixtures", () => {
  using model = Model.fromXml(scene.xml);
  const joints = model.names("joint");
  assert.equal(joints[0], "robot0_j");
  assert.deepEqual(joints.slice(1, 3), ["block_1_joint0", "block_2_joint0"]);
  assert.equal(joints.at(-1), "chest_1_slide");
});

test("a class's values are written out where an element has none of its own, and classes are gone", () => {
  const base = world.find("body", "robot0_base")!;
  assert.equal(base.child("geom", "robot0_g0_col")?.get("mass"), "2");
  const hand = world.find("body", "robot0_hand")!;
  assert.equal(hand.child("geom", "robot0_g1_col")?.get("mass"), "1");
  assert.ok(![...root.walk()].some((e) => e.get("class") !== undefined || e.tag === "default"));
});

test("unnamed robot geoms are numbered apart for collision and looks", () => {
  const names = [...world.find("body", "robot0_base")!.walk()]
    .filter((e) => e.tag === "geom")
    .map((e) => e.get("name"));
  assert.deepEqual(names, [
    "robot0_g0_col",
    "robot0_g0_vis",
    "robot0_g1_col",
    "gripper0_g0_col",
    "mount0_g0_col",
  ]);
});

test("damping is set, armature and friction loss only where the file has none", () => {
  const joint = world.find("joint", "robot0_j")!;
  assert.deepEqual(
    ["damping", "armature", "frictionloss"].map((key) => joint.get(key)),
    ["0.7", "0.5", "0.1"],
  );
});

test("the robot stands with its mount's foot on the base point", () => {
  // The foot is 0.25 under the mount's root, the arm 0.0625 over it, the arm's own origin 0.125 higher: 0.1875 in all.
  const base = world.find("body", "robot0_base")!;
  assert.equal(base.get("pos"), "-0.5 0 0.1875");
  assert.equal(base.find("body", "mount0_post")?.get("pos"), "0 0 0.0625");
});

test("an object's geoms are named by place, those of other groups dropped, references prefixed", () => {
  const block = world.find("body", "block_2_main")!;
  assert.deepEqual(
    block.children.map((e) => `${e.tag}:${e.get("name")}`),
    ["geom:block_2_g0", "geom:block_2_g1", "joint:block_2_joint0", "site:block_2_default_site"],
  );
  assert.equal(block.children[0]?.get("material"), "block_2_paint");
  assert.deepEqual(scene.objects[1]?.contactGeoms, ["block_2_g0"]);
  assert.equal(root.child("asset")?.children.filter((e) => e.tag === "material").length, 5);
});

test("a fixture has no free joint, and its drawer's site knows the drawer's joint", () => {
  const chest = scene.objects.at(-1)!;
  assert.deepEqual([chest.name, chest.fixture, chest.joints], ["chest_1", true, ["chest_1_slide"]]);
  assert.deepEqual(scene.regions.get("chest_1_inside"), {
    name: "chest_1_inside",
    parent: "chest_1",
    joints: ["chest_1_slide"],
    size: [0.04, 0.03, 0.02],
  });
  assert.deepEqual(scene.regions.get("chest_1_lid")?.joints, []);
});

test("a region on the workspace becomes a flat box on it", () => {
  const zone = world.find("site", "bench_left")!;
  assert.equal(zone.get("pos"), "-0.2 0 0.1");
  const [x, y, z] = zone.get("size")!.split(" ").map(Number);
  assert.deepEqual([x, y, z], [(-0.1 - -0.3) / 2, 0.1, 0.007]);
  assert.equal(scene.regions.get("bench_left")?.parent, undefined);
});

test("collision geoms of the stage are colored, its floor is not, and new cameras are added", () => {
  assert.equal(world.find("geom", "top")?.get("rgba"), "0.5 0.5 0 1");
  assert.equal(world.find("geom", "floor")?.get("rgba"), undefined);
  assert.equal(world.find("camera", "front")?.get("pos"), "1 0 1");
});

const mistakes: [string, [string, string], RegExp][] = [
  [
    "an unknown problem",
    ["problem stage", "problem attic"],
    /t\.bddl: no problem named "attic".*there are: stage/,
  ],
  [
    "an unknown category",
    ["- block", "- brick"],
    /t\.bddl:9: no object category named "brick".*block, chest/,
  ],
  ["a name used twice", ["block_5 -", "block_1 -"], /t\.bddl:9: a second thing named block_1/],
  [
    "an unknown name in the goal",
    ["(On block_1 block_2)", "(On block_1 plate)"],
    /t\.bddl:12: .*"plate"; this scene has/,
  ],
  ["a region that no object carries", ["(Open chest_1_inside)))", "(Open chest_1_door)))"], /"chest_1_door"/],
];
mistakes.push(
  [
    "a thing placed twice",
    ["(On block_2 bench_right)", "(On block_1 bench_right)"],
    /t\.bddl:11: block_1 is placed a second/,
  ],
  [
    "a thing on one that is nowhere",
    ["(On chest_1 bench_back)", ""],
    /block_5 cannot be placed on chest_1, which is placed later/,
  ],
  [
    "a thing on itself",
    ["(On block_4 block_1)", "(On block_4 block_4)"],
    /block_4 cannot be placed on block_4/,
  ],
  [
    "a region in place of a thing",
    ["(On block_2 bench_right)", "(On bench_left bench_right)"],
    /bench_left is a region/,
  ],
  [
    "a zone without a range",
    ["(:ranges ((-0.3 -0.1 -0.1 0.1)))", ""],
    /t\.bddl:3: region bench_left .*needs \(:ranges/,
  ],
);
for (const [what, [found, wrong], message] of mistakes) {
  test(`${what} is refused with its line`, () => {
    assert.ok(testTask.includes(found));
    const task = parseBddl(testTask.replace(found, wrong), "t.bddl");
    assert.throws(
      () => assembleScene(pack, task),
      (e: unknown) => e instanceof UserError && message.test(e.message),
    );
  });
}

test("a missing mesh is named before MuJoCo is asked", () => {
  const own = testPack();
  const mesh = `<asset><mesh name="m" file="m.stl"/></asset>`;
  const text = `<mujoco>${mesh}<worldbody><body><body name="object"/></body></worldbody></mujoco>`;
  writeFileSync(
    join(own.folder, "stage.xml"),
    text.replace("</worldbody>", '<body name="slab"/></worldbody>'),
  );
  assert.throws(
    () => assembleScene(own, parseBddl(testTask, "t.bddl")),
    /needs .*m\.stl, which is not there/,
  );
  rmSync(own.folder, { recursive: true });
});
