/**
 * The public door: what a plugin or a program of one's own may import from "reverie".
 *
 * What is here keeps its meaning between minor versions; everything else in the package may change.
 */

/** For the settings of families. */
export { z } from "zod";

// Plugins: docs/extend
export {
  type Advantages,
  type AlgorithmFamily,
  type AlgorithmSettings,
  aggregate,
  algorithms,
  atLevel,
  atRewardLevel,
  type Columns,
  clippedRatio,
  clipSettings,
  criticError,
  criticSettings,
  defineAlgorithm,
  entropyBonus,
  episodeMask,
  groupAdvantages,
  groupSettings,
  type Horizon,
  type Loss,
  type LossTotals,
  referenceDivergence,
  sharedSettings,
  sumOfTerms,
  withAdvantages,
} from "#algorithms";
// What goes between environments, policies and algorithms.
export type {
  ActionSpec,
  EnvStep,
  EpisodeStats,
  ForwardInputs,
  Minibatch,
  Observation,
  PolicyEvaluation,
  PolicyStep,
  Rollout,
} from "#data";
export {
  defineEnv,
  type EnvCursor,
  type EnvFamily,
  type EnvPlace,
  type EnvSection,
  type Episode,
  type EpisodeEnvDefinition,
  type EpisodeStart,
  environments,
  episodeEnv,
  type OpenedEnv,
  type PlayableEnv,
  type ResetRequest,
  type StartPool,
  type VectorEnv,
} from "#envs";
export { readSafetensors, writeSafetensors } from "#formats";
export {
  defineLogger,
  type LoggerFamily,
  type LoggerSettings,
  loggers,
  type Metrics,
  type MetricsWriter,
  type RunLogOptions,
} from "#metrics";
export { initNormal, Linear, Module, type ModuleOptions } from "#nn";
export { definePlugin, type PluginParts } from "#plugins";
export {
  type ActOptions,
  definePolicy,
  type EvaluateOptions,
  type LearnOptions,
  type LoadOptions,
  loadPolicy,
  type Policy,
  type PolicyFamily,
  policies,
} from "#policies";
export { type FamilySettings, type Footprint, loadPlugins, type Plugin, UserError } from "#registry";
export { defineReward, type RewardFamily, type RewardModel, type RewardSettings, rewards } from "#rewards";
export { bddlSuite, type SuiteEntry, suites } from "#simulators";
// Tensors: the part that families need most; `scope` frees what is made inside it, `keep` takes a tensor out.
export {
  arange,
  cat,
  type Device,
  type DType,
  Generator,
  keep,
  noGrad,
  ones,
  rand,
  randn,
  scope,
  stack,
  Tensor,
  tensor,
  where,
  zeros,
} from "#tensor";
// Programs: what the commands do.
export {
  type ConfigSource,
  type EvaluationFile,
  evaluateRun,
  type RunOptions,
  type TrainedRun,
  trainRun,
} from "#training";
export {
  defineWorld,
  type ImagineRequest,
  type World,
  type WorldFamily,
  type WorldMemory,
  type WorldStart,
  worlds,
} from "#worlds";
