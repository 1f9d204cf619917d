/** Configurations: read, composed, checked whole before anything starts, and turned into a plan. */
export { type BatchPlan, evaluationSlots, planBatch, type RankCounts } from "./batch.ts";
export type { Families } from "./family-section.ts";
export { worldRefreshFrame } from "./frame/co-evolution.ts";
export { type EnvironmentConfig, type RunConfig, runFrame } from "./frame/index.ts";
export { optimizerKeys } from "./frame/optimizer.ts";
export { stageSlots } from "./layout.ts";
export { parseOverride } from "./override.ts";
export { type Plan, planRun } from "./plan.ts";
export { planText, remarkLines } from "./plan-text.ts";
export { type CheckedConfig, readConfig } from "./read-config.ts";
export type { Finding } from "./rules.ts";
export { type SamplingMode, samplingMode } from "./sampling.ts";
export { SearchPath, shippedConfigs } from "./search-path.ts";
export { settingsTable, settingsText } from "./settings-table.ts";
export { shardingOf } from "./sharding.ts";
export { readStrictFile } from "./strict-file.ts";
export { toYaml } from "./to-yaml.ts";
export { type Plain, plain } from "./tree.ts";
