/** Training: runs from a configuration, their checkpoints and evaluations, and fine-tuning on demonstrations. */
export { listCheckpoints, type Saved, writeFolder } from "./checkpoint/folder.ts";
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
export { evaluateOnly } from "./evaluate-only.ts";
export { type Comparison, compareEvaluations, comparisonText } from "./evaluation/compare.ts";
export { type EvaluationResult, Evaluator } from "./evaluation/evaluate.ts";
export type { EpisodeResult } from "./evaluation/play.ts";
export { type PlayedStarts, startsName, startsText } from "./evaluation/played-starts.ts";
export {
  describeEvaluation,
  type EvaluationFile,
  evaluationTable,
  percent,
  readEvaluation,
  writeEvaluation,
} from "./evaluation/results.ts";
export { exactMcNemar, type Rate, successRate } from "./evaluation/statistics.ts";
export { families } from "./families.ts";
export { dryRun, type ReadRunOptions, readRun } from "./read-run.ts";
export { type Reporter, silent } from "./reporter.ts";
export { Run } from "./run.ts";
export { checkpointRoot } from "./run-folder/places.ts";
export { holdFolder, holdRunFolder } from "./run-folder/run-folder.ts";
export type { Settings } from "./run-folder/settings-changes.ts";
export { newestCheckpoint } from "./run-folder/starting-point.ts";
export * from "./sft/index.ts";
export * from "./start/index.ts";
export { train } from "./train.ts";
export {
  readTrainedOn,
  seenStoredStarts,
  type TrainedOn,
  trainedOnDemonstrations,
  untrained,
  writeTrainedOn,
} from "./trained-on.ts";
export { versions } from "./versions.ts";
export * from "./world/index.ts";
