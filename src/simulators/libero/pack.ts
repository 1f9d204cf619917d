/**
 * LIBERO (Liu et al. 2023, https://arxiv.org/abs/2306.03310) as an asset pack: 130 language-conditioned manipulation
 * tasks of a Panda arm, from files that `reverie fetch libero` prepares once.
 */
import type { AssetPack, InitStates } from "#engine";
import { liberoFolder, resolveIn } from "./folder.ts";
import { readPrunedInit } from "./init-states.ts";
import { fileChecker } from "./manifest.ts";
import { liberoObjects } from "./objects.ts";
import { liberoProblems, liberoRobots } from "./problems.ts";
import { liberoSuites } from "./suites.ts";

export function liberoPack(folder = liberoFolder()): AssetPack {
  const states = new Map<string, InitStates>();
  const verify = fileChecker(folder);
  const resolve = (file: string) => {
    const path = resolveIn(folder, file);
    verify(path);
    return path;
  };
  return {
    name: "libero",
    baseXml: "robosuite/base.xml",
    objects: liberoObjects,
    problems: liberoProblems,
    robots: liberoRobots,
    suites: liberoSuites,
    control: {
      period: 0.05,
      substeps: 25,
      staleFirstStep: true,
      settleSteps: 15,
      observation: "drifting",
      holdSteps: 1,
    },
    sights: {
      main: "agentview",
      wrists: ["robot0_eye_in_hand"],
      turn: "half",
      geomGroups: [false, true],
      shadows: true,
    },
    film: { overview: "frontview", geomGroups: [false, true] },
    placementQuaternion: "xyzw",
    resolve,
    verify,
    readInitStates({ initStates: file }) {
      const found = states.get(file) ?? readPrunedInit(resolve(file));
      states.set(file, found);
      return found;
    },
  };
}
