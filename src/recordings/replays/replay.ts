/** Plays a recorded episode again and says whether every state is the same, bit for bit. */

import { actionSizeOf } from "#engine";
import { mujocoVersion } from "#mujoco";
import { UserError } from "#registry";
import { findSuite, SlotHost } from "#simulators";
import { decodeDoubles, decodeFloats, readReplay } from "./replay-file.ts";

export type ReplayVerdict =
  | { readonly identical: true; readonly steps: number; readonly success: boolean }
  /** `step` -1: the episode already begins differently. */
  | { readonly identical: false; readonly step: number; readonly steps: number; readonly reason: string };

/** Pictures are drawn small and dropped: the renderer plays no part in the proof. */
const thumbnail = { width: 16, height: 16, wrist: false };

export function replayEpisode(path: string): ReplayVerdict {
  const file = readReplay(path);
  const suite = findSuite(file.suite);
  const task = suite.tasks.findIndex(({ name }) => name === file.task);
  if (task < 0) throw new UserError(`${path}: ${file.suite} has no task named "${file.task}"`);
  const { settle_steps: settleSteps, gripper_open: gripperOpen, trial, seed } = file;
  const host = new SlotHost({ suite: file.suite, ...thumbnail, settleSteps, gripperOpen });
  try {
    const [begun] = host.begin([{ slot: 0, task, trial, seed, row: decodeDoubles(file.start) }]);
    const steps = file.hashes.length;
    const suspicion = physicsNote(file.mujoco);
    if (begun?.hash !== file.first_hash)
      return { identical: false, step: -1, steps, reason: `the state after settling differs${suspicion}` };
    const actions = decodeFloats(file.actions);
    const actionSize = actionSizeOf(suite.pack);
    for (let step = 0; step < steps; step++) {
      const action = actions.slice(step * actionSize, (step + 1) * actionSize);
      const [sight] = host.chunk([{ slot: 0, actions: action }]);
      if (sight?.hash !== file.hashes[step])
        return { identical: false, step, steps, reason: `the state after this action differs${suspicion}` };
      if (String(sight?.success[0]) !== file.success[step])
        return { identical: false, step, steps, reason: "the same state, but another verdict on the goal" };
    }
    return { identical: true, steps, success: file.success.includes("1") };
  } finally {
    host.dispose();
  }
}

const physicsNote = (recorded: string): string =>
  recorded === mujocoVersion() ? "" : ` (recorded with MuJoCo ${recorded}, played with ${mujocoVersion()})`;
