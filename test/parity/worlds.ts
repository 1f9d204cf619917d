/**
 * `npm run parity -- worlds DIR`: compares every world and reward network recorded in a folder with ours.
 *
 * DIR holds `opensora/`, `wan/`, `evac/` and `reward/` (any of them), or is one of them.
 */
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { UserError } from "#registry";
import type { ParityCase } from "./worlds/case.ts";

export type { ParityCase } from "./worlds/case.ts";

type Compare = (folder: string, prefix: string) => Promise<ParityCase[]>;

const kinds: Readonly<Record<string, () => Promise<Compare>>> = {
  opensora: async () => (await import("./worlds/opensora.ts")).compareOpenSora,
  wan: async () => (await import("./worlds/wan.ts")).compareWan,
  evac: async () => (await import("./worlds/evac.ts")).compareEvac,
  reward: async () => (await import("./worlds/reward.ts")).compareFullSizeRewards,
};

export async function run(dir: string): Promise<ParityCase[]> {
  const found = Object.keys(kinds).filter((kind) => existsSync(join(dir, kind)));
  const one = Object.keys(kinds).find((kind) => basename(dir).startsWith(kind));
  const jobs =
    found.length > 0
      ? found.map((kind) => [kind, join(dir, kind)] as const)
      : one
        ? [[one, dir] as const]
        : [];
  if (jobs.length === 0) {
    throw new UserError(
      `${dir} holds none of ${Object.keys(kinds).join(", ")}: give a folder of world recordings`,
    );
  }
  const results: ParityCase[] = [];
  for (const [kind, folder] of jobs) {
    const compare = await kinds[kind]!();
    results.push(...(await compare(folder, kind)));
  }
  return results;
}
