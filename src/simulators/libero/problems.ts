/** LIBERO's stages and the robot on them. Source: LIBERO's `envs/problems`, `envs/arenas` and `envs/robots`. */

import type { ArmRobot, CameraPose, Problem, Quaternion, Vector3 } from "#engine";

const lookDown: Quaternion = [
  0.6380177736282349, 0.3048497438430786, 0.30484986305236816, 0.6380177736282349,
];
const lookAcross: Quaternion = [
  0.6182166934013367, 0.3432307541370392, 0.3432314395904541, 0.6182177066802979,
];
const lookBack: Quaternion = [0.56, 0.43, 0.43, 0.56];
const at = (position: Vector3, orientation: Quaternion): CameraPose => ({ position, orientation });

const gallery = at(
  [2.844547668904445, 2.1279684793440667, 3.128616846013882],
  [0.42261379957199097, 0.23374411463737488, 0.41646939516067505, 0.7702690958976746],
);
const paper = (position: Vector3): CameraPose => at(position, [0.513, 0.353, 0.443, 0.645]);

const grayRoom = { texplane: "light-gray-floor-tile.png", "tex-wall": "light-gray-plaster.png" };
const woodRoom = { texplane: "seamless_wood_planks_floor.png", "tex-wall": "light-gray-plaster.png" };
const kitchen = { texplane: "gray_ceramic_tile.png", "tex-wall": "yellow_linen_wall_texture.png" };

const tableSize: Vector3 = [1, 1.2, 0.05];
const lowTableSize: Vector3 = [0.7, 1.6, 0.024];

