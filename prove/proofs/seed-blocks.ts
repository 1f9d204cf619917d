/** The YAML blocks that the guides print, given to the real command as a user would give them. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  blockFile,
  canPaste,
  guideFolder,
  planOverrides,
  readWithBlock,
  seedBlocks,
  settingsOf,
  whyAbsent,
} from "../../test/seeds/blocks.ts";
import { Checks, type Proof } from "../proof.ts";

const program = fileURLToPath(new URL("../../bin/reverie.mjs", import.meta.url));

export const proof: Proof = {
  claim:
    "Every YAML block that the five guides print works as printed: each key of it arrives in the plan, or is named.",
  goal: "every key of every block",
  minutes: 2,
  async run(say) {
    const checks = new Checks(say);
    say(`guides: ${guideFolder()}`);
    const folder = mkdtempSync(join(tmpdir(), "reverie-prove-blocks-"));
    try {
      for (const block of seedBlocks()) {
        const manners = canPaste(block) ? (["included", "pasted"] as const) : (["included"] as const);
        for (const manner of manners) {
          const name = `${block.guide}:${block.line} ${manner}`;
          const file = join(folder, "mine.yaml");
          writeFileSync(file, blockFile(block, manner));
          const args = [program, "train", file, "--dry-run", ...planOverrides(block)];
          const { status, stdout, stderr } = spawnSync(process.execPath, args, {
            encoding: "utf8",
            timeout: 120_000,
          });
          checks.check(`${name}: reverie train --dry-run makes a plan`, status === 0, stderr.slice(0, 500));
          const checked = await readWithBlock(block, manner);
          for (const [path, value] of settingsOf(block)) {
            const fault = whyAbsent(checked, path, value);
            checks.check(`${name}: ${path} arrives`, fault === undefined, fault);
          }
          const warned = checked.problems.filter(({ severity }) => severity === "warning");
          const silent = warned.filter(({ path }) => !stdout.includes(path));
          checks.check(
            `${name}: the plan says all ${warned.length} warnings`,
            silent.length === 0,
            silent[0]?.path,
          );
        }
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
    return checks.outcome();
  },
};
