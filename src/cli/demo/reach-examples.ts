/**
 * Examples for the demonstration: where the arm's tip is for random joint angles, as MuJoCo computes it.
 *
 * The angles stay on one side of the straight arm, so that every point has one answer and can be learned.
 */
import type { Simulation } from "#mujoco";
import { type Generator, rand, type Tensor, tensor } from "#tensor";

/** Radians: turn, shoulder, elbow. */
const lowest = [-1.2, -0.2, -0.6];
const highest = [1.2, 1.2, 1.2];
const leastHeight = 0.05; // meters above the floor
const leastReach = 0.12; // meters from the arm's own axis, where the turn is undefined

export interface ReachExamples {
  readonly points: Tensor; // [N, 3], meters
  readonly angles: Tensor; // [N, 3], radians
}

export function makeReachExamples(
  simulation: Simulation,
  tries: number,
  generator: Generator,
): ReachExamples {
  const span = tensor(highest).sub(tensor(lowest));
  const drawn = rand([tries, 3], { generator }).mul(span).add(tensor(lowest)).data() as Float32Array;
  const points: number[] = [];
  const angles: number[] = [];
  for (let i = 0; i < drawn.length; i += 3) {
    const joints = drawn.subarray(i, i + 3);
    const [x, y, z] = tipAt(simulation, joints);
    if (z < leastHeight || Math.hypot(x, y) < leastReach) continue;
    points.push(x, y, z);
    angles.push(...joints);
  }
  return { points: rows(points), angles: rows(angles) };
}

const rows = (values: number[]): Tensor =>
  tensor(Float32Array.from(values), { shape: [values.length / 3, 3] });

function tipAt(simulation: Simulation, joints: ArrayLike<number>): [x: number, y: number, z: number] {
  simulation.qpos.set(Array.from(joints)); // the arm's three joints come first
  simulation.forward();
  const [x = 0, y = 0, z = 0] = simulation.array("site_xpos");
  return [x, y, z];
}
