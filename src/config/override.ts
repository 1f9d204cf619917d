/**
 * Overrides from the command line, in Hydra's words.
 *
 * `key=value` changes a setting that exists · `+key=value` adds one · `++key=value` does either · `~key` takes one
 * away (`~key=value` only if it has that value) · `group=option`, `group@package=option` choose another preset.
 */
import { nearest, UserError } from "#registry";
import { merge } from "./merge.ts";
import {
  type ConfigNode,
  commandLine,
  type MapNode,
  nodeAt,
  parsePath,
  plain,
  valueText,
  withValue,
} from "./tree.ts";
import { parseValue } from "./value-grammar.ts";

export interface Override {
  readonly kind: "change" | "add" | "force" | "delete";
  readonly key: string; // "env.train.group_size", or a group such as "env/train"
  readonly package?: string; // after an @
  readonly value?: string; // undefined for `~key`
  readonly text: string; // as typed
}

const kinds = { "++": "force", "+": "add", "~": "delete", "": "change" } as const;

export function parseOverride(text: string): Override {
  const [, sign = "", key = "", at, value] =
    /^(\+\+|\+|~|)([^@=]+?)(?:@([^=]*))?(?:=([\s\S]*))?$/.exec(text) ?? [];
  const kind = kinds[sign as keyof typeof kinds];
  if (
    !/^[\w,$ -]*\w[\w,$ -]*(?:[./][\w,$ -]*\w[\w,$ -]*)*$/.test(key) ||
    (value === undefined && kind !== "delete")
  ) {
    throw new UserError(`"${text}" is not an override; expected key=value, +key=value, ++key=value or ~key`);
  }
  if (value !== undefined && /^(?:choice|range|interval|glob|shuffle|sort)\(.*\)$/.test(value.trim())) {
    throw new UserError(`"${text}" is a sweep over several runs; start one run per value instead`);
  }
  return {
    kind,
    key: key.trim(),
    ...(at !== undefined && { package: at }),
    ...(value !== undefined && { value }),
    text,
  };
}

/** `mayAdd` says which settings a schema knows, so that `key=value` may set those that no file wrote. */
export function applyOverride(
  root: MapNode,
  override: Override,
  mayAdd: (path: readonly string[]) => boolean = () => false,
): MapNode {
  const path = parsePath(override.key);
  const old = nodeAt(root, path);
  if (override.kind === "delete") return deleteKey(root, override, old);
  const value = parseValue(override.value ?? "", commandLine);
  if (override.kind === "add" && old && old.kind !== "map") {
    throw new UserError(
      `"${override.text}": ${override.key} is already set; to change it write ${override.key}=…`,
    );
  }
  if (override.kind === "change" && !old && !mayAdd(path)) throw unknownKey(root, override);
  return withValue(root, path, old ? merge(old, value) : value);
}

function deleteKey(root: MapNode, override: Override, old: ConfigNode | undefined): MapNode {
  if (!old) throw unknownKey(root, override);
  if (override.value !== undefined) {
    const [wanted, found] = [parseValue(override.value, commandLine), old].map((node) =>
      valueText(plain(node)),
    );
    if (found !== wanted) {
      throw new UserError(`"${override.text}": ${override.key} has another value: ${found}`);
    }
  }
  return withValue(root, parsePath(override.key), undefined);
}

function unknownKey(root: MapNode, override: Override): UserError {
  const path = parsePath(override.key);
  const parent = nodeAt(root, path.slice(0, -1));
  const siblings = parent?.kind === "map" ? [...parent.entries.keys()] : [];
  const guess = nearest(path.at(-1) ?? "", siblings);
  const hint = guess ? `did you mean ${[...path.slice(0, -1), guess].join(".")}?` : "";
  const add = override.kind === "delete" ? "" : `to add a new setting write +${override.key}=…`;
  return new UserError(
    [`"${override.text}": there is no setting ${override.key}`, [hint, add].filter(Boolean).join(" ")]
      .filter(Boolean)
      .join("; "),
  );
}
