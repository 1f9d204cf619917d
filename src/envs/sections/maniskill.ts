/** `env_type: maniskill`: ManiSkill3's GPU-batched tasks, in a process of their own. */
import { z } from "zod";
import type { EnvFamily } from "../env-family.ts";

export const maniskill: EnvFamily = {
  offload: true,
  settings: z.strictObject({
    policy_setup: z.string().nullish().describe("the robot and how it is driven, e.g. widowx_bridge"),
    reward_mode: z
      .enum(["default", "raw", "only_success"])
      .default("default")
      .describe("which reward of ManiSkill's is paid"),
    wrap_obs_mode: z
      .enum(["default", "simple", "raw"])
      .default("default")
      .describe("how ManiSkill's observations are wrapped"),
    use_full_state: z.boolean().default(false).describe("observe the simulator's state too"),
    init_params: z.looseObject({
      id: z.string().describe("ManiSkill's name of the task"),
      obs_mode: z.string().optional().describe("what ManiSkill observes, e.g. rgb+segmentation"),
    }),
  }),
  footprint: () => ({
    parameters: 0,
    deviceBytes: 3e9,
    deviceBytesPerSlot: 60e6,
    note: "env: GPU physics and cameras",
  }),
};
