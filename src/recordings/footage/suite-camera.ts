/** The camera through which a suite's main pictures are seen: worlds that draw into pictures must know it. */

import { assembleScene, readBddl, SceneSimulation } from "#engine";
import { findSuite } from "#simulators";
import type { DatasetInfo } from "../demonstrations/layout.ts";

/** It stands in the scene and is the same for every task of a suite. */
export function suiteCamera(suite: string): NonNullable<DatasetInfo["camera"]> {
  const { pack, tasks } = findSuite(suite);
  const model = SceneSimulation.compile(assembleScene(pack, readBddl(pack.resolve(tasks[0]!.bddl))));
  try {
    const id = model.id("camera", pack.sights.main);
    const at = (name: "cam_pos" | "cam_quat" | "cam_fovy", size: number): number[] =>
      Array.from(model.array(name).slice(id * size, (id + 1) * size), Number);
    return {
      position: at("cam_pos", 3) as [number, number, number],
      orientation: at("cam_quat", 4) as [number, number, number, number],
      fovy: at("cam_fovy", 1)[0]!,
    };
  } finally {
    model.dispose();
  }
}
