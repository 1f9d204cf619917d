/** `node --import tsx scripts/make-home-pictures.ts FOLDER`: draws each suite of the home in the middle of an episode, as films and policies see it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readBddl } from "../src/engine/bddl.ts";
import { drawScene } from "../src/engine/draw-scene.ts";
import { assembleScene } from "../src/engine/scene.ts";
import { SceneSimulation } from "../src/engine/scene-simulation.ts";
import { encodePng } from "../src/formats/index.ts";
import { flipRows, Renderer } from "../src/mujoco/index.ts";
import { beside } from "../src/pictures/index.ts";
import { Mt19937 } from "../src/random/index.ts";
import { beginEpisode } from "../src/simulators/experts/episode.ts";
import { makeExpert } from "../src/simulators/make-expert.ts";
import { findSuite } from "../src/simulators/suites.ts";

/** Suite, task and the step that shows what it is about. */
const shots = [
  ["behavior_spatial", 1, 24],
  ["behavior_object", 2, 22],
  ["behavior_goal", 6, 40],
  ["behavior_long", 7, 20],
] as const;
const size = 224;

const [folder = "."] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
for (const [suite, task, steps] of shots) {
  using world = playedWorld(suite, task, steps);
  const { film, sights } = world.scene.pack;
  const { model } = world.simulation;
  using people = new Renderer(model, { width: size, height: size, geomGroups: film.geomGroups });
  const flags = { shadows: false, reflections: false };
  using policy = new Renderer(model, { width: size, height: size, geomGroups: sights.geomGroups, flags });
  const draw = (renderer: Renderer, camera: string) => ({
    width: size,
    height: size,
    data: flipRows(renderer.render(world.simulation, camera), size, size),
  });
  const { width, height, data } = beside([
    draw(people, film.overview),
    draw(people, sights.main),
    draw(policy, sights.main),
    ...sights.wrists.map((camera) => draw(policy, camera)),
  ]);
  const name = `${suite.replace("_", "-")}.png`;
  writeFileSync(join(folder, name), encodePng({ width, height, channels: 3, data }));
}

function playedWorld(suite: string, index: number, steps: number): SceneSimulation {
  const { pack, tasks } = findSuite(suite);
  const scene = assembleScene(pack, readBddl(pack.resolve(tasks[index]!.bddl)));
  const world = new SceneSimulation(scene, SceneSimulation.compile(scene));
  const { data, width } = pack.readInitStates(tasks[index]!);
  drawScene(world, new Mt19937(0));
  beginEpisode(world, data.subarray(0, width));
  const expert = makeExpert(world);
  for (let step = 0; step < steps; step++) world.step(expert.act());
  return world;
}
