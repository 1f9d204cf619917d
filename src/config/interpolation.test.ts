// biome-ignore-all lint/suspicious/noTemplateCurlyInString: interpolations are what is tested here
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { resolveInterpolations } from "./interpolation.ts";
import { fromPlain, type MapNode, type Plain, plain } from "./tree.ts";

const origin = { file: "x.yaml", line: 7 };
const resolve = (config: Record<string, Plain>, environment = {}) =>
  plain(resolveInterpolations(fromPlain(config, origin) as MapNode, environment));

test("an interpolation alone keeps the type of what it stands for", () => {
  assert.deepEqual(resolve({ a: 3, b: "${a}", c: "x${a}", list: [1], d: "${list}" }), {
    ...{ a: 3, b: 3, c: "x3", list: [1], d: [1] },
  });
});

test("references reach into values that are interpolations themselves", () => {
  assert.deepEqual(resolve({ a: { b: 1 }, c: "${a}", d: "${c.b}", e: "${list[1]}", list: [4, 5] }), {
    ...{ a: { b: 1 }, c: { b: 1 }, d: 1, e: 5, list: [4, 5] },
  });
});

const refuses = (config: Record<string, Plain>, reason: RegExp) =>
  assert.throws(
    () => resolve(config),
    (error: Error) => {
      assert.equal(error.name, "UserError");
      assert.match(error.message, reason);
      assert.ok(error.message.length < 1000, "a short message");
      return true;
    },
  );
const chain = (length: number, link: (next: string) => Plain): Record<string, Plain> =>
  Object.fromEntries(
    Array.from({ length }, (_, i) => [`a${i}`, i + 1 < length ? link(`\${a${i + 1}}`) : "x"]),
  );

test("references that double a text or a list again and again are refused, not unfolded", () => {
  refuses(
    chain(40, (next) => next + next),
    /too large when its references are unfolded/,
  );
  refuses(
    chain(40, (next) => [next, next]),
    /too large when its references are unfolded/,
  );
  refuses(
    chain(40, (next) => ({ b: next, c: `\${oc.create:${next}}` })),
    /too large/,
  );
});

test("references inside and behind each other end at a depth, not in the stack", () => {
  refuses({ a: `${"${".repeat(5000)}b${"}".repeat(5000)}` }, /too many references|no/);
  refuses(
    chain(5000, (next) => next),
    /too many references stand inside each other/,
  );
  const deep = (next: string): Plain => Array.from({ length: 90 }).reduce<Plain>((inner) => [inner], next);
  refuses(chain(90, deep), /too many references|too large/);
  refuses({ a: `\${oc.decode:'${"[".repeat(5000)}${"]".repeat(5000)}'}` }, /nested too deep/);
  refuses({ a: `\${oc.env:${"x".repeat(20_000)}}` }, /is not set/);
});

test("names that every object inherits are no resolvers and no variables", () => {
  refuses({ a: "${constructor:1}" }, /no resolver named "constructor"/);
  refuses({ a: "${oc.env:toString}" }, /toString is not set/);
  assert.deepEqual(resolve({ a: "${torch.dtype:constructor}" }), { a: "constructor" });
});

test("the key of a reference may itself be interpolated", () => {
  assert.deepEqual(resolve({ which: "b", a: { b: 2 }, c: "${a.${which}}" }), {
    which: "b",
    a: { b: 2 },
    c: 2,
  });
});

test("environment variables have defaults, and say so when they are missing", () => {
  assert.deepEqual(resolve({ a: "${oc.env:HOME_OF_X}" }, { HOME_OF_X: "/x" }), { a: "/x" });
  assert.deepEqual(resolve({ a: "${oc.env:NOPE,/path/to/b}" }), { a: "/path/to/b" });
  assert.throws(() => resolve({ a: "${oc.env:NOPE}" }), /x\.yaml:7: a: .*NOPE is not set/);
});

test("the reference's own resolvers compute", () => {
  const config = {
    n: 7,
    a: "${multiply:${n},3}",
    b: "${int_div:${n}, 2}",
    c: "${subtract:1,${n}}",
    d: "${not:${n}}",
  };
  assert.deepEqual(resolve(config), { n: 7, a: 21, b: 3, c: -6, d: false });
  assert.equal((resolve({ a: "${torch.dtype:bf16}" }) as { a: string }).a, "bfloat16");
});

test("settings that need each other in a circle are named", () => {
  assert.throws(() => resolve({ a: "${b}", b: "${c}", c: "${a}" }), /a → b → c → a: .*circle/);
  assert.throws(() => resolve({ a: { b: "${a}" } }), /circle/);
});

test("what cannot be resolved is refused with file, line and reason", () => {
  assert.throws(() => resolve({ a: "${nope.x}" }), /x\.yaml:7: a: \$\{nope\.x\}: there is no nope\.x/);
  assert.throws(() => resolve({ a: "${what:1}" }), /no resolver named "what"/);
  assert.throws(() => resolve({ a: "${multiply:x,2}" }), /needs two numbers/);
  assert.throws(() => resolve({ a: "${int_div:1,0}" }), /no finite result/);
  assert.throws(() => resolve({ a: "${....x}" }), /climbs above the root/);
  assert.throws(() => resolve({ a: "b ${list}", list: [1] }), /cannot stand inside text/);
});

test("any text in braces is either resolved or refused with a UserError", () => {
  const pieces = fc.constantFrom(
    "${",
    "}",
    "a",
    "b",
    ".",
    ":",
    ",",
    "oc.env",
    "multiply",
    "oc.select",
    "[",
    "]",
    "{",
    "'",
    '"',
    "\\",
    " ",
    "1",
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 20 }), (parts) => {
      try {
        resolve({ a: parts.join(""), b: { a: 1 } });
      } catch (error) {
        assert.equal((error as Error).name, "UserError", String((error as Error).stack));
      }
    }),
    { numRuns: 3000, seed: 2 },
  );
});
