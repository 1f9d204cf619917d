/** Hostile JSON: real files of the shipped models with parts of them replaced by what should not be there. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { UserError } from "#registry";
import { parseNormStats } from "../../src/policies/pi0/actions.ts";
import { parsePrismaticConfig } from "../../src/policies/prismatic/config.ts";
import { boundsOf, datasetKey } from "../../src/policies/prismatic/normalization.ts";
import { promptTokenizer } from "../../src/policies/prismatic/tokenizer.ts";
import { readStatistics } from "../../src/worlds/opensora/weights.ts";
import { check, offer } from "./hostile.ts";

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

const shipped = (path: string): Json =>
  JSON.parse(readFileSync(fileURLToPath(new URL(`../../checkpoints/${path}`, import.meta.url)), "utf8"));

const strange: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(null, true, -1, 0, 0.5, 1e9, 2 ** 53, 1e308, "", "x", "constructor", "__proto__"),
  fc.constantFrom<Json>([], {}, [null], [[[]]], { a: 1 }, { type: "Sequence" }, { __proto__: 1 }),
);

/** Replaces, takes away or adds to one place, found by walking down along the given numbers. */
function changed(value: Json, walk: readonly number[], put: Json, remove: boolean): Json {
  const [step = 0, ...rest] = walk;
  if (value === null || typeof value !== "object" || rest.length === 0) return put;
  const entries = Object.entries(value) as [string, Json][];
  if (entries.length === 0) return put;
  const at = step % entries.length;
  const next = entries.flatMap(([key, inner], i): [string, Json][] =>
    i !== at ? [[key, inner]] : remove && rest.length === 1 ? [] : [[key, changed(inner, rest, put, remove)]],
  );
  return Array.isArray(value) ? next.map(([, inner]) => inner) : Object.fromEntries(next);
}

const damage = fc.record({
  walk: fc.array(fc.nat(1000), { minLength: 2, maxLength: 6 }),
  put: strange,
  remove: fc.boolean(),
});
type Damage = { walk: number[]; put: Json; remove: boolean };

/** Reads it or refuses it in words; any other error is a fault of ours. */
function tryReading(read: (value: Json) => unknown, value: Json): void {
  try {
    read(value);
  } catch (error) {
    assert.ok(error instanceof UserError, error instanceof Error ? error.stack : String(error));
  }
}

const deadlines = { build: 5000, encode: 2000 };
const readers: readonly (readonly [string, Json, (value: Json) => unknown])[] = [
  [
    "config.json",
    shipped("openvla-oft-mini/config.json"),
    (value) => parsePrismaticConfig(value, "config.json"),
  ],
  [
    "dataset_statistics.json",
    shipped("openvla-oft-mini/dataset_statistics.json"),
    (value) => {
      const { normStats } = parsePrismaticConfig(
        shipped("openvla-oft-mini/config.json"),
        "config.json",
        value,
      );
      boundsOf(normStats[datasetKey(normStats, "tabletop")]!.action, "q99", "tabletop");
    },
  ],
  [
    "tokenizer.json",
    shipped("openvla-oft-mini/tokenizer.json"),
    (value) => promptTokenizer(value as object, {}, "tokenizer.json", { deadlines }).encode("put the cube"),
  ],
  [
    "norm_stats.json",
    { norm_stats: { state: { mean: [0], std: [1], q01: [0], q99: [1] }, actions: { mean: [0], std: [1] } } },
    (value) => parseNormStats(value, "norm_stats.json"),
  ],
];

for (const [name, real, read] of readers) {
  test(`a ${name} with strange parts is read or refused in words (400 cases)`, () => {
    check(fc.tuple(damage), 400, ({ walk, put, remove }: Damage) =>
      tryReading(read, changed(real, walk, put, remove)),
    );
  });
}

test("a world's statistics with strange parts are read or refused by name (400 cases)", () => {
  const real = shipped("opensora-tabletop-object/dataset_statistics.json");
  check(fc.tuple(damage), 400, ({ walk, put, remove }: Damage) => {
    const bytes = Buffer.from(JSON.stringify(changed(real, walk, put, remove)));
    offer((path) => readStatistics(path, 7), bytes, "dataset_statistics.json");
  });
});
