/**
 * The kinds of environment, found by `env_type` and loaded only when asked for. Checking a section of a configuration loads neither
 * a simulator nor a world model: those come with `open`.
 */
import { Registry, UserError } from "#registry";
import type { EnvFamily, EnvSection, PlayableEnv } from "./env-family.ts";
import { learnedEnvs } from "./learned/family.ts";

const simulated = {
  libero: async () => (await import("./sections/libero.ts")).libero(),
  behavior: async () => (await import("./sections/behavior.ts")).behavior,
  maniskill: async () => (await import("./sections/maniskill.ts")).maniskill,
};

/** Simulators, and one environment for every family of worlds. */
export const environments = new Registry<EnvFamily>("environment (env_type)", simulated, learnedEnvs);

const isPlayable = (family: EnvFamily): family is PlayableEnv => family.open !== undefined;

/** The family of a section, or an error that says what can be played here. */
export async function environmentFamily(section: Pick<EnvSection, "env_type">): Promise<PlayableEnv> {
  const family = await environments.get(section.env_type);
  if (isPlayable(family)) return family;
  throw new UserError(await unplayableText(section.env_type));
}

/** What a configuration's check needs of a family; of one that nobody opens, also why. */
export async function environmentSection(type: string): Promise<EnvFamily> {
  const family = await environments.get(type);
  return isPlayable(family) ? family : { ...family, unplayable: await unplayableText(type) };
}

async function unplayableText(type: string): Promise<string> {
  const all = await Promise.all(
    environments.names().map(async (name) => ({ name, family: await environments.get(name) })),
  );
  const playable = all.flatMap(({ name, family }) => (isPlayable(family) ? [name] : []));
  return (
    `env_type ${type} is validated (--dry-run) but cannot run yet: its simulator is not part of this system yet; ` +
    `what can run: ${playable.join(", ")}`
  );
}
