/** `node --import tsx scripts/make-stored-starts.ts tabletop|home [words]`: writes the stored starts of a pack's tasks anew. */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { readBddl } from "../src/engine/bddl.ts";
import { drawScene } from "../src/engine/draw-scene.ts";
import { assembleScene } from "../src/engine/scene.ts";
import { SceneSimulation } from "../src/engine/scene-simulation.ts";
import { writeNpy } from "../src/formats/index.ts";
import { Mt19937 } from "../src/random/index.ts";
import { homePack } from "../src/simulators/home/pack.ts";
import { firstStoredTask, storedStartSeed } from "../src/simulators/starts/start-seeds.ts";
import { tabletopPack } from "../src/simulators/tabletop/pack.ts";

const count = 50;
const [name = "", ...words] = process.argv.slice(2);
const pack = name === "home" ? homePack() : tabletopPack();
if (pack.name !== name) throw new Error(`which pack, tabletop or home? not "${name}"`);
for (const [index, task] of Object.values(pack.suites).flat().entries()) {
  if (words.length > 0 && !words.some((word) => task.bddl.includes(word))) continue;
  const scene = assembleScene(pack, readBddl(pack.resolve(task.bddl)));
  using world = new SceneSimulation(scene, SceneSimulation.compile(scene));
  const width = world.simulation.qpos.length;
  const data = new Float32Array(count * width);
  for (let trial = 0; trial < count; trial++) {
    const random = new Mt19937(storedStartSeed(firstStoredTask[name]! + index, trial));
    const start = pack.drawStart?.(world, random, { taskName: task.name, trial, draw: drawScene });
    data.set(start ?? world.simulation.qpos, trial * width);
  }
  const path = fileURLToPath(new URL(`../src/simulators/${name}/assets/${task.initStates}`, import.meta.url));
  mkdirSync(dirname(path), { recursive: true });
  writeNpy(path, { dtype: "float32", shape: [count, width], data });
  console.log(`${task.initStates}: ${count} starts of ${width} joint positions`);
}
