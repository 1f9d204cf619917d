/** The resolved configuration as YAML, the way it is saved beside the results of a run. */
import { stringify } from "yaml";
import { type ConfigNode, plain } from "./tree.ts";

export function toYaml(node: ConfigNode): string {
  return stringify(plain(node), { lineWidth: 0 });
}
