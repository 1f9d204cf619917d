/** Finds configuration files by name in a list of folders, the user's before ours. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { nearest, UserError } from "#registry";

/** The folder of the shipped configurations. */
export const shippedConfigs = fileURLToPath(new URL("../../examples/embodiment/config", import.meta.url));

export interface FoundFile {
  readonly path: string;
  readonly name: string; // for messages
}

export class SearchPath {
  readonly folders: readonly string[];

  constructor(folders: readonly string[]) {
    this.folders = [...new Set(folders.map((folder) => resolve(folder)))];
  }

  with(folders: readonly string[]): SearchPath {
    return new SearchPath([...this.folders, ...folders]);
  }

  /** `id` is a path without its ending, such as "env/libero_10". */
  find(id: string): FoundFile | undefined {
    for (const folder of this.folders) {
      for (const ending of [".yaml", ".yml"]) {
        const path = join(folder, id + ending);
        if (existsSync(path) && statSync(path).isFile()) return { path, name: nameOf(path) };
      }
    }
    return undefined;
  }

  hasGroup(group: string): boolean {
    return this.folders.some((folder) => isFolder(join(folder, group)));
  }

  /** The options of a group ("" for whole configurations), sorted. */
  options(group: string): string[] {
    const names = this.folders.flatMap((folder) => {
      const inside = join(folder, group);
      return isFolder(inside) ? readdirSync(inside) : [];
    });
    const options = names.filter((name) => /\.ya?ml$/.test(name)).map((name) => name.replace(/\.ya?ml$/, ""));
    return [...new Set(options)].sort();
  }

  missing(id: string): UserError {
    const group = dirname(id) === "." ? "" : dirname(id);
    const options = this.options(group);
    const guess = nearest(basename(id), options);
    const listed =
      options.length > 0 ? `there are:\n  ${options.join("\n  ")}` : "the folder is empty or absent";
    return new UserError(
      `no configuration "${id}" in ${this.folders.map(nameOf).join(", ")}; ` +
        (guess ? `did you mean "${guess}"?` : listed) +
        (group === "model" ? "\nRLinf has more policies than there are here" : ""),
    );
  }
}

/** A configuration given as a name ("libero_10_grpo_openvlaoft") or as the path of a YAML file. */
export function locate(given: string, configPath?: string): { search: SearchPath; id: string } {
  const folders = [...(configPath === undefined ? [] : [configPath]), shippedConfigs];
  if (/\.ya?ml$/.test(given) && existsSync(given) && statSync(given).isFile()) {
    return {
      search: new SearchPath([dirname(given), ...folders]),
      id: basename(given).replace(/\.ya?ml$/, ""),
    };
  }
  if (existsSync(given) && statSync(given).isFile())
    throw new UserError(`${given} is not a configuration: the name of one ends in .yaml`);
  if (/\.ya?ml$/.test(given)) throw new UserError(`there is no file ${given}`);
  return { search: new SearchPath(folders), id: given };
}

/** Relative to where the user stands when it is below it, else as it is. */
export function nameOf(path: string): string {
  const near = relative(process.cwd(), path);
  return near === "" || near.startsWith("..") || isAbsolute(near) ? path : near;
}

function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}
