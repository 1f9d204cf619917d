/** How a run's workers are started, talk to each other and share weights. */
export { type Channel, LocalChannel } from "./channel.ts";
export {
  type Launcher,
  localRef,
  type Methods,
  threadLauncher,
  type WorkerRef,
  type WorkerSpec,
} from "./launcher.ts";
export { beatHeart, SilenceWatch } from "./silence-watch.ts";
export { packTensors, unpackTensors } from "./tensor-message.ts";
export { endThread, openThread } from "./thread-worker.ts";
export { copyWeights, LocalWeightSync, type WeightSync, type Weights } from "./weight-sync.ts";
