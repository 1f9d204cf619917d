/** What there is of each kind: from the registries, the shipped files and this machine's folders, never from a list typed here. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export type Row = Readonly<Record<string, string | number | boolean>>;

/** Each loads what it needs. */
export const kinds: Readonly<Record<string, (of?: string) => Promise<readonly Row[]>>> = {
  configs: async () => {
    const { SearchPath, shippedConfigs } = await import("#config");
    return new SearchPath([shippedConfigs]).options("").map((name) => {
      const file = join(shippedConfigs, `${name}.yaml`);
      return { name, about: firstComment(file), file };
    });
  },

  suites: async () => {
    const { findSuite, suiteNames } = await import("#simulators");
    return suiteNames().map((name) => {
      const { tasks } = findSuite(name);
      return { name, tasks: tasks.length, stored_starts: startsOf(findSuite(name)) };
    });
  },

  tasks: async (suite) => {
    const { findSuite, suiteNames } = await import("#simulators");
    return (suite === undefined ? suiteNames() : [suite]).flatMap((name) =>
      findSuite(name).tasks.map((task, number) => ({
        suite: name,
        number,
        name: task.name,
        says: task.language,
      })),
    );
  },

  policies: async () => {
    const { policies } = await import("#policies");
    const { SearchPath, shippedConfigs } = await import("#config");
    const models = new SearchPath([shippedConfigs]).options("model").map((name) => {
      const text = readFileSync(join(shippedConfigs, "model", `${name}.yaml`), "utf8");
      return { name: `model/${name}`, type: /^model_type: *"?(\w+)/m.exec(text)?.[1] };
    });
    return policies.names().map((name) => ({
      model_type: name,
      presets: models.flatMap((model) => (model.type === name ? [model.name] : [])).join(", "),
    }));
  },

  algorithms: async () => {
    const { algorithms } = await import("#algorithms");
    const rows = algorithms.names().map(async (name) => {
      const { name: method, needsCritic, groups } = await algorithms.get(name);
      const loss_type = needsCritic ? "actor_critic" : "actor";
      return { adv_type: name, method, loss_type, critic: needsCritic, groups };
    });
    return Promise.all(rows);
  },

  worlds: async () => {
    const { envTypeOf, worlds } = await import("#worlds");
    const here = await modelFolders();
    return worlds.names().map((family) => ({
      family,
      env_type: envTypeOf(family),
      folders: here.flatMap((one) => (one.family === family ? [one.folder] : [])).join(", "),
    }));
  },

  models: async () => {
    const policies = (await modelFolders()).filter(({ family }) => family === undefined);
    return policies.map(({ folder, path }) => ({ folder, architecture: architectureOf(path) }));
  },
};

/** The sentence that every shipped configuration begins with. */
function firstComment(file: string): string {
  const [line = ""] = readFileSync(file, "utf8").split("\n", 1);
  return line.startsWith("#") ? line.replace(/^#\s*/, "") : "";
}

/** Of a suite whose files are not fetched yet, nobody knows. */
function startsOf({ pack, tasks }: import("#simulators").Suite): number | string {
  try {
    return tasks.reduce((sum, task) => sum + pack.readInitStates(task).count, 0);
  } catch {
    return "not fetched: reverie fetch libero";
  }
}

const shipped = fileURLToPath(new URL("../../../checkpoints", import.meta.url));

interface ModelFolder {
  readonly path: string;
  readonly folder: string; // as the user would type it
  readonly family: string | undefined; // of a world; policies have none
}

/** Those that came along, and those that `reverie fetch OWNER/NAME` brought. */
async function modelFolders(): Promise<ModelFolder[]> {
  const { repositoryFolder } = await import("../fetch-model/index.ts");
  const { recognizeWorld } = await import("#worlds");
  const fetched = foldersIn(repositoryFolder({ kind: "model", name: "" })).flatMap(foldersIn);
  const found = [...foldersIn(shipped), ...fetched].map(async (path) => {
    const family = (await recognizeWorld(path).catch(() => undefined))?.name;
    return { path, folder: nearby(path), family };
  });
  return (await Promise.all(found)).filter(
    ({ path, family }) => family !== undefined || existsSync(join(path, "config.json")),
  );
}

const foldersIn = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => join(folder, name))
    : [];

function architectureOf(folder: string): string {
  try {
    const { model_type: type = "" } = JSON.parse(readFileSync(join(folder, "config.json"), "utf8"));
    return String(type);
  } catch {
    return "config.json cannot be read";
  }
}

const nearby = (folder: string): string => {
  const path = relative(process.cwd(), folder);
  return path.startsWith("..") ? folder : path;
};
