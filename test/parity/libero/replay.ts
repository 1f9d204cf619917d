/** Runs a recorded episode again in closed loop and compares what happens, step by step. */
import { Mt19937 } from "#random";
import { UserError } from "#registry";
import type { SceneSimulation } from "../../../src/engine/scene-simulation.ts";
import type { ParityCase } from "../main.ts";
import type { Built, Recording } from "./recording.ts";

const freeTolerance = 1e-9; // until the robot touches something
const contactTolerance = 1e-4; // after: contact doubles last-bit differences every few steps
/** Python LIBERO draws joints once when it is constructed and once more in `reset()`. */
const jointDraws = 2;

interface Worst {
  free: number;
  contact: number;
  controls: number;
  readings: number;
  rewards: number;
}

export function* replayEpisode(recording: Recording, { world }: Built): Generator<ParityCase> {
  const { meta, steps } = recording;
  world.reset(new Mt19937(meta.seed), jointDraws);
  yield within("reset: drawn state", largest(stateOf(world), recording.numbers("post_reset_state")), 0);
  yield within("reset: fixtures' poses", fixtureDifference(recording, world), 0);
  world.setState(recording.numbers("init_state"));
  const worst: Worst = { free: 0, contact: 0, controls: 0, readings: 0, rewards: 0 };
  let touched = false;
  let firstSuccess = -1;
  for (let step = 0; step < steps; step++) {
    const success = world.step(recording.row("actions", step));
    touched ||= step >= meta.settle_steps && robotTouches(world);
    compareStep(recording, world, step, touched, worst);
    if (Number(success) !== recording.numbers("reward")[step]) worst.rewards++;
    if (success && firstSuccess < 0) firstSuccess = step;
    if (step + 1 === 10)
      yield within("predicates after 10 steps: wrong answers", wrong(world, meta.predicates_step10), 0);
  }
  yield within("predicates at the end: wrong answers", wrong(world, meta.predicates_final), 0);
  yield within("controls of the first two steps", worst.controls, 1e-11);
  yield within("qpos through settle and free motion", worst.free, freeTolerance);
  yield within("qpos in contact", worst.contact, contactTolerance);
  yield within("readings of the robot", worst.readings, contactTolerance);
  yield within("rewards: steps that differ", worst.rewards, 0);
  yield within("first success: steps apart", Math.abs(firstSuccess - meta.success_step), 0);
}

const within = (name: string, worst: number, tolerance: number): ParityCase => ({
  name,
  ok: worst <= tolerance,
  worst,
  tolerance,
});

function compareStep(
  recording: Recording,
  world: SceneSimulation,
  step: number,
  touched: boolean,
  worst: Worst,
): void {
  const difference = largest(world.simulation.qpos, recording.row("qpos", step));
  if (touched) worst.contact = Math.max(worst.contact, difference);
  else worst.free = Math.max(worst.free, difference);
  if (step < 2)
    worst.controls = Math.max(worst.controls, largest(world.simulation.ctrl, recording.row("ctrl", step)));
  const { handPosition, handQuaternion, fingers, joints } = world.reading;
  for (const [array, ours] of Object.entries({
    eef_pos: handPosition,
    eef_quat: handQuaternion,
    gripper_qpos: fingers,
    joint_pos: joints,
  })) {
    worst.readings = Math.max(worst.readings, largest(ours, recording.row(array, step)));
  }
}

function largest(ours: ArrayLike<number>, theirs: ArrayLike<number>): number {
  if (ours.length !== theirs.length) return Number.POSITIVE_INFINITY;
  let out = 0;
  for (let i = 0; i < ours.length; i++) {
    const difference = Math.abs(ours[i]! - theirs[i]!);
    if (!(difference <= out)) out = Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference;
  }
  return out;
}

const stateOf = ({ simulation }: SceneSimulation): number[] => [
  simulation.time,
  ...simulation.qpos,
  ...simulation.qvel,
];

function fixtureDifference({ meta }: Recording, { simulation }: SceneSimulation): number {
  const differences = Object.values(meta.fixtures).map(({ body, pos, quat }) => {
    const id = simulation.model.id("body", body);
    const position = simulation.modelArray("body_pos").subarray(3 * id, 3 * id + 3);
    const rotation = simulation.modelArray("body_quat").subarray(4 * id, 4 * id + 4);
    return Math.max(largest(position, pos), largest(rotation, quat));
  });
  return Math.max(0, ...differences);
}

/** Whether any part of arm or gripper touches anything that is not the robot. */
function robotTouches({ simulation }: SceneSimulation): boolean {
  const bodies = simulation.model.names("body");
  const bodyOf = simulation.model.array("geom_bodyid");
  const isRobot = (geom: number) => /^(robot0|gripper0)_/.test(bodies[bodyOf[geom]!] ?? "");
  const pairs = simulation.contactPairs();
  for (let i = 0; i < pairs.length; i += 2) if (isRobot(pairs[i]!) !== isRobot(pairs[i + 1]!)) return true;
  return false;
}

/** How many of the recorded truths ours contradicts. Where Python raised an error there is no truth to compare. */
function wrong(world: SceneSimulation, table: Readonly<Record<string, boolean | string>>): number {
  return Object.entries(table).filter(
    ([text, truth]) => typeof truth === "boolean" && answer(world, text) !== truth,
  ).length;
}

/** Undefined where our engine refuses the question. */
function answer(world: SceneSimulation, text: string): boolean | undefined {
  const [, name = "", args = ""] = /^(\w+)\((.*)\)$/.exec(text) ?? [];
  try {
    return world.predicates.compile({ name, args: args.split(","), line: 0 }, "meta.json")();
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}
