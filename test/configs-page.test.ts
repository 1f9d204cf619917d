/** The tables of docs/configs.md are those of the schemas. `UPDATE=1 node --import tsx --test test/configs-page.test.ts` writes them. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { z } from "zod";
import { algorithms, sharedSettings } from "#algorithms";
import { runFrame, settingsTable } from "#config";
import { environments } from "#envs";
import { policies } from "#policies";

const page = new URL("../docs/configs.md", import.meta.url);
const marks = [/<!-- tables: .* -->/, /<!-- end of tables -->/] as const;

async function tables(): Promise<string> {
  const { shape } = runFrame;
  const frame = [
    "cluster",
    "runner",
    "env",
    "rollout",
    "actor",
    "reward",
    "critic",
    "weight_syncer",
  ] as const;
  const parts = frame.map((name) => `### \`${name}\`\n\n${settingsTable(shape[name], name)}`);
  const shared = settingsTable(z.strictObject(sharedSettings), "algorithm").split("\n");
  parts.push(`### \`algorithm\`\n\n${shared.join("\n")}`);
  for (const name of algorithms.names()) {
    const { settings, unused = {} } = await algorithms.get(name);
    const rows = settingsTable(settings, "algorithm").split("\n");
    const own = rows
      .filter((row, i) => i < 2 || !shared.includes(row)) // the first two are the head
      .map((row) => {
        const why = unused[/`algorithm\.(\w+)`/.exec(row)?.[1] ?? ""];
        return why ? row.replace(/[^|]*\|$/, ` no effect: ${why} |`) : row;
      });
    parts.push(`### \`algorithm\` with \`adv_type: ${name}\`\n\n${own.join("\n")}`);
  }
  const model = settingsTable(shape.actor.shape.model).split("\n").map(keyOf);
  for (const name of policies.names()) {
    const { settings } = await policies.get(name);
    const own = settingsTable(settings)
      .split("\n")
      .filter((row, i) => i < 2 || !model.includes(keyOf(row)));
    parts.push(`### \`actor.model\` with \`model_type: ${name}\`\n\n${own.join("\n")}`);
  }
  for (const name of environments.names()) {
    const { settings } = await environments.get(name);
    parts.push(`### \`env.train\` and \`env.eval\` with \`env_type: ${name}\`\n\n${settingsTable(settings)}`);
  }
  return parts.join("\n\n");
}

const keyOf = (row: string): string | undefined => row.split("|")[1];

test("docs/configs.md lists every setting as the schemas have it", async () => {
  const text = readFileSync(page, "utf8");
  const [begin, end] = marks.map((mark) => mark.exec(text));
  assert.ok(begin && end, "the marks of the tables are missing");
  const updated = `${text.slice(0, begin.index + begin[0].length)}\n\n${await tables()}\n\n${text.slice(end.index)}`;
  if (process.env.UPDATE === "1") writeFileSync(page, updated);
  else assert.equal(text, updated, "run it once with UPDATE=1");
});

test("every setting of the page has a meaning", async () => {
  const rows = (await tables()).split("\n").filter((row) => row.startsWith("| `"));
  const silent = rows.filter((row) => /\|\s*\|$/.test(row.replaceAll("\\|", "")));
  assert.deepEqual(silent, []);
});
