import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { applyOverride, parseOverride } from "./override.ts";
import { fromPlain, type MapNode, plain } from "./tree.ts";

const root = fromPlain({ algorithm: { gamma: 0.99, group_size: 8 } }, { file: "x.yaml", line: 1 }) as MapNode;
const apply = (text: string, mayAdd = (_: readonly string[]) => false) =>
  plain(applyOverride(root, parseOverride(text), mayAdd));

test("a misspelt setting is refused with the one that was probably meant", () => {
  assert.throws(
    () => apply("algorithm.group_sise=4"),
    /did you mean algorithm\.group_size\?.*\+algorithm\.group_sise=/,
  );
});

test("a setting that the schema knows may be set although no file wrote it", () => {
  const known = (path: readonly string[]) => path.join(".") === "cluster.simulated_devices";
  assert.deepEqual(apply("cluster.simulated_devices=16", known), {
    ...{ algorithm: { gamma: 0.99, group_size: 8 }, cluster: { simulated_devices: 16 } },
  });
});

test("sweeps and nonsense are refused by name", () => {
  assert.throws(() => parseOverride("a=choice(1,2)"), /sweep over several runs/);
  assert.throws(() => parseOverride("--resume"), /is not an override/);
  assert.throws(() => parseOverride("gamma"), /expected key=value/);
});

test("any text is either an override or refused with a UserError", () => {
  const pieces = fc.constantFrom(
    "a",
    ".",
    "=",
    "+",
    "~",
    "@",
    "/",
    "[",
    "]",
    "{",
    "}",
    ":",
    ",",
    "'",
    '"',
    "${",
    "\\",
    "1",
    " ",
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 16 }), (parts) => {
      try {
        apply(parts.join(""), () => true);
      } catch (error) {
        assert.equal((error as Error).name, "UserError", String((error as Error).stack));
      }
    }),
    { numRuns: 3000, seed: 3 },
  );
});
