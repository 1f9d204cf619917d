/**
 * `demo`: a network learns to move an arm, then moves it, and a camera takes a picture.
 *
 * Everything is the real thing at a small size: examples from MuJoCo, training on libtorch, physics, and a picture
 * drawn off screen. It ends by measuring how far the arm's tip stopped from the ball that it was told to reach.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { encodePng } from "#formats";
import { flipRows, Model, Renderer, Simulation } from "#mujoco";
import { UserError } from "#registry";
import { Generator, liveTensors, noGrad, scope, tensor, threadCount } from "#tensor";
import type { Command } from "../command.ts";
import { learnToReach, type ReachNetwork } from "./learn-reach.ts";
import { makeReachExamples } from "./reach-examples.ts";
import { demoScene } from "./scene.ts";

const examplesToTry = 20_000;
const trainingSteps = 2000;
const picture = { width: 1280, height: 960 };
const ball = [0.3, -0.12, 0.36] as const; // meters
const secondsToReach = 2.5;
const folder = fileURLToPath(new URL("../../../logs/demo/", import.meta.url));

const options = { seed: { type: "string", default: "0" } } as const;

export const demoCommand: Command = {
  options,
  usage: "demo [--seed 0]",

  async run(argv) {
    const { values } = parseArgs({ args: argv, options });
    const seed = Number(values.seed);
    if (!Number.isSafeInteger(seed) || seed < 0)
      throw new UserError(`--seed is "${values.seed}"; expected 0, 1, 2, …`);
    threadCount(1); // so small a network gains nothing from a second thread, and loses much on a busy machine
    using model = Model.fromXml(demoScene());
    const network = learn(model, seed);
    using simulation = new Simulation(model);
    const distance = reach(simulation, network);
    console.log(`the arm's tip stopped ${(distance * 1000).toFixed(1)} mm from the ball`);
    takePicture(model, simulation);
  },
};

function learn(model: Model, seed: number): ReachNetwork {
  using simulation = new Simulation(model);
  const start = performance.now();
  const examples = makeReachExamples(simulation, examplesToTry, new Generator(seed));
  console.log(
    `${examples.points.shape[0]} examples of joint angles and where they put the arm's tip, from MuJoCo`,
  );
  const network = learnToReach(examples, {
    steps: trainingSteps,
    seed: seed + 1,
    onProgress: (step, loss) =>
      console.log(`  step ${String(step).padStart(4)}  loss ${loss.toFixed(6)} rad²`),
  });
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`learned in ${seconds} s on libtorch; ${liveTensors()} tensors alive`);
  return network;
}

/** Sends the arm where the network says, lets physics run, and returns the meters left to the ball. */
function reach(simulation: Simulation, network: ReachNetwork): number {
  const angles = scope(() => noGrad(() => network.forward(tensor([[...ball]])).toArray()));
  simulation.array("mocap_pos").set(ball);
  simulation.ctrl.set(angles);
  while (simulation.time < secondsToReach) simulation.step();
  const tip = simulation.array("site_xpos");
  return Math.hypot(...ball.map((value, axis) => value - (tip[axis] ?? 0)));
}

function takePicture(model: Model, simulation: Simulation): void {
  const path = `${folder}demo.png`;
  try {
    using renderer = new Renderer(model, picture);
    const data = flipRows(renderer.render(simulation, "front"), picture.width, picture.height);
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, encodePng({ ...picture, channels: 3, data }));
    console.log(
      `the picture is ${relative(process.cwd(), path)}, drawn by ${renderer.describe().description}`,
    );
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    console.log(`no picture: ${error.message}`); // the rest of the demonstration stands without a camera
  }
}
