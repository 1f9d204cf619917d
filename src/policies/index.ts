/** The policy families, found by `model_type` and loaded only when asked for. */
import { existsSync } from "node:fs";
import { ownEntry, Registry, UserError } from "#registry";
import type { FreshCheckpoint, LoadOptions, Policy, PolicyFamily } from "./policy.ts";
import { requireFinite } from "./require-finite.ts";

export { weightsFootprint } from "./footprint.ts";
export { type MiniSizes, writeFreshCheckpoint } from "./openvla-oft/fresh.ts";
export type {
  ActOptions,
  EvaluateOptions,
  LearnOptions,
  LoadOptions,
  Part,
  Policy,
  PolicyFamily,
  WeightKeeper,
} from "./policy.ts";
export { definePolicy } from "./policy.ts";
export { requireFinite } from "./require-finite.ts";

export const policies = new Registry<PolicyFamily>("policy", {
  openvla_oft: async () => (await import("./openvla-oft/index.ts")).openVlaOft,
  openpi: async () => (await import("./pi0/index.ts")).openPi,
  openvla: async () => (await import("./openvla/index.ts")).openVla,
});

/** The `model_type` of a checkpoint folder, by its files: the first family that recognizes it. */
export async function recognizePolicy(folder: string): Promise<string> {
  if (!existsSync(folder)) throw new UserError(`no checkpoint folder at ${folder}`);
  for (const [name, load] of policies.entries()) if ((await load()).recognizes?.(folder)) return name;
  throw new UserError(
    `${folder} is a checkpoint of no policy that is known here; if it is one, say which: model_type=NAME, ` +
      `NAME being one of ${policies.names().join(", ")}`,
  );
}

/** The family that can write a new, untrained checkpoint of this size. */
export async function freshPolicy(
  size: string,
): Promise<{ readonly modelType: string; readonly family: PolicyFamily; readonly fresh: FreshCheckpoint }> {
  const sizes: string[] = [];
  for (const [modelType, load] of policies.entries()) {
    const family = await load();
    const fresh = ownEntry(family.fresh ?? {}, size);
    if (fresh) return { modelType, family, fresh };
    sizes.push(...Object.keys(family.fresh ?? {}));
  }
  throw new UserError(`--new is "${size}"; there is: ${sizes.join(", ")}`);
}

/** Loads the policy that a config's `actor.model` section describes. */
export async function loadPolicy(
  model: Readonly<Record<string, unknown>>,
  options?: LoadOptions,
): Promise<Policy> {
  const { model_type: type } = model;
  if (typeof type !== "string") {
    throw new UserError(`the model section has no model_type; there are: ${policies.names().join(", ")}`);
  }
  const family = await policies.get(type);
  const parsed = family.settings.safeParse(model);
  if (parsed.success) {
    const policy = await family.load(parsed.data, options);
    requireFinite(policy.module.namedParameters(), sourceOf(model));
    return policy;
  }
  const { z } = await import("zod");
  throw new UserError(`the model section does not fit ${type}:\n${z.prettifyError(parsed.error)}`);
}

/** Where the weights came from; adapters lie beside the model that they adapt. */
const sourceOf = ({ model_path: path, lora_path: adapters }: Readonly<Record<string, unknown>>): string =>
  [path, adapters].filter(Boolean).join(" with ");
