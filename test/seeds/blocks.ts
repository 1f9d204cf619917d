/**
 * The YAML blocks of the guides, each laid over the shipped configuration that its guide is about, and whether every
 * key of it arrives in the checked configuration.
 *
 * The guides are beside the checkout on developers' machines; elsewhere `test/fixtures/seeds/` has blocks of our own
 * with the same keys.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { type CheckedConfig, type Plain, plain, readConfig, shippedConfigs } from "#config";
import { families } from "../../src/training/families.ts";
import { sharedFolder } from "../shared.ts";

export interface SeedBlock {
  readonly guide: string; // "wan"
  readonly line: number; // of the block's first line in its guide
  readonly text: string; // as printed, without its indentation
}

/** Stand-ins for the guides that every checkout has. */
export const ownGuides = fileURLToPath(new URL("../fixtures/seeds", import.meta.url));

/** The shipped configuration that a guide's blocks are meant for. */
const configOf: Readonly<Record<string, string>> = {
  libero: "libero_10_grpo_openvlaoft",
  opensora: "opensora_libero_spatial_grpo_openvlaoft",
  wan: "wan_libero_spatial_grpo_openvlaoft",
  evac: "libero_spatial_evac_grpo_openvlaoft",
  behavior: "omnigibson_ppo_openvlaoft",
};

/** Where the guides are: beside this checkout, else our own stand-ins. */
export function guideFolder(): string {
  const beside = join(sharedFolder() ?? "", "seeds");
  return sharedFolder() !== undefined && existsSync(beside) ? beside : ownGuides;
}

export function seedBlocks(folder = guideFolder()): SeedBlock[] {
  return readdirSync(folder)
    .filter((name) => basename(name, ".txt") in configOf)
    .sort()
    .flatMap((name) => yamlBlocks(basename(name, ".txt"), readFileSync(join(folder, name), "utf8")));
}

/** reStructuredText: a line `.. code:: yaml`, an empty line, then everything that is indented further. */
function yamlBlocks(guide: string, page: string): SeedBlock[] {
  const lines = page.split("\n");
  return lines.flatMap((line, i) => {
    if (!/^\s*\.\. code(-block)?:: yaml\s*$/.test(line)) return [];
    const rest = lines.slice(i + 1);
    const end = rest.findIndex((each) => /^\S/.test(each));
    const body = rest.slice(0, end < 0 ? rest.length : end);
    const first = body.findIndex((each) => each.trim() !== "");
    const indent = /^\s*/.exec(body[first] ?? "")?.[0].length ?? 0;
    const text = body.map((each) => each.slice(indent)).join("\n");
    return [{ guide, line: i + 2 + first, text: `${text.trim()}\n` }];
  });
}

/** How a block gets into a run: a file of the user's own that includes ours, or at the end of a copy of ours. */
export type Manner = "included" | "pasted";

/** A block can be pasted below a file only if it does not repeat one of the file's keys. */
export function canPaste({ guide, text }: SeedBlock): boolean {
  const ours = parse(shippedText(guide)) as object;
  return Object.keys(parse(text) as object).every((key) => !(key in ours));
}

const shippedText = (guide: string): string =>
  readFileSync(join(shippedConfigs, `${configOf[guide]}.yaml`), "utf8");

/** The file that a user has then. */
export const blockFile = ({ guide, text }: SeedBlock, manner: Manner): string =>
  `${manner === "pasted" ? shippedText(guide) : `defaults: [${configOf[guide]}]\n`}\n${text}`;

export const planOverrides = (block: SeedBlock): string[] => [`cluster.simulated_devices=${devices(block)}`];

export async function readWithBlock(block: SeedBlock, manner: Manner): Promise<CheckedConfig> {
  const folder = mkdtempSync(join(tmpdir(), "reverie-seed-"));
  const file = join(folder, "mine.yaml");
  writeFileSync(file, blockFile(block, manner));
  try {
    return await readConfig(file, { families, overrides: planOverrides(block) });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Eight accelerators on each machine that the block speaks of, which is two where it speaks of none. */
function devices({ text }: SeedBlock): number {
  const { cluster } = parse(text) as { readonly cluster?: { readonly num_nodes?: number } };
  return 8 * (cluster?.num_nodes ?? 2);
}

/** Every setting of a block, with what it says. */
export function settingsOf(block: SeedBlock): [path: string, value: Plain][] {
  const walk = (value: Plain, path: string): [string, Plain][] =>
    value !== null && typeof value === "object" && !Array.isArray(value)
      ? Object.entries(value).flatMap(([key, inner]) => walk(inner, path === "" ? key : `${path}.${key}`))
      : [[path, value]];
  return walk(parse(block.text) as Plain, "");
}

/** Where a setting of a guide stands in a checked configuration, when it is not where the guide has it. */
function homes(path: string): string[] {
  if (path.startsWith("video_cfg.")) return [`env.train.${path}`];
  if (path.startsWith("cluster.component_placement."))
    return path
      .slice("cluster.component_placement.".length)
      .split(",")
      .map((name) => `cluster.component_placement.${name.trim()}`);
  const [head = ""] = path.split(".");
  if (/^(cluster|runner|env|rollout|actor|algorithm)$/.test(head)) return [path];
  return [`env.train.${path}`];
}

const at = (tree: Plain, path: string): Plain | undefined =>
  path
    .split(".")
    .reduce<Plain | undefined>((node, key) => (node as Record<string, Plain> | null)?.[key], tree);

/** Why a setting is not obeyed in the checked configuration; undefined when it is. */
export function whyAbsent({ tree, problems }: CheckedConfig, path: string, value: Plain): string | undefined {
  const all = plain(tree);
  const same = (home: string, wanted: Plain): string | undefined => {
    const found = JSON.stringify(at(all, home));
    return found === JSON.stringify(wanted)
      ? undefined
      : `${home} is ${found}, not ${JSON.stringify(wanted)}`;
  };
  const text = typeof value === "string" ? filled(value, all) : value;
  if (path === "trainer.logger.wandb.enable") {
    const backends = at(all, "runner.logger.logger_backends");
    return [backends].flat().includes("wandb") === value ? undefined : `the services are ${backends}`;
  }
  if (path.startsWith("trainer.logger.wandb."))
    return same(path.replace("trainer.logger.wandb", "runner.logger"), text);
  if (path === "env/train" || path === "env/eval") {
    const note = problems.some((each) => each.path === path && each.message.includes(`"${path}: ${value}"`));
    return note ? undefined : `no remark names the preset ${value}`;
  }
  if (path === "simulator_type") return same("env.train.wm_env_type", value);
  return homes(path)
    .map((home) => same(home, text))
    .find((fault) => fault !== undefined);
}

/** A value with its references to other settings resolved. */
const filled = (text: string, tree: Plain): string =>
  text.replace(/\$\{([\w.]+)\}/g, (_, path: string) => String(at(tree, path)));
