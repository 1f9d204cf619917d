/** Training: runs from a configuration, their checkpoints and evaluations, and fine-tuning on demonstrations. */
export { listCheckpoints, writeFolder } from "./checkpoint/folder.ts";
export { findDamage } from "./checkpoint/manifest.ts";
export {
  type EngineHandle,
  EngineHung,
  type EnginePatience,
  type EngineRequest,
  type EngineWatcher,
  patienceOf,
  startEngine,
} from "./engine.ts";
export { compareEvaluations, comparisonText } from "./evaluation/compare.ts";
export { startsName, startsText } from "./evaluation/played-starts.ts";
export { type EvaluationFile, evaluationTable, percent, readEvaluation } from "./evaluation/results.ts";
export { successRate } from "./evaluation/statistics.ts";
export { dryRun, type ReadRunOptions, readRun } from "./read-run.ts";
export { silent } from "./reporter.ts";
export { Run } from "./run.ts";
export { checkpointRoot } from "./run-folder/places.ts";
export { holdFolder, holdRunFolder } from "./run-folder/run-folder.ts";
export type { Settings } from "./run-folder/settings-changes.ts";
export { newestCheckpoint } from "./run-folder/starting-point.ts";
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
export { filmEpisodes } from "./start/filmed-episodes.ts";
export { drawLearningCurve } from "./start/learning-curve.ts";
export {
  type Change,
  describeImprovement,
  type ImprovementFile,
  readImprovement,
  writeImprovement,
} from "./start/results.ts";
export { writePairs } from "./start/side-by-side.ts";
export { train } from "./train.ts";
export {
  readTrainedOn,
  type TrainedOn,
  trainedOnDemonstrations,
  untrained,
  writeTrainedOn,
} from "./trained-on.ts";
