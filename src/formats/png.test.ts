import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { decodePng, readPng } from "./png-decode.ts";
import { encodePng } from "./png-encode.ts";
import type { Picture } from "./png-layout.ts";

const pictures: fc.Arbitrary<Picture> = fc
  .record({
    width: fc.integer({ min: 1, max: 24 }),
    height: fc.integer({ min: 1, max: 24 }),
    channels: fc.constantFrom(1, 3, 4) as fc.Arbitrary<1 | 3 | 4>,
    slope: fc.tuple(fc.nat(9), fc.nat(9)),
    noise: fc.nat(40),
  })
  .map(({ width, height, channels, slope, noise }) => {
    const pixel = (i: number): number =>
      ((i % width) * slope[0] + Math.floor(i / width) * slope[1] + ((i * 7919) % (noise + 1))) & 255;
    const data = Uint8Array.from(
      { length: width * height * channels },
      (_, i) => pixel(Math.floor(i / channels)) ^ (i % channels),
    );
    return { width, height, channels, data };
  });

test("any picture decodes to the pixels that were encoded", () => {
  fc.assert(
    fc.property(pictures, (picture) => {
      const back = decodePng(encodePng(picture));
      assert.deepEqual({ ...back, data: [...back.data] }, { ...picture, data: [...picture.data] });
    }),
    { seed: 3, numRuns: 300 },
  );
});

test("smooth pictures shrink: the filters are chosen and not just written", () => {
  const size = 64;
  const data = Uint8Array.from(
    { length: size * size * 3 },
    (_, i) => Math.floor(i / 3 / size) * 2 + ((i / 3) % size),
  );
  assert.ok(encodePng({ width: size, height: size, channels: 3, data }).length < data.length / 20);
});

test("a header that promises more pixels than the data can hold is refused before they are allocated", () => {
  const bytes = Buffer.from(encodePng({ width: 2, height: 2, channels: 1, data: new Uint8Array(4) }));
  bytes.writeUInt32BE(1 << 20, 16);
  assert.throws(() => decodePng(bytes), /checksum of its chunk "IHDR" is wrong/);
});

test("pictures that others encoded decode in every kind we support", () => {
  const folder = new URL("../../test/fixtures/formats/", import.meta.url).pathname;
  const kinds = readdirSync(folder).filter((name) => name.endsWith(".png"));
  assert.deepEqual(
    kinds.map((name) => readPng(join(folder, name)).channels),
    [1, 3, 3, 4],
  );
});
