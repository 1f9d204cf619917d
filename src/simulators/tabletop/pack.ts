/**
 * Our own tabletop as an asset pack: an arm, a dozen things made of primitive shapes, 26 tasks in four suites.
 *
 * It is what a fresh clone trains on, on two CPU cores, so it departs from LIBERO where that buys speed or clarity and
 * nowhere else: physics steps of 5 ms instead of 2, a stiffer controller that covers 3.5 cm per control step instead of
 * 1.3 (a pick-and-place takes 3 chunks of 8 actions), a close camera that shows each object with at least 9 pixels at 64 px,
 * and stored starts that are at rest. Actions, observations, predicates and files mean the same as in LIBERO.
 */
import { type AssetPack, type Problem, shippedAssets } from "#engine";
import { drawTabletopStart } from "./make-starts.ts";
import { tabletopObjects } from "./objects.ts";
import { tabletopArm } from "./robot.ts";
import { tabletopSuites } from "./suites.ts";

const tableTop = [0, 0, 0.9] as const;

const stage: Problem = {
  sceneXml: "arena.xml",
  robot: "arm",
  robotBase: [-0.38, 0, 0.9],
  workspaceCategory: "table",
  workspaceName: "main_table",
  workspaceOffset: tableTop,
  fixtureZOffset: 0,
  zoneBody: "main_table",
  zoneOffset: [0, 0, 0],
  shrinkRegions: false,
  cameras: {}, // they stand in arena.xml
  textures: {},
};

export function tabletopPack(): AssetPack {
  return {
    name: "tabletop",
    baseXml: "base.xml",
    objects: tabletopObjects,
    problems: { tabletop_manipulation: stage },
    robots: { arm: tabletopArm },
    suites: tabletopSuites,
    control: {
      period: 0.05,
      substeps: 10,
      staleFirstStep: false,
      settleSteps: 2,
      observation: "last",
      holdSteps: 1,
    },
    sights: {
      main: "agentview",
      wrists: ["robot0_eye_in_hand"],
      turn: "half",
      geomGroups: [false, true],
      shadows: true,
    },
    // Group 2 is the pointer beam, which shows policies what is below the hand.
    film: { overview: "overview", geomGroups: [false, true, false] },
    placementQuaternion: "wxyz",
    ...shippedAssets("tabletop", new URL("./assets/", import.meta.url)),
    drawStart: drawTabletopStart,
  };
}
