/**
 * What `reverie sft --resume` goes on from: weights in full precision, optimizer and random stream of one and the same step.
 *
 * They lie together in `OUT/resume/global_step_N`, which appears whole and is checked against its manifest, as checkpoints of `train`
 * are. So a kill at any moment leaves the step before. Weights that are not numbers are never written.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readJsonFile, readSafetensors, writeJsonFile, writeSafetensors } from "#formats";
import { UserError } from "#registry";
import { findNotFinite, scope } from "#tensor";
import {
  changeText,
  compareSettings,
  findDamage,
  keepNewest,
  listCheckpoints,
  type Settings,
  type TrainedOn,
  writeCheckpoint,
  writeTrainedOn,
} from "#training";
import type { SftRun } from "./fine-tune.ts";

export interface ResumePoint {
  /** A folder of the policy's weights. */
  readonly model: string;
  readonly statePath: string;
  /** What training was asked; undefined in folders of earlier versions. */
  readonly settings: Settings | undefined;
}

const rootOf = (out: string): string => join(out, "resume");
const pointIn = (folder: string): Omit<ResumePoint, "settings"> => ({
  model: join(folder, "model"),
  statePath: join(folder, "training.safetensors"),
});
const settingsPath = (folder: string): string => join(folder, "settings.json");

export async function writeResumePoint(
  out: string,
  run: SftRun,
  settings: Settings,
  trainedOn: TrainedOn,
): Promise<void> {
  const root = rootOf(out);
  await writeCheckpoint(root, run.step, async (folder) => {
    const { model, statePath } = pointIn(folder);
    await run.policy.save(model);
    writeTrainedOn(model, trainedOn);
    writeJsonFile(settingsPath(folder), settings);
    writeSafetensors(statePath, run.state());
  });
  keepNewest(root, 1); // only now: until the new one is whole, the old one is what there is
}

/** The newest that is whole; one that is damaged is named. */
export function findResumePoint(out: string, say: (line: string) => void): ResumePoint {
  const faults: string[] = [];
  for (const { folder } of listCheckpoints(rootOf(out)).toReversed()) {
    const [fault] = findDamage(folder);
    if (fault === undefined) {
      for (const line of faults) say(`${line}: an older one is used`);
      return { ...pointIn(folder), settings: readJsonFile(settingsPath(folder)) };
    }
    faults.push(`${folder} is damaged (${fault})`);
  }
  return earlierPoint(out, say) ?? refuse(out, faults);
}

/** Earlier versions wrote the state beside the weights, after them. */
function earlierPoint(out: string, say: (line: string) => void): ResumePoint | undefined {
  const [model, statePath] = [rootOf(out), join(rootOf(out), "training.safetensors")];
  if (!existsSync(statePath)) return undefined;
  say(
    `${model} is of an earlier version: whether weights and optimizer are of the same step cannot be checked`,
  );
  return { model, statePath, settings: undefined };
}

function refuse(out: string, faults: readonly string[]): never {
  throw new UserError(
    [
      `${out} has nothing whole to resume from in ${rootOf(out)}; begin without --resume, in another --out`,
      ...faults,
    ].join("\n  "),
  );
}

export function restoreRun(run: SftRun, { statePath }: ResumePoint): void {
  run.loadState(readSafetensors(statePath));
}

/** The weights come from the resume point, and so does the random stream: another base or seed could not be obeyed. */
const isFixed = (key: string): boolean => /^(seed|base|model_set\..*)$/.test(key);

/**
 * The settings to go on with: what is given now, and what is fixed and was not named again. What changed is said, with both values;
 * what cannot change is refused.
 */
export function settingsToGoOnWith(
  { settings: before }: ResumePoint,
  given: Settings,
  say: (line: string) => void,
): Settings {
  if (before === undefined) return given;
  const fixed = Object.entries(before).filter(([key]) => isFixed(key));
  const now = { ...Object.fromEntries(fixed), ...given };
  const changes = compareSettings(before, now).said;
  const refused = changes.filter(({ key }) => isFixed(key));
  if (refused.length > 0)
    throw new UserError(
      "a training goes on only with the seed and the model that it began with:\n" +
        `${refused.map((change) => `  ${changeText(change)}`).join("\n")}\n` +
        "  to go on: leave them as they were; to begin anew: without --resume, in another --out",
    );
  for (const change of changes) say(`changed since this training was interrupted: ${changeText(change)}`);
  return now;
}

/** Before anything is written. `lastGood`: the checkpoint that was saved last. */
export function requireFiniteRun(run: SftRun, lastGood: string | undefined): void {
  const found = scope(() => findNotFinite(new Map([...run.policy.module.namedParameters(), ...run.state()])));
  if (!found) return;
  throw new UserError(
    `step ${run.step} has left ${found.what} in ${found.name}: it is not saved; lower lr or clip_grad, or look at the data\n` +
      (lastGood === undefined
        ? "there is no checkpoint yet: begin again, in another --out"
        : `the last good checkpoint is ${lastGood}; to go on from it: the same command with a lower --lr, and --resume`),
  );
}
