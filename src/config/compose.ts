/**
 * Builds one configuration from a file, the presets that it names and the overrides of the command line.
 *
 * Hydra's rules (https://hydra.cc/docs/advanced/defaults_list), with two additions for its users' sake: a
 * preset that a file includes as `env/libero_10@env.train` can be exchanged with `env@env.train=libero_goal`
 * or `env/train=libero_goal`, and `env/train: x` finds `env/x.yaml` when there is no folder `env/train`.
 */
import { ownEntry, UserError } from "#registry";
import { type DefaultsEntry, readChoice, readDefaults } from "./defaults-list.ts";
import { type Environment, resolveInterpolations } from "./interpolation.ts";
import { mergeMaps, mount } from "./merge.ts";
import { applyOverride, type Override, parseOverride } from "./override.ts";
import { pluginsIn, pluginsKey, withPlugins } from "./plugin-files.ts";
import type { Problem } from "./problem.ts";
import type { SearchPath } from "./search-path.ts";
import { type ConfigNode, commandLine, type MapNode, map, type Origin, parsePath, placeOf } from "./tree.ts";
import { readYamlFile } from "./yaml-file.ts";

export interface ComposeOptions {
  readonly search: SearchPath;
  readonly id: string; // the primary file, without its ending
  readonly overrides?: readonly string[];
  readonly environment?: Environment;
  /** Settings that `key=value` may set although no file wrote them. */
  readonly mayAdd?: (path: readonly string[]) => boolean;
  /** Old names of groups: { training_backend: "hybrid_engines" }. */
  readonly groupAliases?: Readonly<Record<string, string>>;
}

export interface Composition {
  readonly root: MapNode; // interpolations not yet resolved, `hydra` and `defaults` taken out
  readonly primary: string; // the primary file's name, as in origins
  readonly files: readonly string[]; // every file that took part, in order
  readonly layers: readonly string[]; // the same, in the order in which their own keys were laid over each other
  readonly notes: readonly Problem[];
}

/** A choice for a group, from the command line or from an `override` line of the primary file. */
interface Choice {
  readonly group: string;
  readonly package?: string;
  readonly option: string | null;
  readonly text: string;
}

export function compose(options: ComposeOptions): Composition {
  const file = options.search.find(options.id);
  if (!file) throw options.search.missing(options.id);
  const primary = readYamlFile(file.path, file.name).content;
  const search = options.search.with(hydraFolders(primary, options.environment));
  const overrides = (options.overrides ?? []).map(parseOverride);
  const isChoice = (override: Override) => choosesGroup(override, search);
  const choices = overrides.filter(isChoice);
  const isAddition = (override: Override) => override.kind === "add";
  const builder = new Builder(
    search,
    choices.filter((o) => !isAddition(o)).map(toChoice),
    options.groupAliases ?? {},
  );
  let root = withPlugins(
    builder.primary(primary, file.name, choices.filter(isAddition).map(toChoice)),
    builder.plugins,
  );
  root = { ...root, entries: new Map([...root.entries].filter(([key]) => key !== "hydra")) };
  for (const override of overrides.filter((each) => !isChoice(each) && !each.key.startsWith("hydra."))) {
    root = applyOverride(root, override, options.mayAdd);
  }
  return { root, primary: file.name, files: builder.files, layers: builder.layers, notes: builder.notes };
}

/**
 * As in Hydra: a key names a group when it has a slash or an @, or when a folder of that name has options.
 */