/** Regions on the plain table, the floor and the coffee table are shrunk by the object; the others are not. */
export const liberoProblems: Readonly<Record<string, Problem>> = {
  libero_tabletop_manipulation: {
    sceneXml: "libero/scenes/libero_tabletop_base_style.xml",
    robot: "mounted_panda",
    robotBase: [-0.16 - tableSize[0] / 2, 0, 0],
    workspaceCategory: "table",
    workspaceName: "main_table",
    workspaceOffset: [0, 0, 0.9],
    fixtureZOffset: 0.01 - tableSize[2],
    zoneBody: "table",
    zoneOffset: [0, 0, 0.02],
    shrinkRegions: true,
    table: { fullSize: tableSize, friction: [0.6, 0.005, 0.0001], offset: [0, 0, 0.9] },
    cameras: {
      agentview: at([0.6586131746834771, 0, 1.6103500240372424], lookDown),
      frontview: at([1, 0, 1.48], lookBack),
      galleryview: gallery,
    },
    textures: grayRoom,
  },
  libero_kitchen_tabletop_manipulation: {
    sceneXml: "libero/scenes/libero_kitchen_tabletop_base_style.xml",
    robot: "mounted_panda",
    robotBase: [-0.16 - tableSize[0] / 2, 0, 0],
    workspaceCategory: "kitchen_table",
    workspaceName: "kitchen_table",
    workspaceOffset: [0, 0, 0.9],
    fixtureZOffset: 0.01 - tableSize[2],
    zoneBody: "table",
    zoneOffset: [0, 0, 0],
    shrinkRegions: false,
    table: { fullSize: tableSize, friction: [1, 0.005, 0.0001], offset: [0, 0, 0.9] },
    cameras: {
      agentview: at([0.6586131746834771, 0, 1.6103500240372424], lookDown),
      frontview: at([1, 0, 1.48], lookBack),
      galleryview: gallery,
      paperview: paper([2.1, 0.535, 2.075]),
    },
    textures: kitchen,
  },
  libero_study_tabletop_manipulation: {
    sceneXml: "libero/scenes/libero_study_base_style.xml",
    robot: "mounted_panda",
    robotBase: [-0.25 - tableSize[0] / 2, 0, 0],
    workspaceCategory: "study_table",
    workspaceName: "study_table",
    workspaceOffset: [-0.2, 0, 0.867],
    fixtureZOffset: 0.01 - tableSize[2],
    zoneBody: "study_table",
    zoneOffset: [-0.2, 0, 0.867],
    shrinkRegions: false,
    cameras: {
      agentview: at([0.4586131746834771, 0, 1.6103500240372424], lookDown),
      frontview: at([1, 0, 1.48], lookBack),
      galleryview: gallery,
      paperview: paper([2.1, 0.535, 2.075]),
    },
    textures: grayRoom,
  },
  libero_living_room_tabletop_manipulation: {
    sceneXml: "libero/scenes/libero_living_room_tabletop_base_style.xml",
    robot: "panda_on_ground",
    robotBase: [-0.16 - lowTableSize[0] / 2, 0, 0.42],
    workspaceCategory: "living_room_table",
    workspaceName: "living_room_table",
    workspaceOffset: [0, 0, 0.41],
    fixtureZOffset: 0.01 - lowTableSize[2],
    zoneBody: "living_room_table",
    zoneOffset: [0, 0, 0.41],
    shrinkRegions: false,
    cameras: {
      agentview: at([0.6065773716836134, 0, 0.96], lookAcross),
      frontview: at([1.5, 0, 0.9], lookBack),
      galleryview: gallery,
      paperview: paper([2.1, 0.735, 1.875]),
    },
    textures: woodRoom,
  },
  libero_coffee_table_manipulation: {
    sceneXml: "libero/scenes/libero_coffee_table_base_style.xml",
    robot: "panda_on_ground",
    robotBase: [-0.16 - lowTableSize[0] / 2, 0, 0.41],
    workspaceCategory: "coffee_table",
    workspaceName: "coffee_table",
    workspaceOffset: [0, 0, 0.41],
    fixtureZOffset: 0.01 - lowTableSize[2],
    zoneBody: "coffee_table",
    zoneOffset: [0, 0, 0.02],
    shrinkRegions: true,
    cameras: {
      agentview: at([1.5, 0, 0.9], lookBack),
      galleryview: gallery,
      canonical_agentview: at([0.5386131746834771, 0, 0.7903500240372423], lookDown),
    },
    textures: woodRoom,
  },
  libero_floor_manipulation: {
    sceneXml: "libero/scenes/libero_floor_base_style.xml",
    robot: "panda_on_ground",
    robotBase: [-0.6, 0, 0],
    workspaceCategory: "floor",
    workspaceName: "floor",
    workspaceOffset: [0, 0, -0.035],
    fixtureZOffset: -0.025,
    zoneBody: "floor",
    zoneOffset: [0, 0, 0.02],
    shrinkRegions: true,
    cameras: {
      agentview: at([0.8965773716836134, 5.216182733499864e-7, 0.65], lookAcross),
      frontview: at([1, 0, 0.65], lookBack),
      galleryview: gallery,
    },
    textures: grayRoom,
  },
};

const panda = {
  kind: "arm",
  xml: "robosuite/robots/panda/robot.xml",
  gripper: {
    xml: "robosuite/grippers/panda_gripper.xml",
    initialJointPositions: [0.020833, -0.020833],
    closingSigns: [-1, 1],
    speed: 0.01,
  },
  handBody: "right_hand",
  gripSite: "grip_site",
  initialJointPositions: [0, -0.161037389, 0, -2.44459747, 0, 2.2267522, Math.PI / 4],
  jointDamping: [0.1, 0.1, 0.1, 0.1, 0.1, 0.01, 0.01],
  jointFrictionLoss: Array<number>(7).fill(0.1),
  jointArmature: Array.from({ length: 7 }, (_, i) => 5 / (i + 1)),
  stiffness: 150,
} satisfies ArmRobot;

export const liberoRobots: Readonly<Record<string, ArmRobot>> = {
  mounted_panda: { ...panda, mount: { xml: "robosuite/mounts/rethink_mount.xml", topOffset: [0, 0, -0.01] } },
  /** The empty mount still adds a body, which stored indices count. */
  panda_on_ground: { ...panda, mount: { xml: "robosuite/mounts/null_mount.xml", topOffset: [0, 0, 0] } },
};
