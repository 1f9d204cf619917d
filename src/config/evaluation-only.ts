/**
 * What a run that only evaluates may leave out: RLinf's evaluation files have no `algorithm`, no `actor` and no
 * `env.train`, and describe the policy in `rollout.model`.
 *
 * The rest of the room sees a whole configuration: what is missing is filled in, and remarks about it, or about settings
 * that only training reads, are left out.
 */
import { mergeMaps } from "./merge.ts";
import type { Problem } from "./problem.ts";
import { fromPlain, type MapNode, nodeAt, type Plain, parsePath, plain, withValue } from "./tree.ts";

export function evaluatesOnly(root: MapNode): boolean {
  const node = nodeAt(root, ["runner", "only_eval"]);
  return node !== undefined && plain(node) === true;
}

/** The policy of `rollout.model` as `actor.model`, where only it says which policy that is. Before old names are understood. */
export function withPolicyOfRollout(root: MapNode): MapNode {
  const [rollout, actor] = [nodeAt(root, ["rollout", "model"]), nodeAt(root, ["actor", "model"])];
  const named = (node: typeof actor): boolean =>
    node?.kind === "map" && (node.entries.has("model_type") || node.entries.has("model_name"));
  if (rollout?.kind !== "map" || !named(rollout) || named(actor)) return root;
  const model = actor?.kind === "map" ? mergeMaps(rollout, actor) : rollout;
  return withValue(root, ["actor", "model"], model);
}

export interface Completed {
  readonly root: MapNode;
  /** Sections that no file wrote: no family checks them. */
  readonly made: readonly string[];
}

/** What only training would read, with values that it would accept. */
const unread: Readonly<Record<string, Plain>> = {
  "runner.max_epochs": 0,
  "runner.save_interval": -1,
  "algorithm.adv_type": "none",
  "algorithm.loss_type": "none",
  "algorithm.group_size": 1,
  "actor.training_backend": "fsdp",
  "actor.micro_batch_size": 1,
  "actor.global_batch_size": 1,
  "actor.optim.lr": 1e-6,
  "actor.optim.clip_grad": 1,
};

export function withoutTraining(root: MapNode): Completed {
  const made = [
    ...(nodeAt(root, ["env", "train"]) ? [] : ["env.train"]),
    ...(nodeAt(root, ["algorithm", "adv_type"]) ? [] : ["algorithm"]),
  ];
  let current = root;
  const fill = (key: string, value: Plain): void => {
    const path = parsePath(key);
    const absent = !nodeAt(current, path) && nodeAt(current, path.slice(0, -1))?.kind !== "scalar";
    if (absent) current = withValue(current, path, fromPlain(value, root.origin));
  };
  for (const [key, value] of Object.entries(unread)) fill(key, value);
  const [played, decides] = [
    ["env", "eval"],
    ["cluster", "component_placement", "rollout"],
  ].map((path) => nodeAt(root, path));
  if (played) fill("env.train", plain(played));
  if (decides) fill("cluster.component_placement.actor", plain(decides));
  return { root: current, made };
}

const ofTraining =
  /^(env\.train|algorithm|actor\.(optim|fsdp_config|micro_batch_size|global_batch_size|model\.(add_value_head|value_type))|runner\.(save_interval|val_check_interval|use_training_pipeline|co_evolution|stop_when_gap_grows))(\.|$)/;

/** Whether an evaluation has reason to hear of it. */
export const concernsEvaluation = ({ path }: Problem): boolean => !ofTraining.test(path);

/** Whether it is about a section that the user wrote. */
export const isWritten =
  ({ made }: Completed) =>
  ({ path }: Problem): boolean =>
    !made.some((section) => path === section || path.startsWith(`${section}.`));
