/**
 * From a name and overrides to a checked configuration, or to every error at once, each with file and line.
 *
 * compose → resolve → understand old keys → frame → families → rules. Nothing has started when this returns
 * or throws.
 */
import type { FamilySettings } from "#registry";
import { UserError } from "#registry";
import { sayingAll } from "./all-errors.ts";
import type { RankCounts } from "./batch.ts";
import { withBundledFiles } from "./bundled-files.ts";
import { compose } from "./compose.ts";
import {
  type Completed,
  concernsEvaluation,
  evaluatesOnly,
  isWritten,
  withoutTraining,
  withPolicyOfRollout,
} from "./evaluation-only.ts";
import {
  type ChosenFamilies,
  checkSection,
  type Families,
  type FamilyLookup,
  type SectionResult,
} from "./family-section.ts";
import { environmentFrame, frameKnows, modelFrame, type RunConfig, runFrame } from "./frame/index.ts";
import { ineffectiveKeys } from "./ineffective.ts";
import { type Environment, resolveInterpolations } from "./interpolation.ts";
import { laterWord } from "./later-word.ts";
import { groupAliases, migrateLegacyKeys } from "./legacy.ts";
import { misplacedValues } from "./misplaced-values.ts";
import { missingFiles, type WhereToGet } from "./missing-files.ts";
import { type ClusterShape, clusterShape, type Placement, placeComponents } from "./placement.ts";
import { joinPlacementKeys } from "./placement-keys.ts";
import { readPlugins } from "./plugin-files.ts";
import { type Problem, problem, refuseErrors, schemaProblems } from "./problem.ts";
import { explained } from "./refusals.ts";
import { findings } from "./rules.ts";
import { keysAt, shapeOf } from "./schema-keys.ts";
import { locate } from "./search-path.ts";
import {
  commandLine,
  fromPlain,
  type MapNode,
  nodeAt,
  type Path,
  parsePath,
  plain,
  withValue,
} from "./tree.ts";

export interface ReadOptions {
  readonly overrides?: readonly string[];
  readonly configPath?: string; // searched before the shipped configurations
  readonly families: Families;
  readonly devices?: number; // accelerators of this cluster; default 0
  readonly environment?: Environment;
  /**
   * Refuse a configuration whose checkpoints or datasets are not on this machine, or whose environment cannot
   * be played here; otherwise that is a warning.
   */
  readonly requireFiles?: boolean;
  readonly whereToGet?: WhereToGet;
}

export interface CheckedConfig {
  readonly name: string;
  readonly config: RunConfig;
  readonly tree: MapNode; // resolved, with places
  readonly files: readonly string[];
  readonly problems: readonly Problem[]; // warnings and notes
  readonly families: ChosenFamilies;
  readonly shape: ClusterShape;
  readonly placement: Placement;
  readonly ranks: RankCounts;
}

/** Mistakes of the command line hide no others: what is found without them is said in the same breath. */
export const readConfig = (given: string, options: ReadOptions): Promise<CheckedConfig> =>
  sayingAll(given, options.overrides ?? [], (overrides) => check(given, { ...options, overrides }));

async function check(given: string, options: ReadOptions): Promise<CheckedConfig> {
  const { search, id } = locate(given, options.configPath);
  const environment = options.environment ?? process.env;
  const overrides = options.overrides ?? [];
  const composition = compose({ search, id, overrides, environment, mayAdd: frameKnows, groupAliases });
  refuseErrors(misplacedValues(composition.root), given);
  const isLater = laterWord(composition.layers);
  const resolved = withBundledFiles(resolveInterpolations(composition.root, environment));
  await readPlugins(resolved, given);
  const onlyEvaluates = evaluatesOnly(resolved);
  const migration = migrateLegacyKeys(onlyEvaluates ? withPolicyOfRollout(resolved) : resolved, isLater);
  const joined = joinPlacementKeys(migration.root, isLater);
  const whole = onlyEvaluates ? withoutTraining(joined) : { root: joined, made: [] };
  const aligned = await alignGroups(alignValues(whole.root), composition.primary, options.families);
  const problems: Problem[] = [...composition.notes, ...migration.notes, ...aligned.notes];
  const {
    config,
    families,
    problems: unevaluated,
  } = await checkSchemas({ ...whole, root: aligned.root }, options.families, given);
  const { shape, placement, ranks } = place(aligned.root, config, options.devices ?? 0);
  const severity = options.requireFiles ? "error" : "warning";
  const found = [
    ...unevaluated,
    ...findings(config, ranks, families).map((each) =>
      problem(aligned.root, each.severity ?? "error", parsePath(each.path), each.message),
    ),
    ...familyFindings(aligned.root, config, families, severity),
    ...ineffectiveKeys(aligned.root, config, families),
    ...missingFiles(aligned.root, config, { severity, whereToGet: options.whereToGet }),
  ];
  problems.push(...(onlyEvaluates ? found.filter(concernsEvaluation) : found));
  refuseErrors(problems, given);
  return {
    name: id,
    config,
    tree: aligned.root,
    files: composition.files,
    problems,
    families,
    shape,
    placement,
    ranks,
  };
}

