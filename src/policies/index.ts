/** The policy families, found by `model_type` and loaded only when asked for. */
import { Registry, UserError } from "#registry";
import type { LoadOptions, Policy, PolicyFamily } from "./policy.ts";
import { requireFinite } from "./require-finite.ts";

export { policyFootprint } from "./footprint.ts";
export { type FreshOptions, type MiniSizes, miniSizes, writeFreshCheckpoint } from "./openvla-oft/fresh.ts";
export type {
  ActionSpec,
  ActOptions,
  EvaluateOptions,
  LearnOptions,
  LoadOptions,
  Part,
  Policy,
  PolicyFamily,
  Sampling,
  SaveOptions,
  WeightKeeper,
} from "./policy.ts";
export { requireFinite } from "./require-finite.ts";

export const policies = new Registry<PolicyFamily>("policy", {
  openvla_oft: async () => (await import("./openvla-oft/index.ts")).openVlaOft as unknown as PolicyFamily,
  openpi: async () => (await import("./pi0/index.ts")).openPi as unknown as PolicyFamily,
  openvla: async () => (await import("./openvla/index.ts")).openVla as unknown as PolicyFamily,
});

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
