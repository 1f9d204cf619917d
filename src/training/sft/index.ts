/** Supervised fine-tuning on demonstrations. */
export { type SftHooks, type SftProgress, SftRun, type SftSettings, sftSettings } from "./fine-tune.ts";
export { type LabelledFrames, labelDemonstrations } from "./labels.ts";
export { type DatasetStatistics, demonstrationStatistics } from "./statistics.ts";
