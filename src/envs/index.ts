/** Environments: what answers actions, in a simulator or in a learned world, behind one contract. */
export type { ResetRequest, VectorEnv } from "./env.ts";
export {
  defineEnv,
  type EnvCursor,
  type EnvFamily,
  type EnvPlace,
  type EnvSection,
  type OpenedEnv,
  type PlayableEnv,
  type StartPool,
} from "./env-family.ts";
export { environmentFamily, environmentSection, environments } from "./environments.ts";
export {
  type Episode,
  type EpisodeEnvDefinition,
  type EpisodeStart,
  episodeEnv,
} from "./episodes/episode.ts";
export type { Imagination } from "./imagination.ts";
export type { FrameRecord } from "./learned/frame-record.ts";
export { LearnedEnv } from "./learned/learned-env.ts";
export { openImagination, openLearnedEnv } from "./learned/open.ts";
export { worldPrecision } from "./learned/opened.ts";
export { releaseImagination } from "./learned/release.ts";
export { learnedEnvSettings } from "./learned/settings.ts";
export { Starts } from "./learned/starts.ts";
export { type SuccessCriterion, succeeds, successCriterion } from "./learned/success.ts";
export { writeTrajectory } from "./learned/trajectory-file.ts";
export { withWorldFolder, worldFolder } from "./learned/world-folder.ts";
export { simulatorEnvSettings } from "./vector/settings.ts";
export { SimulatorEnv } from "./vector/simulator-env.ts";
