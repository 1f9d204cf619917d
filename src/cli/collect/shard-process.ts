/** The program of a collecting process: makes the shards it is told to, one after another. */
import { type CollectSettings, type FromWorker, ShardCollector, type ToWorker } from "#envs";
import { UserError } from "#registry";

let collector: ShardCollector | undefined;
const tell = (message: FromWorker): boolean | undefined => process.send?.(message);

process.on("disconnect", () => process.exit(0));
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