/**
 * Where only a preset says how large env.train's groups are, the algorithm's size is meant: the reference's
 * own libero_10_grpo_openvlaoft lacks the line. A size written in the run's file or on the command line is
 * left to the rules.
 */
async function alignGroups(
  root: MapNode,
  primary: string,
  lookup: Families,
): Promise<{ root: MapNode; notes: Problem[] }> {
  const path = ["env", "train", "group_size"];
  const [ours, theirs] = [nodeAt(root, path), nodeAt(root, ["algorithm", "group_size"])];
  if (!theirs || (ours && plain(ours) === plain(theirs)) || !(await comparesGroups(root, lookup)))
    return { root, notes: [] };
  if (ours && [primary, commandLine.file].includes(ours.origin.file)) return { root, notes: [] };
  const note = problem(
    root,
    "note",
    path,
    `taken from algorithm.group_size (${plain(theirs)}), so that a group shares its initial state`,
  );
  return { root: withValue(root, path, fromPlain(plain(theirs), theirs.origin)), notes: [note] };
}

/** Of an algorithm that does not exist nothing is said here: the check of its section will. */
async function comparesGroups(root: MapNode, { algorithm }: Families): Promise<boolean> {
  const type = nodeAt(root, ["algorithm", "adv_type"]);
  const name = type && plain(type);
  if (typeof name !== "string") return false;
  return algorithm(name).then(
    ({ groups }) => groups,
    () => false,
  );
}

/** Values have the shape of the rewards that they predict, unless a file says otherwise. */
function alignValues(root: MapNode): MapNode {
  const path = ["actor", "model", "value_type"];
  const rewards = nodeAt(root, ["algorithm", "reward_type"]);
  if (!rewards || nodeAt(root, path) || nodeAt(root, path.slice(0, -1))?.kind !== "map") return root;
  return withValue(root, path, rewards);
}

async function checkSchemas(
  whole: Completed,
  lookup: Families,
  what: string,
): Promise<{ config: RunConfig; families: ChosenFamilies; problems: readonly Problem[] }> {
  const { root, made } = whole;
  const frame = runFrame.safeParse(plain(root));
  const known = (path: Path): string[] => keysAt(runFrame, path);
  const frameProblems = frame.success ? [] : schemaProblems(root, [], frame.error, known);
  const section = <Family extends FamilySettings>(
    at: string,
    key: string,
    schema: unknown,
    find: FamilyLookup<Family>,
  ) => checkSection(root, parsePath(at), key, schema, find);
  const absent: SectionResult<never> = { values: {}, problems: [] };
  const [train, evaluation, policy, algorithm] = await Promise.all([
    made.includes("env.train")
      ? absent
      : section("env.train", "env_type", environmentFrame, lookup.environment),
    nodeAt(root, ["env", "eval"])
      ? section("env.eval", "env_type", environmentFrame, lookup.environment)
      : absent,
    section("actor.model", "model_type", modelFrame, lookup.policy),
    made.includes("algorithm") ? absent : section("algorithm", "adv_type", undefined, lookup.algorithm),
  ]);
  // An evaluation that never happens need not be complete.
  const evaluates = !frame.success || frame.data.runner.only_eval || frame.data.runner.val_check_interval > 0;
  const needed = evaluates ? [train, evaluation, policy, algorithm] : [train, policy, algorithm];
  const strangers = frame.success ? unknownLoggers(root, frame.data, lookup) : [];
  const found = [...frameProblems, ...strangers, ...needed.flatMap((part) => part.problems)];
  refuseErrors(found.filter(isWritten(whole)).map(explained), what);
  if (!frame.success) throw new Error("internal: a refused configuration went on");
  const config = frame.data;
  return {
    problems: evaluates ? [] : evaluation.problems.map((each) => ({ ...each, severity: "warning" as const })),
    config: {
      ...config,
      algorithm: { ...config.algorithm, ...algorithm.values },
      env: {
        ...config.env,
        train: joined(config.env.train, train, environmentFrame),
        ...(config.env.eval && { eval: joined(config.env.eval, evaluation, environmentFrame) }),
      },
      actor: { ...config.actor, model: joined(config.actor.model, policy, modelFrame) },
    },
    families: {
      ...(train.family && { train: train.family }),
      ...(evaluation.family && { eval: evaluation.family }),
      ...(policy.family && { policy: policy.family }),
      ...(algorithm.family && { algorithm: algorithm.family }),
    },
  };
}

