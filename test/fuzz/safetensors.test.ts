/** Hostile safetensors files: damaged real ones, and headers that lie. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { readSafetensors } from "#formats";
import { scope, type Tensor } from "#tensor";
import { assertRefused, check, damage, offer } from "./hostile.ts";

const real = readFileSync(new URL("../fixtures/formats/some.safetensors", import.meta.url));
const read = (path: string): [string, readonly number[], number[]][] =>
  scope(() =>
    [...readSafetensors(path)].map(([name, t]: [string, Tensor]) => [name, t.shape, t.double().toArray()]),
  );

test("a damaged safetensors file is read whole or refused by name (2,500 cases)", () => {
  check(fc.tuple(damage), 2500, (change: (bytes: Uint8Array) => Uint8Array) => {
    offer(read, change(real), "damaged.safetensors");
  });
});

test("a safetensors file cut anywhere is refused", () => {
  for (let length = 0; length < real.length; length++) {
    assertRefused(offer(read, real.subarray(0, length), "cut.safetensors"), /cut short|not JSON/);
  }
});

const number = fc.oneof(
  fc.nat(40),
  fc.constantFrom(-1, 0.5, 2 ** 31, 2 ** 53, 1e300, Number.MAX_SAFE_INTEGER, -(2 ** 63)),
  fc.constantFrom("4", null, [], {}),
);
const entry = fc.record({
  dtype: fc.oneof(
    fc.constantFrom("F32", "F64", "U8", "BOOL", "BF16"),
    fc.constantFrom("F8_E4M3", "X", "__proto__", 3),
  ),
  shape: fc.oneof(fc.array(number, { maxLength: 4 }), fc.constantFrom(null, "2,2", 4)),
  data_offsets: fc.oneof(fc.tuple(number, number), fc.array(number, { maxLength: 3 }), fc.constant("0,4")),
});
const names = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.constantFrom("__proto__", "constructor", "__metadata__"),
);

test("a header that lies is refused; one that does not is read as it says (2,500 cases)", () => {
  const headers = fc.dictionary(names, entry, { maxKeys: 3 });
  check(fc.tuple(headers, fc.nat(64), number), 2500, (header: object, size: number, length: unknown) => {
    const json = Buffer.from(JSON.stringify(header));
    const prefix = Buffer.alloc(8);
    const claimed =
      typeof length === "number" && size % 3 === 0
        ? BigInt.asUintN(64, BigInt(Math.trunc(length)))
        : BigInt(json.length);
    prefix.writeBigUInt64LE(claimed);
    const outcome = offer(read, Buffer.concat([prefix, json, Buffer.alloc(size)]), "lying.safetensors");
    if ("refused" in outcome) return;
    const tensors = outcome.value as ReturnType<typeof read>;
    for (const [, shape, values] of tensors)
      assert.equal(
        values.length,
        shape.reduce((a, b) => a * b, 1),
      );
  });
});

test("known lies are refused for what they are", () => {
  const file = (header: unknown, size: number): Buffer => {
    const json = Buffer.from(typeof header === "string" ? header : JSON.stringify(header));
    const prefix = Buffer.alloc(8);
    prefix.writeBigUInt64LE(BigInt(json.length));
    return Buffer.concat([prefix, json, Buffer.alloc(size)]);
  };
  const tensor = (shape: unknown[], begin: number, end: number) => ({
    dtype: "F32",
    shape,
    data_offsets: [begin, end],
  });
  const lies: [unknown, number, RegExp][] = [
    [{ a: tensor([2], 0, 8), b: tensor([2], 4, 12) }, 12, /begins at byte .* but the one before ends/],
    [{ a: tensor([2], 0, 8), b: tensor([2], 12, 20) }, 20, /begins at byte/],
    [{ a: tensor([1], 0, 4) }, 8, /cut short/],
    [{ a: tensor([2 ** 40], 0, 2 ** 42) }, 8, /cut short/],
    [{ a: tensor([2 ** 30, 2 ** 30], 0, 8) }, 8, /impossible shape/],
    [{ a: tensor([-2, -1], 0, 8) }, 8, /not negative/],
    [{ a: tensor([2], 8, 0) }, 8, /in order/],
    [{ a: { ...tensor([8], 0, 8), dtype: "Q9" } }, 8, /unknown type "Q9"/],
    [{ a: { ...tensor([8], 0, 8), dtype: "F8_E4M3" } }, 8, /not supported/],
    [
      `{"a":{"dtype":"F32","shape":[${"[".repeat(50_000)}${"]".repeat(50_000)}],"data_offsets":[0,4]}}`,
      4,
      /a list of 1/,
    ],
    [
      `{"a":{"dtype":${"[".repeat(50_000)}${"]".repeat(50_000)},"shape":[1],"data_offsets":[0,4]}}`,
      4,
      /unknown type/,
    ],
    ["[1]", 0, /not a JSON object/],
    [`${"[".repeat(100_000)}`, 0, /not JSON/],
    [{ __metadata__: { a: 1 } }, 0, /metadata/],
  ];
  for (const [header, size, reason] of lies) {
    assertRefused(offer(read, file(header, size), "lie.safetensors"), reason);
  }
});
