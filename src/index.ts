/** The public door: everything that a program or a plugin of one's own may use. */
export { z } from "zod";
export { defineAlgorithm } from "#algorithms";
export { defineEnv, episodeEnv } from "#envs";
export { defineLogger } from "#metrics";
export { definePlugin } from "#plugins";
export { definePolicy } from "#policies";
export { UserError } from "#registry";
export { defineReward } from "#rewards";
