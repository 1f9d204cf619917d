/** `env_type: maniskill`: ManiSkill3's GPU-batched tasks, in a process of their own. */
import { z } from "zod";
import type { FamilySettings } from "#registry";

export const maniskillSection: FamilySettings = {
  offload: true,
  settings: z.strictObject({
    policy_setup: z.string().nullish(),
    reward_mode: z.enum(["default", "raw", "only_success"]).default("default"),
    wrap_obs_mode: z.enum(["default", "simple", "raw"]).default("default"),
    use_full_state: z.boolean().default(false),
    init_params: z.looseObject({ id: z.string(), obs_mode: z.string().optional() }),
  }),
  footprint: () => ({
    parameters: 0,
    deviceBytes: 3e9,
    deviceBytesPerSlot: 60e6,
    note: "env: GPU physics and cameras",
  }),
};
