/** Checkpoints and datasets that a configuration names and this machine does not have. */
import { existsSync } from "node:fs";
import type { RunConfig } from "./frame/index.ts";
import { type Problem, problem } from "./problem.ts";
import { type ConfigNode, type MapNode, nodeAt, type Path } from "./tree.ts";

/** Keys whose values are files or folders that must be there before a run. */
const fileKey =
  /(?:_path|^VAE_path|^from_pretrained|^pretrained_checkpoint|^resume_dir|^activity_instance_dir)$/;

/** What to do about a file that is not there, where somebody knows. */
export type WhereToGet = (file: string) => string | undefined;

export interface MissingOptions {
  /** An error when the run is about to start, a warning when it is only planned. */
  readonly severity: "error" | "warning";
  readonly whereToGet?: WhereToGet | undefined;
}

export function missingFiles(
  root: MapNode,
  config: RunConfig,
  { severity, whereToGet }: MissingOptions,
): Problem[] {
  const evaluates = config.runner.only_eval || config.runner.val_check_interval > 0;
  const sections: Path[] = [
    ["actor", "model"],
    ["rollout", "model"],
    ["env", "train"],
    ...(evaluates ? [["env", "eval"]] : []),
  ];
  const paths = sections.flatMap((section) => fileSettings(nodeAt(root, section), section));
  const runner = ["resume_dir", "ckpt_path"].map((key) => ["runner", key]);
  const { enabled, data } = config.runner.co_evolution;
  const recordings = enabled ? data.map((file) => ({ path: ["runner", "co_evolution", "data"], file })) : [];
  const named = [...paths, ...runner].flatMap((path) => {
    const node = nodeAt(root, path);
    const file = node?.kind === "scalar" && typeof node.value === "string" ? node.value : undefined;
    return file === undefined || file === "auto" ? [] : [{ path, file }];
  });
  const missing = [...named, ...recordings].filter(({ file }) => !existsSync(file));
  const folders = missing.map(({ file }) => `${file.replace(/\/+$/, "")}/`);
  // A folder that is not there is said once, not once more for each file in it.
  const inside = ({ file }: { file: string }): boolean =>
    folders.some((folder) => file.startsWith(folder) && file.length > folder.length);
  return missing
    .filter((each) => !inside(each))
    .map(({ path, file }) => problem(root, severity, path, missingText(file, whereToGet?.(file))));
}

const missingText = (file: string, hint: string | undefined): string =>
  `there is no ${file} on this machine${hint === undefined ? "" : `; ${hint}`}`;

function fileSettings(node: ConfigNode | undefined, path: Path): Path[] {
  if (node?.kind !== "map") return [];
  return [...node.entries].flatMap(([key, value]) =>
    value.kind === "map" ? fileSettings(value, [...path, key]) : fileKey.test(key) ? [[...path, key]] : [],
  );
}
