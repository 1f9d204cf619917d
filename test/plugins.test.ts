/** Plugins: files of a user's own code, named in a configuration or on the command line, read before anything is looked up. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { environments } from "#envs";
import { loadedPlugins, loadPlugins } from "#registry";
import { readRun } from "#training";
import { compareSettings, settingsOf } from "../src/training/run-folder/settings-changes.ts";

const folder = mkdtempSync(join(tmpdir(), "reverie-plugins-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const write = (name: string, text: string): string => {
  const path = join(folder, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
  return path;
};

/** A plugin with one environment, whose words are all that differs. */
const envPlugin = (name: string): string => `
import { definePlugin, episodeEnv, z } from "reverie";
import { answer } from "./beside-${name}";
const env = episodeEnv({
  settings: z.strictObject({ limit: z.number().default(answer) }),
  tasks: ["wait"], startsPerTask: 3, actionSize: 7, picture: { height: 8, width: 8 },
  begin: () => ({ act: (): boolean => false, draw() {} }),
});
export const plugin = definePlugin({ envs: { ${name}: env } });
`;
const withEnv = (name: string, path = `${name}.ts`): string => {
  write(join(path, "..", `beside-${name}.ts`), "export const answer: number = 42;\n");
  return write(path, envPlugin(name));
};

const config = (plugins: string, env: string): string => `
defaults:
  - model/openvla_oft_mini@actor.model
  - base/embodied@_global_
  - base/grpo@_global_
  - _self_
${plugins}
algorithm: { group_size: 2 }
env:
  train: { env_type: ${env}, total_num_envs: 4, max_episode_steps: 8, max_steps_per_rollout_epoch: 8 }
actor: { micro_batch_size: 2, global_batch_size: 4, optim: { lr: 1.0e-4, clip_grad: 1.0 } }
`;

test("a path is relative to the file that names it, and the family is checked with its own schema", async () => {
  withEnv("near", "inner/near.ts");
  const path = write("inner/near.yaml", config("plugins: [./near.ts]", "near"));
  const { config: read } = await readRun(path);
  assert.equal((read.env.train as { limit?: number }).limit, 42);
  assert.deepEqual(read.plugins, [join(folder, "inner/near.ts")]);
  await assert.rejects(readRun(path, { overrides: ["+env.train.limits=3"] }), /env\.train\.limits: no such/);
});

test("plugins of all files of a configuration add up", async () => {
  withEnv("first", "presets/first.ts");
  withEnv("second");
  write("presets/with_first.yaml", "# @package _global_\nplugins: [./first.ts]\nrunner: { max_epochs: 1 }\n");
  const text = config("plugins: [./second.ts]", "first").replace(
    "  - _self_",
    "  - presets/with_first@_global_\n  - _self_",
  );
  const { config: read } = await readRun(write("both.yaml", text));
  assert.deepEqual(
    read.plugins.map((path) => path.slice(folder.length + 1)),
    ["second.ts", "presets/first.ts"],
  );
  assert.ok(environments.has("first") && environments.has("second"));
});

test("what is wrong with a plugin is said with the line that names it", async () => {
  const broken = write("broken.ts", 'const x: number = 1;\nthrow new Error("no luck: " + x);\n');
  const empty = write("empty.ts", "export const nothing = 1;\n");
  const misspelt = write(
    "misspelt.ts",
    'import { definePlugin } from "reverie";\nexport const plugin = definePlugin({ env: {} } as never);\n',
  );
  const read = (file: string) => readRun(write("wrong.yaml", config(`plugins: [${file}]`, "libero")));
  await assert.rejects(read("./absent.ts"), /wrong\.yaml:7: plugins\.0: no plugin at .*absent\.ts/);
  await assert.rejects(read(broken), /plugins\.0: plugin .*broken\.ts cannot be read: .*no luck: 1/s);
  await assert.rejects(read(empty), /empty\.ts is no plugin: it must export one/);
  await assert.rejects(read(misspelt), /misspelt\.ts: a plugin has no "env"; it may have: envs, policies/);
  await assert.rejects(readRun(write("list.yaml", config("plugins: ./x.ts", "libero"))), /expected a list/);
});

test("a configuration beside a checkpoint's weights, or one that was fetched, names no code", async (context) => {
  withEnv("hostile", "checkpoint/hostile.ts");
  write("checkpoint/model.safetensors", "");
  const beside = write("checkpoint/train.yaml", config("plugins: [./hostile.ts]", "hostile"));
  await assert.rejects(readRun(beside), /train\.yaml:7: plugins are code, and none is read .* --plugin FILE/);
  withEnv("fetched", "home/models/fetched.ts");
  const brought = write("home/models/train.yaml", config("plugins: [./fetched.ts]", "fetched"));
  const before = process.env.REVERIE_HOME;
  process.env.REVERIE_HOME = join(folder, "home");
  context.after(() => {
    if (before === undefined) delete process.env.REVERIE_HOME;
    else process.env.REVERIE_HOME = before;
  });
  await assert.rejects(readRun(brought), /plugins are code, and none is read/);
  assert.equal(environments.has("hostile") || environments.has("fetched"), false);
});

test("a name that is taken is refused with who has it, and then nothing of the plugin is registered", async () => {
  const mine = withEnv("mine");
  await loadPlugins([mine]);
  const copy = write(
    "copy.ts",
    envPlugin("mine").replace("envs: { mine: env }", "envs: { unheard_of: env, mine: env }"),
  );
  await assert.rejects(loadPlugins([copy]), new RegExp(`named "mine" is already registered by ${mine}`));
  assert.equal(environments.has("unheard_of"), false);
  const ours = write("ours.ts", envPlugin("mine").replace("{ mine: env }", "{ libero: env }"));
  await assert.rejects(loadPlugins([ours]), /named "libero" is already registered by reverie/);
});

test("a plugin is read once, and its content is remembered by its hash", async () => {
  const path = withEnv("once");
  await Promise.all([loadPlugins([path]), loadPlugins([path])]);
  const [found, ...others] = loadedPlugins().filter((each) => each.path === path);
  assert.match(found?.sha256 ?? "", /^[0-9a-f]{64}$/);
  assert.deepEqual(others, []);
});

test("a run's settings hold its plugins with their hashes, and a change of one is said when it is resumed", async () => {
  const { config: read } = await readRun(write("record.yaml", config("", "libero")), {
    overrides: ["+env.train.task_suite_name=tabletop_spatial"],
  });
  const settings = settingsOf(read);
  const { path, sha256 } = loadedPlugins()[0]!;
  assert.equal((settings.plugins as string[])[0], `${path} (sha256 ${sha256})`);
  const changed = { ...settings, plugins: [`${path} (sha256 0)`] };
  assert.deepEqual(
    compareSettings(settings, changed).said.map(({ key }) => key),
    ["plugins"],
  );
});

test("--plugin works with every command, and a folder without package.json is enough", async () => {
  const alone = join(folder, "alone");
  const path = withEnv("alone", "alone/alone.ts");
  const bin = fileURLToPath(new URL("../bin/reverie.mjs", import.meta.url));
  const reverie = (...words: string[]) =>
    promisify(execFile)(process.execPath, [bin, ...words], { cwd: alone });
  write("alone/alone.yaml", config("", "alone"));
  const { stdout } = await reverie("train", "alone.yaml", "--dry-run", "--plugin", path);
  assert.match(stdout, /alone/);
  await assert.rejects(reverie("train", "alone.yaml", "--dry-run"), /no environment .* named "alone"/);
  await assert.rejects(reverie("list", "suites", "--plugin"), /--plugin needs a file/);
});