function unknownLoggers(root: MapNode, { runner }: RunConfig, { logger }: Families): Problem[] {
  return runner.logger.logger_backends.flatMap((name) => {
    try {
      logger(name);
      return [];
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      return [problem(root, "error", ["runner", "logger", "logger_backends"], error.message)];
    }
  });
}

/** The family's parsed keys, and the frame's own over them. */
function joined<T extends object>(section: T, { values }: SectionResult, frame: unknown): T {
  const own = Object.keys(shapeOf(frame) ?? {});
  const kept = Object.entries(section).filter(([key]) => own.includes(key));
  return { ...section, ...values, ...Object.fromEntries(kept) };
}

function place(root: MapNode, config: RunConfig, devices: number) {
  try {
    const shape = clusterShape(config.cluster, devices);
    const placement = placeComponents(config.cluster, shape);
    const size = (name: string): number => {
      const count = placement.get(name)?.length;
      if (count === undefined) throw new UserError(`component_placement does not place ${name}`);
      return count;
    };
    return { shape, placement, ranks: { env: size("env"), rollout: size("rollout"), actor: size("actor") } };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    refuseErrors(
      [problem(root, "error", ["cluster", "component_placement"], error.message)],
      "the placement",
    );
    throw error;
  }
}

function familyFindings(
  root: MapNode,
  config: RunConfig,
  families: ChosenFamilies,
  severity: "error" | "warning",
): Problem[] {
  const sections = [
    ["env.train", families.train, config.env.train],
    ["env.eval", families.eval, config.env.eval],
    ["actor.model", families.policy, config.actor.model],
    ["algorithm", families.algorithm, config.algorithm],
  ] as const;
  return sections.flatMap(([at, family, settings]) => {
    if (!family || !settings) return [];
    const found = family.check?.(settings, config) ?? [];
    const stuck = at.startsWith("env.") && settings.enable_offload === true && family.offload !== true;
    const name = parsePath(at.startsWith("env.") ? `${at}.env_type` : at);
    const idle = at === "env.eval" && !config.runner.only_eval && config.runner.val_check_interval <= 0;
    const idleKeys = Object.entries(family.unused ?? {}).filter(([key]) => {
      const node = nodeAt(root, parsePath(`${at}.${key}`));
      return node !== undefined && plain(node) !== false;
    });
    return [
      ...idleKeys.map(([key, why]) =>
        problem(root, "warning", parsePath(`${at}.${key}`), `has no effect: ${why}`),
      ),
      ...(family.unplayable === undefined || idle ? [] : [problem(root, severity, name, family.unplayable)]),
      ...found.map((each) =>
        problem(root, each.severity ?? "error", parsePath(`${at}.${each.path}`), each.message),
      ),
      ...(stuck
        ? [
            problem(
              root,
              "warning",
              parsePath(`${at}.enable_offload`),
              "has no effect: this environment holds nothing on the accelerator",
            ),
          ]
        : []),
    ];
  });
}
