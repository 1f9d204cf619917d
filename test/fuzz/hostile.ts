/**
 * What the fuzz tests share: how a hostile file is offered to a reader, and what the reader may do with it.
 *
 * It may return a value (a flipped bit inside a tensor is still a tensor) or throw a UserError that names
 * the file. Anything else is a failure: another error, a second of work, or memory beyond the file's size.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import fc from "fast-check";
import { UserError } from "#registry";

const folder = mkdtempSync(join(tmpdir(), "reverie-fuzz-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** How the run ended, for those cases of which the answer is known beforehand. */
export type Outcome = { readonly value: unknown } | { readonly refused: string };

const slack = 256 * 1024; // zlib's own buffers, decoders, test bookkeeping
const longest = 5000; // ms; a loaded machine may stop for a second, a hang does not end

let cases = 0;
/** How many files were offered so far. */
export const casesTried = (): number => cases;

/** A file that honestly deflated: its bytes may be many more in memory. */
export const offerInflated: typeof offer = (read, bytes, name) => offer(read, bytes, name, 64 * 2 ** 20);

export function offer(
  read: (path: string) => unknown,
  bytes: Uint8Array,
  name: string,
  inflated = 0,
): Outcome {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  cases++;
  const before = process.memoryUsage().arrayBuffers;
  const started = performance.now();
  const outcome = attempt(read, path);
  const grown = process.memoryUsage().arrayBuffers - before;
  assert.ok(performance.now() - started < longest, `took ${performance.now() - started} ms`);
  // Bytes are read once and may be rearranged once (byte order, Fortran order, protocol 2 text to bytes).
  assert.ok(
    grown <= 4 * bytes.byteLength + inflated + slack,
    `allocated ${grown} for a file of ${bytes.byteLength} bytes`,
  );
  return outcome;
}

function attempt(read: (path: string) => unknown, path: string): Outcome {
  try {
    return { value: read(path) };
  } catch (error) {
    assert.ok(error instanceof UserError, `not a UserError: ${error instanceof Error ? error.stack : error}`);
    assert.ok(error.message.startsWith(`${path}`), `does not name the file: ${error.message}`);
    assert.match(error.message.slice(path.length), /^: .{10,}/s, "gives no reason");
    return { refused: error.message };
  }
}

export const assertRefused = (outcome: Outcome, reason: RegExp): void => {
  assert.ok("refused" in outcome, "was read");
  assert.match(outcome.refused, reason);
};

/** Seeded, so that a failure on one machine is a failure on all. */
export const check = (
  arbitrary: fc.Arbitrary<unknown[]>,
  runs: number,
  body: (...values: never[]) => void,
): void =>
  fc.assert(
    fc.property(arbitrary, (values) => body(...(values as never[]))),
    { seed: 20_260_115, numRuns: runs, includeErrorInReport: true },
  );

/** Truncation, flipped bits, overwritten numbers, inserted and repeated stretches. */
export const damage: fc.Arbitrary<(bytes: Uint8Array) => Uint8Array> = fc
  .array(
    fc.oneof(
      fc
        .double({ min: 0, max: 1, noNaN: true })
        .map((at) => (b: Buffer) => b.subarray(0, Math.floor(at * b.length))),
      fc
        .tuple(place(), fc.nat(7))
        .map(([at, bit]) => edit(at, (b, i) => b.writeUInt8(b[i]! ^ (1 << bit), i), 1)),
      fc.tuple(place(), fc.nat(255)).map(([at, value]) => edit(at, (b, i) => b.writeUInt8(value, i), 1)),
      fc.tuple(place(), extremes()).map(([at, value]) => edit(at, (b, i) => b.writeBigUInt64LE(value, i), 8)),
      fc
        .tuple(place(), extremes())
        .map(([at, value]) => edit(at, (b, i) => b.writeUInt32LE(Number(value & 0xffff_ffffn), i), 4)),
      fc.tuple(place(), fc.uint8Array({ minLength: 1, maxLength: 32 })).map(
        ([at, more]) =>
          (b: Buffer) =>
            Buffer.concat([b.subarray(0, at * b.length), more, b.subarray(at * b.length)]),
      ),
      fc.tuple(place(), place()).map(
        ([a, z]) =>
          (b: Buffer) =>
            Buffer.concat([b, b.subarray(Math.min(a, z) * b.length, Math.max(a, z) * b.length)]),
      ),
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((edits) => (bytes) => edits.reduce<Buffer>((buffer, change) => change(buffer), Buffer.from(bytes)));

function place(): fc.Arbitrary<number> {
  return fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
}

function extremes(): fc.Arbitrary<bigint> {
  return fc.oneof(
    fc.constantFrom(0n, 1n, 0x7fff_ffffn, 0xffff_ffffn, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n),
    fc.bigInt(0n, 2n ** 64n - 1n),
  );
}

function edit(
  at: number,
  write: (bytes: Buffer, index: number) => void,
  width: number,
): (bytes: Buffer) => Buffer {
  return (bytes) => {
    const index = Math.floor(at * (bytes.length - width));
    const copy = Buffer.from(bytes);
    if (bytes.length > width) write(copy, index);
    return copy;
  };
}
