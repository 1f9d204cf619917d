/** Named numbers: their catalogue, their averages and times, and everything that they are written to. */
export { counted } from "./counted.ts";
export { formatDuration, leftText } from "./duration.ts";
export { cutMetrics, JsonlWriter, metricsFile, readMetricsFile } from "./jsonl-writer.ts";
export { LiveBlock, type Screen } from "./live-block.ts";
export type { Metrics, MetricsWriter } from "./metric.ts";
export {
  defineLogger,
  type LoggerFamily,
  type LoggerSettings,
  loggers,
  openRunLog,
  type RunLogOptions,
} from "./run-log.ts";
export { openSideLogger } from "./side-logger.ts";
export { phaseName, progressBar } from "./terminal-lines.ts";
export { TerminalView } from "./terminal-view.ts";
export { TimeLeft } from "./time-left.ts";
export { Timers } from "./timers.ts";
