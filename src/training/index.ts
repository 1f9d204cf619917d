/** Training: runs from a configuration, their checkpoints and evaluations, and fine-tuning on demonstrations. */
export { keepNewest, listCheckpoints, writeCheckpoint, writeFolder } from "./checkpoint/folder.ts";
export { findDamage } from "./checkpoint/manifest.ts";
export type { Meters, Round } from "./co-evolution/rounds.ts";
export {
  type EngineHandle,
  EngineHung,
  type EnginePatience,
  type EngineRequest,
  type EngineWatcher,
  patienceOf,
  startEngine,
} from "./engine.ts";
export {
  type Comparison,
  compareEvaluations,
  compareOutcomes,
  comparisonText,
  type EvaluatedEpisode,
  formatP,
} from "./evaluation/compare.ts";
export { type FilmedEpisode, filmEpisodes } from "./evaluation/filmed-episodes.ts";
export { startsName, startsText } from "./evaluation/played-starts.ts";
export { type EvaluationFile, evaluationTable, percent, readEvaluation } from "./evaluation/results.ts";
export { type Rate, rateOf, successRate } from "./evaluation/statistics.ts";
export { dryRun, type ReadRunOptions, readRun } from "./read-run.ts";
export { silent } from "./reporter.ts";
export { Run } from "./run.ts";
export { checkpointRoot } from "./run-folder/places.ts";
export { holdFolder, holdRunFolder } from "./run-folder/run-folder.ts";
export { changeText, compareSettings, type Settings, settingsDigest } from "./run-folder/settings-changes.ts";
export { newestCheckpoint } from "./run-folder/starting-point.ts";
export { type ConfigSource, evaluateRun, type RunOptions, type TrainedRun, trainRun } from "./run-program.ts";
export { train } from "./train.ts";
export {
  readTrainedOn,
  type TrainedOn,
  trainedOnDemonstrations,
  untrained,
  writeTrainedOn,
} from "./trained-on.ts";
export { versions } from "./versions.ts";
