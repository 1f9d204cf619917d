/** A pack for tests, small enough to check by hand: a slab, a one-joint arm, a block, a box with a drawer. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { AssetPack } from "../../src/engine/pack.ts";

const marks = (bottom: number, top: number, radius: number): string =>
  `<site name="bottom_site" pos="0 0 ${bottom}"/><site name="top_site" pos="0 0 ${top}"/>
   <site name="horizontal_radius_site" pos="${radius} 0 0"/>`;

const object = (body: string, sites: string, extra = ""): string =>
  `<mujoco>${extra}<worldbody><body><body name="object">${body}</body>${sites}</body></worldbody></mujoco>`;

const files: Readonly<Record<string, string>> = {
  "base.xml": `<mujoco model="base"><compiler angle="radian" inertiagrouprange="0 0"/><option/>
    <asset/><worldbody/><actuator/></mujoco>`,
  "stage.xml": `<mujoco><asset><texture name="sky" type="skybox" builtin="flat" width="8" height="48"/></asset>
    <worldbody><geom name="floor" type="plane" size="2 2 .1" group="0"/>
    <body name="slab" pos="0 0 0.4"><geom name="top" type="box" size=".5 .5 .1" group="0"/></body></worldbody></mujoco>`,
  "arm.xml": `<mujoco><default><default class="link"><geom group="0" mass="2"/></default></default>
    <actuator><motor name="m" joint="j" ctrlrange="-1 1"/></actuator>
    <worldbody><body name="base" pos="0 0 0.125"><joint name="j" axis="0 0 1" armature="0.5"/>
    <geom class="link" size=".05"/><geom size=".05" group="1" mass="0"/><body name="hand" pos="0 0 .2">
    <geom class="link" mass="1" size=".02"/></body></body></worldbody></mujoco>`,
  "grip.xml": `<mujoco><worldbody><body name="palm"><geom size=".01" group="0"/><site name="grip"/></body>
    </worldbody></mujoco>`,
  "mount.xml": `<mujoco><worldbody><body name="post" pos="0 0 -0.25"><geom size=".04" group="0"/></body></worldbody></mujoco>`,
  "block.xml": object(
    `<geom type="box" size=".02 .02 .02" group="0" material="paint"/><geom type="box" size=".02 .02 .02" group="1"/>
     <geom name="hint" size=".1" group="3"/>`,
    marks(-0.02, 0.02, 0.03),
    `<asset><material name="paint" rgba="1 0 0 1"/></asset>`,
  ),
  "chest.xml": object(
    `<geom type="box" size=".1 .1 .05" group="0"/><site name="lid" type="box" size=".08 .06 .01" pos="0 0 .05"/>
     <body name="drawer"><joint name="slide" type="slide" axis="1 0 0" range="-.2 0"/><geom size=".03" group="0"/>
     <site name="inside" type="box" size=".04 .03 .02" pos=".4 0 .01"/></body>`,
    marks(-0.05, 0.05, 0.12),
  ),
};

/** Written to a folder of its own; call `remove` when done. */
export function testPack(): AssetPack & { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "reverie-pack-"));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  return {
    folder,
    remove: () => rmSync(folder, { recursive: true, force: true }),
    name: "test",
    baseXml: "base.xml",
    objects: {
      block: { xml: "block.xml", rotation: { axis: "z", range: [0, 1] } },
      chest: {
        xml: "chest.xml",
        rotation: { axis: "z", range: [0, 0] },
        articulation: { open: { range: [-0.2, -0.1], comparison: "<", threshold: -0.1 } },
      },
    },
    problems: {
      stage: {
        sceneXml: "stage.xml",
        robot: "arm",
        robotBase: [-0.5, 0, 0],
        workspaceCategory: "slab",
        workspaceName: "bench",
        workspaceOffset: [0, 0, 0.5],
        fixtureZOffset: 0,
        zoneBody: "slab",
        zoneOffset: [0, 0, 0.1],
        shrinkRegions: true,
        cameras: { front: { position: [1, 0, 1], orientation: [1, 0, 0, 0] } },
        textures: {},
      },
    },
    robots: {
      arm: {
        kind: "arm",
        xml: "arm.xml",
        mount: { xml: "mount.xml", topOffset: [0, 0, 0.0625] },
        gripper: { xml: "grip.xml", initialJointPositions: [], closingSigns: [], speed: 0.01 },
        handBody: "hand",
        gripSite: "grip",
        initialJointPositions: [0.25],
        jointDamping: [0.7],
        jointFrictionLoss: [0.1],
        jointArmature: [9],
        stiffness: 150,
      },
    },
    suites: {},
    control: {
      period: 0.05,
      substeps: 25,
      staleFirstStep: false,
      settleSteps: 0,
      observation: "last",
      holdSteps: 1,
    },
    sights: { main: "front", wrists: [], turn: "half", geomGroups: [false, true], shadows: true },
    film: { overview: "front", geomGroups: [false, true] },
    placementQuaternion: "wxyz",
    resolve: (file) => join(folder, file),
    readInitStates: () => ({ count: 0, width: 0, data: new Float64Array() }),
  };
}

export const testTask = `(define (problem stage)
  (:regions
    (left (:target bench) (:ranges ((-0.3 -0.1 -0.1 0.1))))
    (right (:target bench) (:ranges ((0.1 -0.1 0.3 0.1) (0.1 0.2 0.3 0.4))))
    (back (:target bench) (:ranges ((0.2 -0.3 0.202 -0.298))) (:yaw_rotation ((0.5 0.5))))
    (lid (:target chest_1))
    (inside (:target chest_1)))
  (:fixtures bench - slab chest_1 - chest)
  (:objects block_1 block_2 block_3 block_4 block_5 - block)
  (:init (On block_4 block_1) (In block_3 chest_1_inside) (Open chest_1_inside)
    (On block_1 bench_left) (On block_2 bench_right) (On chest_1 bench_back) (On block_5 chest_1_lid))
  (:goal (And (On block_1 block_2) (Open chest_1_inside))))`;
