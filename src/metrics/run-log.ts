/**
 * All that a run's numbers are written to, behind one `write`.
 *
 * Always `metrics.jsonl` (what resumption reads) and `metrics.log`; and the services that
 * `runner.logger.logger_backends` names. Every metric goes out under all of its names.
 */
import { join } from "node:path";
import { stringify } from "yaml";
import { Catalog } from "#registry";
import { withAliases } from "./catalogue.ts";
import { JsonlWriter, metricsFile } from "./jsonl-writer.ts";
import type { Metrics, MetricsWriter, Picture } from "./metric.ts";
import { knownRun, rememberRun } from "./service-runs.ts";
import { openSideLogger, type Service } from "./side-logger.ts";
import { TableWriter } from "./table-writer.ts";
import { TensorboardWriter } from "./tensorboard-writer.ts";

/** A service or file that a run's numbers go to, beside the files that every run writes. */
export interface LoggerFamily {
  open(settings: LoggerSettings, options: RunLogOptions): Promise<MetricsWriter>;
}

export const defineLogger = (family: LoggerFamily): LoggerFamily => family;

/** By the names in `runner.logger.logger_backends`. */
export const loggers = new Catalog<LoggerFamily>("logger", {
  tensorboard: { open: openTensorboard },
  wandb: { open: (settings, options) => openService("wandb", settings, options) },
  swanlab: { open: (settings, options) => openService("swanlab", settings, options) },
});

/** The keys of `runner.logger`, in the configs' own spelling. */
export interface LoggerSettings {
  readonly log_path: string;
  readonly project_name?: string | undefined;
  readonly experiment_name?: string | undefined;
  readonly logger_backends?: string | readonly string[] | null | undefined;
  readonly wandb_proxy?: string | null | undefined;
  readonly wandb_entity?: string | null | undefined;
  readonly swanlab_mode?: string | null | undefined;
}

export interface RunLogOptions {
  /** The resolved config, shown by the services beside the curves. */
  readonly config: unknown;
  /** The first step that will be written: not 0 for a resumed run. */
  readonly step?: number;
  readonly warn: (text: string) => void;
  /** Others who want every number: the terminal view. They get the names as given, without aliases. */
  readonly also?: readonly MetricsWriter[];
}

export async function openRunLog(settings: LoggerSettings, options: RunLogOptions): Promise<MetricsWriter> {
  const { log_path: folder } = settings;
  const { step = 0, also = [] } = options;
  const backends = parseBackends(settings.logger_backends);
  const services = await openServices(backends, settings, options);
  const files = [
    new JsonlWriter(metricsFile(folder), { step, warn: options.warn }),
    new TableWriter(join(folder, "metrics.log")),
  ];
  const writers: MetricsWriter[] = [...files, ...services];
  return {
    write(at: number, metrics: Metrics): void {
      const all = withAliases(metrics);
      for (const writer of writers) writer.write(at, all);
      for (const writer of also) writer.write(at, metrics);
    },
    show(at: number, name: string, picture: Picture): void {
      for (const writer of writers) writer.show?.(at, name, picture);
    },
    async close(): Promise<void> {
      await Promise.all([...writers, ...also].map((writer) => writer.close()));
    },
  };
}

export function parseBackends(value: LoggerSettings["logger_backends"]): string[] {
  const names = value === null ? [] : [value ?? "tensorboard"].flat();
  for (const name of names) loggers.find(name); // refuses strangers before anything is opened
  return [...new Set(names)];
}

/** As TensorBoard shows text: Markdown. */
const fenced = (text: string): string => `\`\`\`yaml\n${text}\n\`\`\``;

/** One service that cannot start closes those that did. */
async function openServices(
  backends: readonly string[],
  settings: LoggerSettings,
  options: RunLogOptions,
): Promise<MetricsWriter[]> {
  const open: MetricsWriter[] = [];
  try {
    for (const backend of backends) open.push(await loggers.find(backend).open(settings, options));
    return open;
  } catch (error) {
    await Promise.all(open.map((writer) => writer.close()));
    throw error;
  }
}

async function openTensorboard(settings: LoggerSettings, options: RunLogOptions): Promise<MetricsWriter> {
  const { step = 0, config } = options;
  const writer = new TensorboardWriter(join(settings.log_path, "tensorboard"), { step });
  writer.writeText(step, "config", fenced(stringify(config)));
  return writer;
}

async function openService(
  service: Service,
  settings: LoggerSettings,
  options: RunLogOptions,
): Promise<MetricsWriter> {
  // W&B makes a folder "wandb" of its own inside the one it is given.
  const folder = service === "wandb" ? settings.log_path : join(settings.log_path, service);
  const { step = 0, config, warn } = options;
  const proxy = settings.wandb_proxy ?? undefined;
  const own =
    service === "wandb"
      ? { mode: process.env.WANDB_MODE, entity: settings.wandb_entity ?? undefined, proxy }
      : { mode: process.env.SWANLAB_MODE ?? settings.swanlab_mode ?? undefined };
  const { project_name: project = "reverie", experiment_name: experiment = "run" } = settings;
  const run_id = step > 0 ? knownRun(settings.log_path, service, warn) : undefined;
  const opened = await openSideLogger({ service, project, experiment, folder, config, warn, run_id, ...own });
  const { id } = opened.facts;
  if (typeof id === "string") rememberRun(settings.log_path, service, id);
  return opened;
}
