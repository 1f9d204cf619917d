/** Training of worlds: autoencoder, denoiser and judge from recorded episodes, and how true the result is. */
export { type JudgeSettings, judgeSettings, trainJudge } from "./judge.ts";
export { type AutoencoderSettings, autoencoderSettings, trainAutoencoder } from "./opensora-autoencoder.ts";
export { type DenoiserSettings, denoiserSettings, trainDenoiser } from "./opensora-denoiser.ts";
export { type PolicyPlay, PolicyRecorder } from "./policy-recorder.ts";
export { RecordedFrames, WindowSampler } from "./recorded-frames.ts";
export { type StartsExport, writeStarts } from "./starts.ts";
export type { LoopHooks, StepProgress } from "./training-loop.ts";
export { measureTruth, type TruthOptions, type TruthReport } from "./truth.ts";
export { truthTable } from "./truth-table.ts";
