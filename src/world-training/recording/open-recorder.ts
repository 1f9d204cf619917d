/** The worker that records shards, one after another, on one thread. */
import { robosuiteActions } from "#data";
import { loadPolicy } from "#policies";
import { ScriptedRecorder, type ShardMaker } from "#recordings";
import { type Device, threadCount } from "#tensor";
import { asImagined, openWorld } from "../open-world.ts";
import { DreamRecorder } from "./dream-recorder.ts";
import { PolicyRecorder } from "./policy-recorder.ts";
import type { RecordingOrder } from "./recording.ts";

export async function openRecorder({ settings, policy: by }: RecordingOrder): Promise<ShardMaker> {
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
