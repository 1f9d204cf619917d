/** Training: runs from a configuration, their checkpoints and evaluations, and fine-tuning on demonstrations. */
export { listCheckpoints, writeFolder } from "./checkpoint/folder.ts";
export { findDamage } from "./checkpoint/manifest.ts";
export { armsOf, type Claim, readClaim } from "./claims/claim-file.ts";
export { gatherRun, writeClaim, writeClaimPages } from "./claims/claim-folder.ts";
export { type ClaimResults, readClaimResults, runName } from "./claims/claim-results.ts";
export { verdictOf } from "./claims/verdict.ts";
export {
  type EngineHandle,
  EngineHung,
  type EnginePatience,
  type EngineRequest,
  type EngineWatcher,
  patienceOf,
  startEngine,
} from "./engine.ts";
export { type Comparison, compareEvaluations, comparisonText } from "./evaluation/compare.ts";
export { type FilmedEpisode, filmEpisodes } from "./evaluation/filmed-episodes.ts";
export { startsName, startsText } from "./evaluation/played-starts.ts";
export { type EvaluationFile, evaluationTable, percent, readEvaluation } from "./evaluation/results.ts";
export { type Rate, successRate } from "./evaluation/statistics.ts";
export { dryRun, type ReadRunOptions, readRun } from "./read-run.ts";
export { silent } from "./reporter.ts";
export { Run } from "./run.ts";
export { checkpointRoot } from "./run-folder/places.ts";
export { holdFolder, holdRunFolder } from "./run-folder/run-folder.ts";
export { type Settings, settingsDigest } from "./run-folder/settings-changes.ts";
export { newestCheckpoint } from "./run-folder/starting-point.ts";
export { type ConfigSource, evaluateRun, type RunOptions, type TrainedRun, trainRun } from "./run-program.ts";
export { SftRun, type SftSettings, sftSettings } from "./sft/fine-tune.ts";
export { labelDemonstrations } from "./sft/labels.ts";
export {
  findResumePoint,
  type ResumePoint,
  requireFiniteRun,
  restoreRun,
  settingsToGoOnWith,
  writeResumePoint,
} from "./sft/resume-point.ts";
export { demonstrationStatistics } from "./sft/statistics.ts";
export { train } from "./train.ts";
export {
  readTrainedOn,
  type TrainedOn,
  trainedOnDemonstrations,
  untrained,
  writeTrainedOn,
} from "./trained-on.ts";
export { versions } from "./versions.ts";
