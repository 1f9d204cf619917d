/** Training of worlds: autoencoder, denoiser and judge from recorded episodes, and how true the result is. */

export { evacAutoencoderSettings, trainEvacAutoencoder } from "./evac/autoencoder.ts";
export { trainEvacDenoiser } from "./evac/denoiser.ts";
export { evacDenoiserSettings } from "./evac/settings.ts";
export { RecordedFrames } from "./frames/recorded-frames.ts";
export { writeStarts } from "./frames/starts.ts";
export { type LoopHooks, type StopListener, TrainingStopped } from "./learning/training-loop.ts";
export { familyOf, openJudge, openWorld } from "./open-world.ts";
export { autoencoderSettings, trainAutoencoder } from "./opensora/autoencoder.ts";
export { denoiserSettings, trainDenoiser } from "./opensora/denoiser.ts";
export { type RecordingOrder, type RecordingProgress, recordEpisodes } from "./recording/recording.ts";
export { requireLearner } from "./refresh/go-on-learning.ts";
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
export { judgeSettings, trainJudge } from "./reward-model/training.ts";
export type { Proportion } from "./truth/meters.ts";
export { falsePositiveOf, measureTruth, type Verdicts } from "./truth/truth.ts";
export { truthPlot } from "./truth/truth-plot.ts";
export { RecordedTruth, SimulatedTruth, type TruthSource } from "./truth/truth-source.ts";
export { truthTable } from "./truth/truth-table.ts";
export { type SideBySide, sideBySide, writeSideBySide } from "./truth/truth-video.ts";
export {
  trainWanAutoencoder,
  trainWanDenoiser,
  wanAutoencoderSettings,
  wanDenoiserSettings,
} from "./wan/denoiser.ts";
