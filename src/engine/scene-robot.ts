/**
 * Builds the robot of a scene, standing where the problem says: an arm with mount and gripper in one part, or two arms that
 * one file describes.
 *
 * The prefixes `robot0_`, `mount0_` and `gripper0_` and the numbering of unnamed geoms follow robosuite 1.4.1, whose
 * stored states and traces name them so.
 */
import { UserError } from "#registry";
import type { ArmRobot, AssetPack, Robot, Vector3 } from "./pack.ts";
import {
  addPrefix,
  collides,
  colorCollisionGeoms,
  jointsOf,
  loadPart,
  mergePart,
  type ScenePart,
  vectorOf,
  vectorText,
} from "./scene-part.ts";
import type { XmlElement } from "./xml.ts";

const colors = { robot: "0 0.5 0 1", mount: "0.5 0.5 0 1", gripper: "0 0 0.5 1" } as const;

export function loadRobot(pack: AssetPack, robot: Robot, base: Vector3): ScenePart {
  const arm = loadModel(pack.resolve(robot.xml), "robot");
  if (robot.kind === "two arms") {
    rootBody(arm).set("pos", vectorText(base));
    for (const [camera, degrees] of Object.entries(robot.views))
      arm.worldbody.find("camera", `robot0_${camera}`)?.set("fovy", String(degrees));
    return arm;
  }
  setJoints(arm, robot);
  const root = rootBody(arm);
  const armOffset = vectorOf(root, "pos", "0 0 0");
  let lowest = armOffset;
  if (robot.mount) {
    const mount = loadModel(pack.resolve(robot.mount.xml), "mount");
    const { topOffset } = robot.mount;
    const bottom = vectorOf(rootBody(mount), "pos", "0 0 0");
    lowest = armOffset.map((offset, i) => bottom[i]! - topOffset[i]! + offset);
    rootBody(mount).set("pos", vectorText(armOffset.map((offset, i) => offset - topOffset[i]!)));
    mergePart(arm, mount, root.get("name"));
  }
  mergePart(arm, loadModel(pack.resolve(robot.gripper.xml), "gripper"), `robot0_${robot.handBody}`);
  root.set("pos", vectorText(base.map((value, i) => value - lowest[i]!)));
  return arm;
}

function loadModel(path: string, kind: keyof typeof colors): ScenePart {
  const part = loadPart(path);
  const next = { col: 0, vis: 0 };
  for (const geom of part.root.walk()) {
    if (geom.tag !== "geom" || geom.get("name") !== undefined) continue;
    const group = collides(geom) ? "col" : "vis";
    geom.set("name", `g${next[group]++}_${group}`);
  }
  addPrefix(part.root, `${kind}0_`);
  colorCollisionGeoms(part.worldbody, colors[kind]);
  return part;
}

function rootBody(part: ScenePart): XmlElement {
  const roots = part.worldbody.children.filter((child) => child.tag === "body");
  if (roots.length !== 1) throw new UserError(`${part.path}: expected one root body, found ${roots.length}`);
  return roots[0]!;
}

function setJoints(arm: ScenePart, robot: ArmRobot): void {
  const joints = jointsOf(arm.root);
  if (joints.length !== robot.jointDamping.length)
    throw new UserError(`${arm.path}: expected ${robot.jointDamping.length} joints, found ${joints.length}`);
  for (const [i, joint] of joints.entries()) {
    joint.set("damping", String(robot.jointDamping[i]));
    if (joint.get("frictionloss") === undefined)
      joint.set("frictionloss", String(robot.jointFrictionLoss[i]));
    if (joint.get("armature") === undefined) joint.set("armature", String(robot.jointArmature[i]));
  }
}
