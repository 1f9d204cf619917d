/** How a run's workers are started, called and ended, how they talk to each other and share weights. */
export { type Channel, LocalChannel } from "./channel.ts";
export { processLauncher, threadLauncher } from "./launcher.ts";
export { SilenceWatch } from "./silence-watch.ts";
export { copyWeights, LocalWeightSync, type WeightSync, type Weights } from "./weight-sync.ts";
