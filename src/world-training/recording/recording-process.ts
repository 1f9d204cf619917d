/** The program of a recording process: makes the shards it is told to, one after another, on one thread. */

import { robosuiteActions } from "#data";
import { loadPolicy } from "#policies";
import { type FromWorker, ScriptedRecorder, type ToWorker } from "#recordings";
import { inheritPlugins, liveForParent, UserError } from "#registry";
import { type Device, threadCount } from "#tensor";
import { asImagined, openWorld } from "../open-world.ts";
import { DreamRecorder } from "./dream-recorder.ts";
import { PolicyRecorder } from "./policy-recorder.ts";
import type { RecordingOrder } from "./recording.ts";

type Recorder = ScriptedRecorder | PolicyRecorder | DreamRecorder;

let recorder: Promise<Recorder> | undefined;
const parentIsGone = liveForParent();
await inheritPlugins();
/** A run that was killed reads no more: then there is nobody to record for, and nothing to complain of. */
const tell = (message: FromWorker): void => {
  if (parentIsGone()) process.exit(0);
  process.send?.(message, undefined, undefined, (error) => error && process.exit(0));
};

process.on("message", (message: ToWorker<RecordingOrder>) => {
  answer(message).catch((error: unknown) => {
    if (error instanceof UserError) tell({ kind: "user-error", message: error.message });
    else throw error;
  });
});

async function answer(message: ToWorker<RecordingOrder>): Promise<void> {
  if (message.kind === "settings") {
    recorder = open(message.settings);
    recorder.catch(() => {}); // told when the first shard asks
    return;
  }
  const { jobs, path } = message.shard;
  const summary = await (await recorder)?.collect(jobs, path, (outcome) =>
    tell({ kind: "episode", outcome }),
  );
  if (summary) tell({ kind: "done", summary });
}

async function open({ settings, policy: by }: RecordingOrder): Promise<Recorder> {
  threadCount(1);
  if (!by) return new ScriptedRecorder(settings);
  const device = by.device as Device;
  const policy = await loadPolicy(by.section, {
    device,
    actionSpec: robosuiteActions,
  });
  if (by.world === undefined) return new PolicyRecorder(policy, settings, by.temperatures);
  const size = [settings.size, settings.size] as const;
  const world = await openWorld(by.world, { device, size, ...asImagined(device) });
  return new DreamRecorder({ policy, world }, settings, by.temperatures);
}
