/** Runs every example of docs/extend as a user would: its files in an empty folder, its commands on the real command line. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { extendPages, readExample, runExample } from "../../test/support/extend-page.ts";
import { Checks, type Proof } from "../proof.ts";

export const proof: Proof = {
  claim:
    "an environment, policy, algorithm, world, reward model and suite from outside train with one file and one configuration",
  goal: "all checks hold",
  minutes: 4,

  async run(say) {
    const checks = new Checks(say);
    for (const page of extendPages()) await tryPage(page, checks, say);
    return checks.outcome();
  },
};

async function tryPage(page: string, checks: Checks, say: (line: string) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), `reverie-plugins-${page}-`));
  try {
    const example = readExample(page);
    say(`docs/extend/${page}.md: ${[...example.files.keys()].join(", ")}`);
    for (const words of example.commands) say(`  reverie ${words.join(" ")}`);
    const printed = await runExample(example, folder).catch((error: unknown) => String(error));
    checks.check(`${page}: its commands succeed`, Array.isArray(printed), String(printed).slice(-400));
    const metrics = join(folder, "run", "metrics.jsonl");
    const steps = existsSync(metrics) ? readFileSync(metrics, "utf8").trim().split("\n").length : 0;
    checks.check(`${page}: a training step was taken`, steps > 0);
    const files = [...example.files.keys()].filter((name) => !name.endsWith(".yaml"));
    checks.check(`${page}: one file of code`, files.filter((name) => name.endsWith(".ts")).length === 1);
    const record = join(folder, "run", "run.json");
    const said = existsSync(record) ? readFileSync(record, "utf8") : "";
    checks.check(
      `${page}: the run's record names the plugin and its hash`,
      /"sha256": "[0-9a-f]{64}"/.test(said),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
