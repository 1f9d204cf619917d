/** `node --import tsx scripts/make-tabletop-starts.ts [words]`: writes the stored starts of the tabletop tasks anew. */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { writeNpy } from "../src/formats/index.ts";
import { readBddl } from "../src/simulators/engine/bddl.ts";
import { assembleScene } from "../src/simulators/engine/scene.ts";
import { SceneSimulation } from "../src/simulators/engine/scene-simulation.ts";
import { storedStartSeed } from "../src/simulators/starts/start-seeds.ts";
import { makeStarts } from "../src/simulators/tabletop/make-starts.ts";
import { tabletopPack } from "../src/simulators/tabletop/pack.ts";
import { isMirrored } from "../src/simulators/tabletop/suites.ts";

const count = 50;
const words = process.argv.slice(2);
const pack = tabletopPack();
for (const [index, task] of Object.values(pack.suites).flat().entries()) {
  if (words.length > 0 && !words.some((word) => task.bddl.includes(word))) continue;
  const scene = assembleScene(pack, readBddl(pack.resolve(task.bddl)));
  using world = new SceneSimulation(scene, SceneSimulation.compile(scene));
  const mirrorOdd = isMirrored(task.name);
  const data = makeStarts(world, { count, seed: storedStartSeed(index, 0), mirrorOdd });
  const path = fileURLToPath(
    new URL(`../src/simulators/tabletop/assets/${task.initStates}`, import.meta.url),
  );
  mkdirSync(dirname(path), { recursive: true });
  writeNpy(path, { dtype: "float32", shape: [count, data.length / count], data });
  console.log(`${task.initStates}: ${count} starts of ${data.length / count} joint positions`);
}
