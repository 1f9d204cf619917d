/** The environment in a world of any registered family: how its section of a configuration looks, and how it is opened. */
import { z } from "zod";
import { robosuiteActions } from "#data";
import { envTypeOf, type WorldFamily, worlds } from "#worlds";
import type { PlayableEnv } from "../env-family.ts";
import { learnedKeys } from "./settings.ts";

export const learnedEnv = ({ section }: WorldFamily): PlayableEnv => ({
  settings: z.strictObject({ ...learnedKeys, ...section.keys }),
  plays: "dream",
  offload: true,
  ...(section.footprint && { footprint: section.footprint }),
  check: (settings, run) => [
    ...chunkFindings(section.chunkKey, settings, run),
    ...(section.check?.(settings, run) ?? []),
  ],
  actions: () => robosuiteActions, // that of the simulator which the worlds imitate
  open: async (block, place) => (await import("./opened.ts")).openImagined(block, place),
});

/** By `env_type`, of all families that are registered at the moment. */
export const learnedEnvs = (): Record<string, () => Promise<PlayableEnv>> =>
  Object.fromEntries(
    worlds.names().map((name) => [envTypeOf(name), async () => learnedEnv(await worlds.get(name))]),
  );

type Settings = Readonly<Record<string, unknown>>;

/** A world imagines as many frames at once as the policy has actions in a chunk. */
function chunkFindings(path: string, settings: Settings, run: Settings): { path: string; message: string }[] {
  const chunk = path.split(".").reduce<unknown>((at, key) => (at as Settings | undefined)?.[key], settings);
  const actor = run.actor as { model?: { num_action_chunks?: number } } | undefined;
  const actions = actor?.model?.num_action_chunks;
  if (chunk === undefined || actions === undefined || chunk === actions) return [];
  const message = `is ${chunk}, but actor.model.num_action_chunks is ${actions}: the world and the policy must agree`;
  return [{ path, message }];
}
