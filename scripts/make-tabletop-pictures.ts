/** `node --import tsx scripts/make-tabletop-pictures.ts`: draws the pictures of docs/tabletop.md as a policy sees them. */
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readBddl } from "../src/engine/bddl.ts";
import { assembleScene } from "../src/engine/scene.ts";
import { SceneSimulation } from "../src/engine/scene-simulation.ts";
import { encodePng } from "../src/formats/index.ts";
import { Renderer } from "../src/mujoco/index.ts";
import { beginEpisode } from "../src/simulators/experts/episode.ts";
import { tabletopKit } from "../src/simulators/experts/tabletop-kit.ts";
import { TaskExpert } from "../src/simulators/experts/task-expert.ts";
import { tabletopPack } from "../src/simulators/tabletop/pack.ts";

interface Shot {
  readonly task: string;
  readonly start: number;
  /** How far the expert has come. */
  readonly steps: number;
}

const folder = fileURLToPath(new URL("../docs/pictures/", import.meta.url));
const pack = tabletopPack();
mkdirSync(folder, { recursive: true });

/** Three moments of one task and the starts of others: what a suite looks like. */
const suiteShots = (
  suite: string,
  acted: number,
  steps: readonly number[],
  others: readonly number[],
): Shot[] => {
  const tasks = pack.suites[suite] ?? [];
  const name = (index: number) => tasks[index]?.name ?? "";
  return [
    ...steps.map((count) => ({ task: name(acted), start: 1, steps: count })),
    ...others.map((index) => ({ task: name(index), start: 3, steps: 0 })),
  ];
};

writeRow("tabletop-spatial", suiteShots("tabletop_spatial", 2, [0, 8, 17], [3, 5]), "agentview", 160);
writeRow("tabletop-object", suiteShots("tabletop_object", 2, [0, 8, 17], [1, 5]), "agentview", 160);
writeRow("tabletop-goal", suiteShots("tabletop_goal", 3, [0, 10, 19], [0, 6]), "agentview", 160);
writeRow("tabletop-long", suiteShots("tabletop_long", 3, [0, 18, 28, 41], [1]), "agentview", 160);
writeRow("tabletop-wrist", suiteShots("tabletop_goal", 3, [0, 5, 8, 12, 17], []), "robot0_eye_in_hand", 160);
writeRow(
  "tabletop-64px",
  suiteShots("tabletop_object", 4, [0, 4, 8, 12, 17], [0, 1, 2, 3, 5]),
  "agentview",
  64,
);
writeRow(
  "tabletop-overview",
  [{ task: pack.suites.tabletop_goal?.[3]?.name ?? "", start: 1, steps: 12 }],
  "overview",
  480,
);

function writeRow(name: string, shots: readonly Shot[], camera: string, size: number): void {
  const gap = shots.length > 1 ? 4 : 0;
  const width = shots.length * (size + gap) - gap;
  const pixels = new Uint8Array(width * size * 3).fill(255);
  for (const [column, shot] of shots.entries()) {
    const picture = draw(shot, camera, size);
    for (let row = 0; row < size; row++) {
      const line = picture.subarray(3 * row * size, 3 * (row + 1) * size);
      pixels.set(line, 3 * (row * width + column * (size + gap)));
    }
  }
  writeFileSync(`${folder}${name}.png`, encodePng({ width, height: size, channels: 3, data: pixels }));
  console.log(`docs/pictures/${name}.png`);
}

/** A picture rotated 180°, as LIBERO's policies expect it: upright, and its left is the robot's left. */
function draw({ task, start, steps }: Shot, camera: string, size: number): Uint8Array {
  const entry = Object.values(pack.suites)
    .flat()
    .find(({ name }) => name === task);
  if (!entry) throw new Error(`internal: no task ${task}`);
  const scene = assembleScene(pack, readBddl(pack.resolve(entry.bddl)));
  using world = new SceneSimulation(scene, SceneSimulation.compile(scene));
  const { data, width } = pack.readInitStates(entry);
  world.resetWithPoses(fixturePoses(scene.objects.map(({ name }) => name)));
  beginEpisode(world, data.subarray(start * width, (start + 1) * width));
  const expert = new TaskExpert(world, tabletopKit);
  for (let step = 0; step < steps; step++) world.step(expert.act());
  using renderer = new Renderer(world.simulation.model, {
    width: size,
    height: size,
    geomGroups: [false, true],
  });
  const pixels = renderer.render(world.simulation, camera);
  const turned = new Uint8Array(pixels.length);
  const count = size * size;
  const mirror = camera !== "overview";
  for (let pixel = 0; pixel < count; pixel++) {
    const column = pixel % size;
    const from = mirror ? count - 1 - pixel : count - size - (pixel - column) + column;
    for (let channel = 0; channel < 3; channel++) turned[3 * pixel + channel] = pixels[3 * from + channel]!;
  }
  return turned;
}

function fixturePoses(names: readonly string[]) {
  const all = {
    cabinet_1: { position: [-0.18, 0.095, 0.9], orientation: [1, 0, 0, 0] },
    stove_1: { position: [-0.16, -0.095, 0.9], orientation: [1, 0, 0, 0] },
  } as const;
  return Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)));
}
