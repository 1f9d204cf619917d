/** Environments that are imagined: a world model, a judge and recorded starts behind the contract of a simulator. */
export type { FrameRecord } from "./frame-record.ts";
export { LearnedEnv } from "./learned-env.ts";
export { isLearnedEnv, type OpenOptions, openImagination, openLearnedEnv } from "./open.ts";
export { worldPrecision } from "./opened.ts";
export type { ImaginationWatcher, LearnedEnvParts } from "./parts.ts";
export { type Imagination, releaseImagination } from "./release.ts";
export { type LearnedEnvSettings, learnedEnvSettings } from "./settings.ts";
export { Starts, type StartsOptions } from "./starts.ts";
export { type SuccessCriterion, succeeds, successCriterion } from "./success.ts";
export { writeTrajectory } from "./trajectory-file.ts";
export { withWorldFolder, worldFolder } from "./world-folder.ts";
