/** Supervised fine-tuning on demonstrations. */
export { type SftHooks, type SftProgress, SftRun, type SftSettings, sftSettings } from "./fine-tune.ts";
export { type LabelledFrames, labelDemonstrations } from "./labels.ts";
export {
  findResumePoint,
  type ResumePoint,
  requireFiniteRun,
  restoreRun,
  settingsToGoOnWith,
  writeResumePoint,
} from "./resume-point.ts";
export { type DatasetStatistics, demonstrationStatistics } from "./statistics.ts";
