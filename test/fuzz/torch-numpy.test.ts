/** Hostile `.pth`, `.npy` and `.npz` files: damaged real ones, lying headers, and pickles that mean harm. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import {
  encodePng,
  encodeZip,
  readNpy,
  readNpz,
  readPng,
  readSafetensors,
  readTorch,
  type ZipInput,
} from "#formats";
import { UserError } from "#registry";
import { scope } from "#tensor";
import { assertRefused, casesTried, check, damage, offer, offerInflated } from "./hostile.ts";
import { anyPickle, attacks, crowds } from "./pickles.ts";

const folder = fileURLToPath(new URL("../fixtures/formats/", import.meta.url));
const fixture = (name: string): Buffer => readFileSync(`${folder}${name}`);
const readTorchAndFree = (path: string): void => scope(() => void readTorch(path));

const npyObjects = (pickle: Uint8Array): Buffer => {
  const literal = "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }".padEnd(117);
  return Buffer.concat([
    Buffer.from("\x93NUMPY\x01\x00\x76\x00", "latin1"),
    Buffer.from(`${literal}\n`),
    pickle,
  ]);
};
const zip = (members: ZipInput[]): Buffer => Buffer.concat([...encodeZip(members)]);
const torchZip = (pickle: Uint8Array, storage = new Uint8Array(64)): Buffer =>
  zip([
    { name: "archive/data.pkl", bytes: pickle },
    { name: "archive/data/0", bytes: storage },
  ]);

for (const [name, pickle, reason] of attacks) {
  test(`${name} is refused in a .pth and in an .npy`, () => {
    assertRefused(offer(readTorchAndFree, torchZip(pickle), "attack.pth"), reason);
    assertRefused(offer(readNpy, npyObjects(pickle), "attack.npy"), reason);
    assert.ok(!existsSync("PWNED"), "the pickle ran");
  });
}

for (const [name, pickle] of crowds) {
  test(`eight million ${name} in a file of some kilobytes are refused before they fill the heap`, () => {
    const tiny = zip([{ name: "archive/data.pkl", bytes: pickle, deflate: true }]);
    assertRefused(
      offerInflated(readTorchAndFree, tiny, "crowd.pth"),
      /far more values than a file of its size/,
    );
    const objects = zip([{ name: "a.npy", bytes: npyObjects(pickle), deflate: true }]);
    assertRefused(offerInflated(readNpz, objects, "crowd.npz"), /far more values than a file of its size/);
  });
}

test("arbitrary pickles in a sound .pth are read or refused by name (2,500 cases)", () => {
  check(
    fc.tuple(anyPickle),
    2500,
    (pickle: Buffer) => void offer(readTorchAndFree, torchZip(pickle), "any.pth"),
  );
});

test("arbitrary pickles in an .npy are read or refused by name (2,000 cases)", () => {
  check(fc.tuple(anyPickle), 2000, (pickle: Buffer) => void offer(readNpy, npyObjects(pickle), "any.npy"));
});

const { pickle: realPickle, storages } = unpackTorch(fixture("zip.pth"));
test("a real .pth with a damaged pickle and right checksums is read or refused by name (1,500 cases)", () => {
  check(fc.tuple(damage), 1500, (change: (bytes: Uint8Array) => Uint8Array) => {
    offer(
      readTorchAndFree,
      zip([{ name: "zip/data.pkl", bytes: change(realPickle) }, ...storages]),
      "pickle.pth",
    );
  });
});

for (const [file, read, runs] of [
  ["zip.pth", readTorchAndFree, 1000],
  ["legacy.pth", readTorchAndFree, 1000],
  ["objects_p4.npy", readNpy, 500],
  ["objects_p0.npy", readNpy, 500],
  ["float32.npy", readNpy, 500],
  ["text.npy", readNpy, 250],
  ["deflated.npz", readNpz, 500],
  ["RGBA.png", readPng, 500],
] as const) {
  test(`a damaged ${file} is read or refused by name (${runs} cases)`, () => {
    check(fc.tuple(damage), runs, (change: (bytes: Uint8Array) => Uint8Array) => {
      offer(read, change(fixture(file)), `damaged-${file}`);
    });
  });
}

for (const file of readdirSync(folder).filter((name) => /\.(pth|npy|npz|png)$/.test(name))) {
  test(`${file} is refused wherever it is cut`, () => {
    const whole = fixture(file);
    const read = { pth: readTorchAndFree, npy: readNpy, npz: readNpz, png: readPng }[file.slice(-3)]!;
    const step = Math.ceil(whole.length / 200);
    for (let length = 0; length < whole.length; length += step) {
      // An empty array's header is all there is of it.
      const outcome = offer(read, whole.subarray(0, length), `cut-${file}`);
      assertRefused(outcome, /cut short|not|end|need|inflate|never/);
    }
  });
}

const npyHeaders = fc.record({
  descr: fc.constantFrom(
    "<f4",
    ">f8",
    "|u1",
    "<U9",
    "|S3",
    "|O",
    "<c16",
    "<M8[ns]",
    "f",
    "<f3",
    "|V8",
    "<U999999999",
  ),
  order: fc.constantFrom("True", "False", "None"),
  shape: fc.array(fc.constantFrom("0", "1", "2", "3", "-1", "99999999999", "1e3", "4294967296", "2L"), {
    maxLength: 5,
  }),
});
test("an .npy whose header lies is refused, whatever it claims (1,000 cases)", () => {
  check(
    fc.tuple(npyHeaders, fc.nat(40)),
    1000,
    ({ descr, order, shape }: { descr: string; order: string; shape: string[] }, size: number) => {
      const literal = `{'descr': '${descr}', 'fortran_order': ${order}, 'shape': (${shape.join(", ")},), }\n`;
      const header = Buffer.from(
        `\x93NUMPY\x01\x00${String.fromCharCode(literal.length & 255, literal.length >> 8)}${literal}`,
        "latin1",
      );
      const outcome = offer(readNpy, Buffer.concat([header, Buffer.alloc(size)]), "lying.npy");
      if ("refused" in outcome) return;
      const { data } = outcome.value as { data: { byteLength?: number } };
      assert.ok((data.byteLength ?? 0) <= size);
    },
  );
});

test("text of a million zeros and a letter is trimmed in no time", () => {
  const literal = "{'descr': '|S1000001', 'fortran_order': False, 'shape': (1,), }".padEnd(117);
  const header = Buffer.from(`\x93NUMPY\x01\x00\x76\x00${literal}\n`, "latin1");
  const outcome = offer(
    readNpy,
    Buffer.concat([header, Buffer.alloc(1_000_000), Buffer.from("a")]),
    "zeros.npy",
  );
  assert.equal((outcome as { value: { data: string[] } }).value.data[0]!.length, 1_000_001);
});

test("a pipe and a folder are refused and not waited for", () => {
  const pipe = join(mkdtempSync(join(tmpdir(), "reverie-pipe-")), "pipe.npy");
  spawnSync("mkfifo", [pipe]);
  for (const read of [readNpy, readNpz, readTorch, readSafetensors]) {
    assert.throws(
      () => read(pipe),
      (error) => error instanceof UserError && /not a plain file/.test(error.message),
    );
    assert.throws(
      () => read(folder),
      (error) => error instanceof UserError && /folder|not a plain file/.test(error.message),
    );
  }
});

test("a picture of half a million empty pieces is read in no time, and one that hides its size is refused", () => {
  const whole = fixture("RGB.png");
  const at = whole.indexOf("IDAT") - 4;
  const empty = Buffer.from([0, 0, 0, 0, 0x49, 0x44, 0x41, 0x54, 0x35, 0xaf, 0x06, 0x1e]);
  const pieces = Buffer.concat([
    whole.subarray(0, at),
    Buffer.alloc(12 * 500_000, empty),
    whole.subarray(at),
  ]);
  assert.deepEqual(offer(readPng, pieces, "pieces.png"), offer(readPng, whole, "whole.png"));
  const black = { width: 8192, height: 8193, channels: 1 as const, data: new Uint8Array(8192 * 8193) };
  assertRefused(offer(readPng, encodePng(black), "black.png"), /cannot hold 8192x8193 pixels/);
});

test("archives that hide their size are refused", () => {
  const bomb = zip([{ name: "a.npy", bytes: Buffer.alloc(80 * 2 ** 20), deflate: true }]);
  assertRefused(offer(readNpz, bomb, "bomb.npz"), /claims to inflate/);
  const many = Array.from({ length: 20 }, (_, i) => ({
    name: `${i}.npy`,
    bytes: Buffer.alloc(8 * 2 ** 20),
    deflate: true,
  }));
  assertRefused(offer(readNpz, zip(many), "bombs.npz"), /claims to inflate to 167772160/);
  const twice = zip([
    { name: "a.npy", bytes: fixture("int8.npy") },
    { name: "b.npy", bytes: fixture("int8.npy") },
  ]);
  const directory = twice.lastIndexOf(Buffer.from("PK\x01\x02", "latin1"));
  twice.writeUInt32LE(0, directory + 42); // the second member now claims the first one's bytes
  assertRefused(offer(readNpz, twice, "overlap.npz"), /runs into/);
  const lying = zip([{ name: "a.npy", bytes: fixture("int8.npy"), deflate: true }]);
  lying.writeUInt32LE(100, lying.lastIndexOf(Buffer.from("PK\x01\x02", "latin1")) + 24);
  assertRefused(offer(readNpz, lying, "lying.npz"), /does not inflate|not the 100/);
});

test("at least ten thousand hostile files were offered in this file alone", () => {
  assert.ok(casesTried() >= 10_000, `${casesTried()} cases`);
});

/** The parts of a stored zip, found by its local headers. */
function unpackTorch(bytes: Buffer): { pickle: Buffer; storages: ZipInput[] } {
  const members: { name: string; bytes: Buffer }[] = [];
  for (
    let at = bytes.indexOf("PK\x01\x02", 0, "latin1");
    at >= 0;
    at = bytes.indexOf("PK\x01\x02", at + 4, "latin1")
  ) {
    const name = bytes.toString("utf8", at + 46, at + 46 + bytes.readUInt16LE(at + 28));
    const local = bytes.readUInt32LE(at + 42);
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    members.push({ name, bytes: bytes.subarray(start, start + bytes.readUInt32LE(at + 24)) });
  }
  const isPickle = ({ name }: ZipInput): boolean => name.endsWith("data.pkl");
  return { pickle: members.find(isPickle)!.bytes, storages: members.filter((member) => !isPickle(member)) };
}
