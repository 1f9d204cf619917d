/** Training of worlds: autoencoder, denoiser and reward model from recorded episodes, and how true the result is. */
export { trainingOfFamily, trainingOfWorld, usualFamily, worldTrainings } from "./families.ts";
export { RecordedFrames } from "./frames/recorded-frames.ts";
export { writeStarts } from "./frames/starts.ts";
export { type LoopHooks, type StopListener, TrainingStopped } from "./learning/training-loop.ts";
export { openWorld } from "./open-world.ts";
export { type RecordingOrder, type RecordingProgress, recordEpisodes } from "./recording/recording.ts";
export {
  copyWorld,
  type ImaginationOpener,
  makeCandidate,
  measureWorld,
  type RefreshSettings,
  refreshSettings,
  refreshWorld,
  shortReport,
} from "./refresh/refresh.ts";
export { measureAutoencoder } from "./reward-model/autoencoder-truth.ts";
export { openRewardModel } from "./reward-model/open-reward-model.ts";
export { rewardModelSettings, trainRewardModel } from "./reward-model/training.ts";
export type { Proportion } from "./truth/meters.ts";
export { falsePositiveOf, measureTruth, type OutcomeRates } from "./truth/truth.ts";
export { truthPlot } from "./truth/truth-plot.ts";
export { RecordedTruth, SimulatedTruth, type TruthSource } from "./truth/truth-source.ts";
export { truthTable } from "./truth/truth-table.ts";
export { type SideBySide, sideBySide, writeSideBySide } from "./truth/truth-video.ts";
export type { WorldTraining } from "./world-training.ts";
