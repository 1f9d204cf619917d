/** The program of a collecting process: makes the shards it is told to, one after another. */
import { type CollectSettings, type FromWorker, ShardCollector, type ToWorker } from "#recordings";
import { inheritPlugins, liveForParent, UserError } from "#registry";

let collector: ShardCollector | undefined;
const parentIsGone = liveForParent();
await inheritPlugins();
const tell = (message: FromWorker): void => {
  if (parentIsGone()) process.exit(0); // a shard is collected without a look at the event loop
  process.send?.(message);
};

process.on("message", (message: ToWorker<CollectSettings>) => {
  try {
    if (message.kind === "settings") {
      collector = new ShardCollector(message.settings);
      return;
    }
    const { jobs, path } = message.shard;
    const summary = collector?.collect(jobs, path, (outcome) => tell({ kind: "episode", outcome }));
    if (summary) tell({ kind: "done", summary });
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    tell({ kind: "user-error", message: error.message });
  }
});
