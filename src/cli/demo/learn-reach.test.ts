import assert from "node:assert/strict";
import { test } from "node:test";
import { Model, Simulation } from "#mujoco";
import { Generator, liveTensors, noGrad, scope } from "#tensor";
import { learnToReach } from "./learn-reach.ts";
import { makeReachExamples } from "./reach-examples.ts";
import { demoScene } from "./scene.ts";

const model = Model.fromXml(demoScene(0));
const simulation = new Simulation(model);
const examples = makeReachExamples(simulation, 2000, new Generator(0));
const quiet = { steps: 200, seed: 1, onProgress: () => {} };

test("an example's angles put the arm's tip on its point", () => {
  simulation.qpos.set(examples.angles.select(0, 5).toArray());
  simulation.forward();
  const tip = simulation.array("site_xpos");
  for (const [axis, want] of examples.points.select(0, 5).toArray().entries()) {
    assert.ok(Math.abs((tip[axis] ?? Number.NaN) - want) < 1e-6);
  }
});

test("200 steps bring the loss below a hundredth of where it began", () => {
  const losses: number[] = [];
  learnToReach(examples, { ...quiet, onProgress: (_, loss) => losses.push(loss) }).dispose();
  assert.equal(losses.length, 6);
  assert.ok((losses.at(-1) ?? 1) < (losses[0] ?? 0) / 100, String(losses));
});

test("the same seed learns the same network, another seed another", () => {
  const answer = (seed: number) => {
    const network = learnToReach(examples, { ...quiet, steps: 10, seed });
    const angles = scope(() => noGrad(() => network.forward(examples.points.narrow(0, 0, 4)).toArray()));
    network.dispose();
    return angles;
  };
  assert.deepEqual(answer(3), answer(3));
  assert.notDeepEqual(answer(3), answer(4));
});

test("training leaves no tensor behind but the network's own", () => {
  const before = liveTensors();
  const network = learnToReach(examples, quiet);
  assert.equal(liveTensors() - before, network.parameters().length);
  network.dispose();
  assert.equal(liveTensors(), before);
});
