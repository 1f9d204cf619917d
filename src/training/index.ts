/** Training: runs from a configuration, and fine-tuning on demonstrations. */
export { families } from "./families.ts";
export { dryRun, type ReadRunOptions, readRun } from "./read-run.ts";
export * from "./sft/index.ts";