function choosesGroup(override: Override, search: SearchPath): boolean {
  if (override.key.includes("/") || override.package !== undefined) return true;
  return (
    !override.key.includes(".") && search.hasGroup(override.key) && !/^\s*[{[]/.test(override.value ?? "")
  );
}

function toChoice(override: Override): Choice {
  const option = override.kind === "delete" || override.value === "null" ? null : (override.value ?? null);
  const at = override.package === undefined ? {} : { package: override.package };
  return { group: override.key, ...at, option, text: override.text };
}

/**
 * `hydra.searchpath` entries that are folders; those that need an unset variable are left out, as ours stand
 * in.
 */
function hydraFolders(primary: MapNode, environment: Environment | undefined): string[] {
  const hydra = primary.entries.get("hydra");
  const list = hydra?.kind === "map" ? hydra.entries.get("searchpath") : undefined;
  if (list?.kind !== "list") return [];
  return list.items.flatMap((item) => {
    try {
      const resolved = resolveInterpolations(map([["folder", item]], item.origin), environment).entries.get(
        "folder",
      );
      const text = resolved?.kind === "scalar" ? String(resolved.value) : "";
      return text.startsWith("pkg://") ? [] : [text.replace(/^file:\/\//, "")];
    } catch (error) {
      if (error instanceof UserError) return [];
      throw error;
    }
  });
}

class Builder {
  readonly files: string[] = [];
  readonly layers: string[] = [];
  readonly plugins: ConfigNode[] = [];
  readonly notes: Problem[] = [];
  readonly #search: SearchPath;
  readonly #choices: Choice[];
  readonly #used = new Set<Choice>();
  readonly #aliases: Readonly<Record<string, string>>;
  readonly #open: string[] = [];

  constructor(search: SearchPath, choices: readonly Choice[], aliases: Readonly<Record<string, string>>) {
    this.#search = search;
    this.#choices = [...choices];
    this.#aliases = aliases;
  }

  primary(content: MapNode, name: string, added: readonly Choice[]): MapNode {
    const items = readDefaults(content);
    for (const item of items)
      if (item !== "_self_" && item.override) this.#choices.push({ ...item, text: placeOf(item.origin) });
    const { presets, rest } = rootPresets(content, this.#search);
    const wished = presets.map((item) => ({ ...item, text: placeOf(item.origin) }));
    this.#choices.push(...wished);
    for (const { group, option, origin } of presets) this.#noteRootPreset(group, option, origin);
    let root = this.#include(rest, name, "", []);
    // Where the defaults name no such preset, it lies below all else.
    for (const item of wished) {
      if (this.#used.has(item)) continue;
      root = mergeMaps(this.#entry(item, "", []), root);
    }
    for (const choice of added) {
      const entry = { ...choice, optional: false, override: false, origin: commandLine };
      root = mergeMaps(root, this.#entry(entry, "", []));
    }
    const unused = this.#choices.find(
      (choice) => !this.#used.has(choice) && !choice.group.startsWith("hydra/"),
    );
    if (unused) {
      throw new UserError(
        `"${unused.text}": no preset of the group ${unused.group} is in the defaults of ${name}; to add one write +${unused.text}`,
      );
    }
    return root;
  }

  /** The file's presets and its own keys, in the order of its defaults list. */
  #include(content: MapNode, name: string, group: string, at: readonly string[]): MapNode {
    if (this.#open.includes(name)) throw new UserError(`${name} includes itself: ${this.#open.join(" → ")}`);
    this.#open.push(name);
    this.files.push(name);
    this.plugins.push(...pluginsIn(content, name));
    const own = mount({ ...content, entries: withoutDefaults(content) }, at);
    let result = map([], content.origin);
    for (const item of readDefaults(content)) {
      if (item === "_self_") {
        this.layers.push(name);
        result = mergeMaps(result, own);
      } else if (!item.override) result = mergeMaps(result, this.#entry(item, group, at));
    }
    this.#open.pop();
    return result;
  }

  #entry(entry: DefaultsEntry, parentGroup: string, parentAt: readonly string[]): MapNode {
    if (entry.group.startsWith("hydra")) return map([], entry.origin);
    const group = absoluteGroup(entry.group, parentGroup, this.#aliases);
    const at = packageOf(entry, group, parentGroup, parentAt);
    const choice = this.#choiceFor(entry.group, group, at);
    const option = choice ? choice.option : entry.option;
    if (option === null) return map([], entry.origin);
    const found = this.#findOption(group, option);
    if (!found) {
      if (entry.optional) return map([], entry.origin);
      const where = choice ? `"${choice.text}"` : placeOf(entry.origin);
      throw new UserError(`${where}: ${this.#search.missing(join(group, option)).message}`);
    }
    const file = readYamlFile(found.path, found.name);
    const header = entry.package === undefined ? file.package : undefined;
    return this.#include(
      file.content,
      found.name,
      group,
      header === undefined ? at : headerPackage(header, at),
    );
  }

  #noteRootPreset(group: string, option: string | null, origin: Origin): void {
    const message = `understood as the preset "${group}: ${option}" of defaults`;
    this.notes.push({ severity: "note", path: group, place: placeOf(origin), message });
  }

  #choiceFor(written: string, group: string, at: readonly string[]): Choice | undefined {
    const here = at.join(".");
    const fits = (choice: Choice): boolean =>
      choice.package === undefined
        ? choice.group.replaceAll("/", ".") === here
        : choice.package === here && [written, group].includes(choice.group);
    const matching = this.#choices.filter(fits);
    for (const choice of matching) this.#used.add(choice);
    // The command line comes first in the list and wins over `override` lines; its own last word wins.
    return matching.findLast((choice) => !choice.text.includes(":")) ?? matching.at(-1);
  }

  #findOption(group: string, option: string): ReturnType<SearchPath["find"]> {
    const direct = this.#search.find(join(group, option));
    if (direct || !group.includes("/")) return direct;
    return this.#search.find(join(group.slice(0, group.lastIndexOf("/")), option));
  }
}

/** `env/train: NAME` among a file's own keys, as some guides print it: a preset, for want of a list around it. */
function rootPresets(content: MapNode, search: SearchPath): { presets: DefaultsEntry[]; rest: MapNode } {
  const isPreset = ([key, value]: readonly [string, ConfigNode]): boolean =>
    key.includes("/") && value.kind === "scalar" && search.hasGroup(key.slice(0, key.indexOf("/")));
  const entries = [...content.entries];
  const presets = entries.filter(isPreset).map(([key, value]) => readChoice(key, value, value.origin));
  const rest = entries.filter((entry) => !isPreset(entry));
  return { presets, rest: { ...content, entries: new Map(rest) } };
}

function withoutDefaults(content: MapNode): MapNode["entries"] {
  return new Map([...content.entries].filter(([key]) => key !== "defaults" && key !== pluginsKey));
}

function join(group: string, option: string): string {
  return group === "" ? option : `${group}/${option}`;
}

function absoluteGroup(group: string, parent: string, aliases: Readonly<Record<string, string>>): string {
  const full = group.startsWith("/") ? group.slice(1) : [parent, group].filter(Boolean).join("/");
  return ownEntry(aliases, full) ?? full;
}

function packageOf(
  entry: DefaultsEntry,
  group: string,
  parentGroup: string,
  parentAt: readonly string[],
): string[] {
  const written = entry.package;
  if (written !== undefined) {
    if (written === "_here_" || written === "") return [...parentAt];
    if (written === "_group_") return group.split("/");
    if (written === "_global_") return [];
    if (written.startsWith("_global_.")) return parsePath(written.slice("_global_.".length));
    return [...parentAt, ...parsePath(written)];
  }
  const inner = group.startsWith(`${parentGroup}/`) ? group.slice(parentGroup.length + 1) : group;
  const steps = inner.split("/").filter(Boolean);
  return entry.group.startsWith("/") || parentGroup === ""
    ? group.split("/").filter(Boolean)
    : [...parentAt, ...steps];
}

function headerPackage(header: string, at: readonly string[]): readonly string[] {
  if (header === "_global_") return [];
  if (header === "_group_" || header === "_here_") return at;
  return parsePath(header.replace(/^_global_\./, ""));
}
