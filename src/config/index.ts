/** Configurations: read, composed, checked whole before anything starts, and turned into a plan. */
export { type BatchPlan, evaluationSlots, planBatch, type RankCounts } from "./batch.ts";
export type { Families, FamilyLookup } from "./family-section.ts";
export { worldRefreshFrame } from "./frame/co-evolution.ts";
export { type EnvironmentConfig, type RunConfig, runFrame } from "./frame/index.ts";
export { optimizerKeys } from "./frame/optimizer.ts";
export { actorColumns, type Block, type Route, routes, stageSlots } from "./layout.ts";
export { parseOverride } from "./override.ts";
export {
  type ClusterShape,
  clusterShape,
  type Placement,
  type Process,
  placeComponents,
} from "./placement.ts";
export { type PlacementMode, type Plan, planRun } from "./plan.ts";
export { planText, remarkLines } from "./plan-text.ts";
export { type Problem, problemText } from "./problem.ts";
export { type CheckedConfig, type ReadOptions, readConfig } from "./read-config.ts";
export type { Finding } from "./rules.ts";
export { type SamplingMode, samplingMode } from "./sampling.ts";
export { SearchPath, shippedConfigs } from "./search-path.ts";
export { settingsTable, settingsText } from "./settings-table.ts";
export { type Sharding, shardingOf } from "./sharding.ts";
export { readStrictFile } from "./strict-file.ts";
export { toYaml } from "./to-yaml.ts";
export { type ConfigNode, type MapNode, type Plain, plain } from "./tree.ts";
