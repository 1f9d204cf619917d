/** Supervised fine-tuning: a policy learns from demonstrations. */
export { SftRun, type SftSettings, sftSettings } from "./fine-tune.ts";
export { labelDemonstrations } from "./labels.ts";
export {
  findResumePoint,
  type ResumePoint,
  requireFiniteRun,
  restoreRun,
  settingsToGoOnWith,
  writeResumePoint,
} from "./resume-point.ts";
export { demonstrationStatistics } from "./statistics.ts";
