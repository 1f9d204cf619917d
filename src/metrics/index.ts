/** Named numbers: their catalogue, their averages and times, and everything that they are written to. */
export { Averages } from "./averages.ts";
export { type MetricEntry, metricCatalogue, renderCatalogue, withAliases } from "./catalogue.ts";
export { counted } from "./counted.ts";
export { formatDuration, leftText } from "./duration.ts";
export {
  cutMetrics,
  decodeLine,
  JsonlWriter,
  type MetricsLine,
  metricsFile,
  readMetricsFile,
} from "./jsonl-writer.ts";
export { LiveBlock, type LiveBlockOptions, type Screen } from "./live-block.ts";
export type { Metrics, MetricsWriter, Picture } from "./metric.ts";
export {
  defineLogger,
  type LoggerFamily,
  type LoggerSettings,
  loggers,
  openRunLog,
  parseBackends,
  type RunLogOptions,
} from "./run-log.ts";
export { loggerPython, openSideLogger, type SideLogger, type SideLoggerOptions } from "./side-logger.ts";
export { formatNumber, formatTable, TableWriter } from "./table-writer.ts";
export { TensorboardWriter } from "./tensorboard-writer.ts";
export { phaseName, progressBar } from "./terminal-lines.ts";
export { TerminalView, type TerminalViewOptions } from "./terminal-view.ts";
export { TimeLeft } from "./time-left.ts";
export { Timers } from "./timers.ts";
