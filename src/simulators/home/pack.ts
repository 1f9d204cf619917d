/**
 * Our own home as an asset pack: a kitchen counter, a dual-arm robot and 19 kinds of things, all of primitive shapes; 40 tasks in
 * four suites.
 *
 * It stands in for BEHAVIOR-1K (Li et al. 2024, https://arxiv.org/abs/2403.09227) where its simulator is absent: actions of 14
 * numbers at 30 Hz, a head camera and two wrist cameras. Its tasks and its robot are ours, and so are its numbers: they say
 * nothing about the benchmark.
 */
import { type AssetPack, type Problem, shippedAssets } from "#engine";
import { homeObjects } from "./objects.ts";
import { homePredicates } from "./predicates.ts";
import { counterHeight, homeRobot } from "./robot.ts";
import { drawHomeStart } from "./starts.ts";
import { homeSuites } from "./suites.ts";

const kitchen: Problem = {
  sceneXml: "arena.xml",
  robot: "homebot",
  robotBase: [0, 0, 0],
  workspaceCategory: "counter",
  workspaceName: "main_counter",
  workspaceOffset: [0, 0, counterHeight],
  fixtureZOffset: 0,
  zoneBody: "main_counter",
  zoneOffset: [0, 0, 0],
  shrinkRegions: false,
  cameras: {}, // they stand in arena.xml and on the robot
  textures: {},
};

const actionsPerSecond = 30;

export interface HomeOptions {
  /** Physics steps per second. At 120 the hand-over loses its can in a third of the episodes. */
  readonly physicsRate?: 120 | 240;
  /** Of the head camera, in degrees: the R1's 99 shows more and everything smaller. */
  readonly headView?: 66 | 99;
}

export function homePack({ physicsRate = 240, headView = 66 }: HomeOptions = {}): AssetPack {
  return {
    name: "home",
    baseXml: "base.xml",
    objects: homeObjects,
    problems: { home_manipulation: kitchen },
    robots: { homebot: { ...homeRobot, views: { head: headView } } },
    suites: homeSuites,
    control: {
      period: 1 / actionsPerSecond,
      substeps: physicsRate / actionsPerSecond,
      staleFirstStep: false,
      settleSteps: 2,
      observation: "last",
      holdSteps: 5,
    },
    sights: {
      main: "robot0_head",
      wrists: ["robot0_left_wrist", "robot0_right_wrist"],
      turn: "upright",
      geomGroups: [false, true, false],
      shadows: false,
    },
    // Group 2 is decoration, and the parts of the robot that it does not see itself.
    film: { overview: "front", geomGroups: [false, true, true] },
    placementQuaternion: "wxyz",
    ...shippedAssets("home", new URL("./assets/", import.meta.url)),
    drawStart: drawHomeStart,
    predicates: homePredicates,
  };
}
