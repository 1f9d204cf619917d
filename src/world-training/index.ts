/** Training of worlds: autoencoder, denoiser and judge from recorded episodes, and how true the result is. */
export { measureAutoencoder } from "./autoencoder-truth.ts";
export { evacAutoencoderSettings, trainEvacAutoencoder } from "./evac-autoencoder.ts";
export { trainEvacDenoiser } from "./evac-denoiser.ts";
export { evacDenoiserSettings } from "./evac-settings.ts";
export { requireLearner } from "./go-on-learning.ts";
export { judgeSettings, trainJudge } from "./judge.ts";
export type { Proportion } from "./meters.ts";
export { familyOf, openJudge, openWorld } from "./open-world.ts";
export { autoencoderSettings, trainAutoencoder } from "./opensora-autoencoder.ts";
export { denoiserSettings, trainDenoiser } from "./opensora-denoiser.ts";
export { RecordedFrames } from "./recorded-frames.ts";
export { type RecordingOrder, type RecordingProgress, recordEpisodes } from "./recording.ts";
export {
  copyWorld,
  type ImaginationOpener,
  makeCandidate,
  measureWorld,
  type RefreshSettings,
  refreshSettings,
  refreshWorld,
  shortReport,
} from "./refresh.ts";
export { writeStarts } from "./starts.ts";
export { type LoopHooks, type StopListener, TrainingStopped } from "./training-loop.ts";
export { falsePositiveOf, measureTruth, type Verdicts } from "./truth.ts";
export { truthPlot } from "./truth-plot.ts";
export { RecordedTruth, SimulatedTruth, type TruthSource } from "./truth-source.ts";
export { truthTable } from "./truth-table.ts";
export { type SideBySide, sideBySide, writeSideBySide } from "./truth-video.ts";
export {
  trainWanAutoencoder,
  trainWanDenoiser,
  wanAutoencoderSettings,
  wanDenoiserSettings,
} from "./wan-world-training.ts";
