/** Training of worlds: autoencoder, denoiser and judge from recorded episodes, and how true the result is. */
export { type AutoencoderTruth, measureAutoencoder } from "./autoencoder-truth.ts";
export { evacAutoencoderSettings, trainEvacAutoencoder } from "./evac-autoencoder.ts";
export { trainEvacDenoiser } from "./evac-denoiser.ts";
export { evacDenoiserSettings } from "./evac-settings.ts";
export { requireLearner } from "./go-on-learning.ts";
export { type JudgeSettings, judgeSettings, trainJudge } from "./judge.ts";
export { familyOf, openJudge, openWorld } from "./open-world.ts";
export { type AutoencoderSettings, autoencoderSettings, trainAutoencoder } from "./opensora-autoencoder.ts";
export { type DenoiserSettings, denoiserSettings, trainDenoiser } from "./opensora-denoiser.ts";
export { PolicyRecorder } from "./policy-recorder.ts";
export { RecordedFrames, WindowSampler } from "./recorded-frames.ts";
export { type RecordingOrder, type RecordingRequest, recordEpisodes } from "./recording.ts";
export { type RefreshOutcome, type RefreshSettings, refreshSettings, refreshWorld } from "./refresh.ts";
export { type StartsExport, writeStarts } from "./starts.ts";
export { type LoopHooks, type StepProgress, type StopListener, TrainingStopped } from "./training-loop.ts";
export { falsePositiveOf, measureTruth, type TruthOptions, type TruthReport } from "./truth.ts";
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
