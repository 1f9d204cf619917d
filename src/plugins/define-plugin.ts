/**
 * A plugin: families of a user's own, each under the name by which a configuration asks for it.
 *
 * Nothing is registered when the file is read, only when the plugin is installed; and nothing at all where one of the names is taken.
 */
import { type AlgorithmFamily, algorithms } from "#algorithms";
import { type EnvFamily, environments } from "#envs";
import { type LoggerFamily, loggers } from "#metrics";
import { type PolicyFamily, policies } from "#policies";
import { type Catalog, type Plugin, UserError } from "#registry";
import { type RewardFamily, rewards } from "#rewards";
import { type SuiteEntry, suites } from "#simulators";
import { type WorldTraining, worldTrainings } from "#world-training";
import { type WorldFamily, worlds } from "#worlds";

type Named<T> = Readonly<Record<string, T>>;

export interface PluginParts {
  /** By `env_type`. */
  readonly envs?: Named<EnvFamily>;
  /** By `model_type`. */
  readonly policies?: Named<PolicyFamily>;
  /** By `adv_type`. */
  readonly algorithms?: Named<AlgorithmFamily>;
  /** By the name of the family. */
  readonly worlds?: Named<WorldFamily>;
  /** By the name of the family: how its worlds are made by `reverie world`. */
  readonly worldTrainings?: Named<WorldTraining>;
  /** By `reward_model.type`. */
  readonly rewards?: Named<RewardFamily>;
  /** By `task_suite_name`. */
  readonly suites?: Named<SuiteEntry>;
  /** By the name in `logger_backends`. */
  readonly loggers?: Named<LoggerFamily>;
}

/** One entry to be, whatever its kind. */
interface Entry {
  require(): void;
  add(): void;
}

const entriesOf = <T, E>(catalog: Catalog<E>, parts: Named<T> | undefined, as: (part: T) => E): Entry[] =>
  Object.entries(parts ?? {}).map(([name, part]) => ({
    require: () => catalog.requireFree(name),
    add: () => catalog.register(name, as(part)),
  }));

const lazily =
  <T>(part: T) =>
  async (): Promise<T> =>
    part;
const asIs = <T>(part: T): T => part;

const kinds: readonly (keyof PluginParts)[] = [
  "envs",
  "policies",
  "algorithms",
  "worlds",
  "worldTrainings",
  "rewards",
  "suites",
  "loggers",
];

export function definePlugin(parts: PluginParts): Plugin {
  const strange = Object.keys(parts).filter((key) => !(kinds as readonly string[]).includes(key));
  if (strange.length > 0)
    throw new UserError(`a plugin has no "${strange.join('", "')}"; it may have: ${kinds.join(", ")}`);
  return {
    install() {
      const entries = [
        ...entriesOf(environments, parts.envs, lazily),
        ...entriesOf(policies, parts.policies, lazily),
        ...entriesOf(algorithms, parts.algorithms, lazily),
        ...entriesOf(worlds, parts.worlds, lazily),
        ...entriesOf(worldTrainings, parts.worldTrainings, lazily),
        ...entriesOf(rewards, parts.rewards, asIs),
        ...entriesOf(suites, parts.suites, asIs),
        ...entriesOf(loggers, parts.loggers, asIs),
      ];
      for (const entry of entries) entry.require();
      for (const entry of entries) entry.add();
    },
  };
}
