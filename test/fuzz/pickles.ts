/** Pickles by hand: the opcodes that attacks are made of, and arbitrary sequences of them. */
import fc from "fast-check";

const bytes = (...parts: (string | number | Uint8Array)[]): Buffer =>
  Buffer.concat(
    parts.map((part) =>
      typeof part === "string"
        ? Buffer.from(part, "latin1")
        : typeof part === "number"
          ? Buffer.of(part)
          : Buffer.from(part),
    ),
  );

const uint64 = (value: bigint): Buffer => {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64LE(value);
  return buffer;
};

export const text = (value: string): Buffer => bytes(0x8c, value.length, value);
const call = (module: string, name: string, argument: string): Buffer =>
  bytes(0x80, 2, `c${module}\n${name}\n`, text(argument), 0x85, "R.");

/** Each with what the refusal must say. None of them may ever run. */
const deep = Buffer.from(`${"(".repeat(50_000)}${"l".repeat(50_000)}`);
export const attacks: readonly (readonly [string, Buffer, RegExp])[] = [
  ["os.system by REDUCE", call("os", "system", "touch PWNED"), /"os\.system".*not run/],
  ["posix.system", call("posix", "system", "touch PWNED"), /"posix\.system"/],
  ["builtins.eval", call("builtins", "eval", "1+1"), /"builtins\.eval"/],
  ["__builtin__.exec", call("__builtin__", "exec", "1"), /exec/],
  [
    "subprocess by STACK_GLOBAL",
    bytes(0x80, 4, text("subprocess"), text("Popen"), 0x93, text("touch PWNED"), 0x85, "R."),
    /"subprocess\.Popen"/,
  ],
  [
    "a dotted name",
    bytes(0x80, 4, text("collections"), text("OrderedDict.__class__"), 0x93, "."),
    /OrderedDict\.__class__/,
  ],
  ["getattr", call("builtins", "getattr", "x"), /getattr/],
  ["a class instance by INST", bytes("(ios\nsystem\n."), /not a pickle opcode/],
  ["the extension registry", bytes(0x80, 2, 0x82, 1, "."), /not a pickle opcode/],
  ["BUILD on a list", bytes(0x80, 2, "]}b."), /sets attributes on a value that has none/],
  ["BUILD on a class", bytes(0x80, 2, "ccollections\nOrderedDict\n}b."), /sets attributes/],
  ["BUILD of an array that claims a terabyte", arrayClaiming(2 ** 40), /needs 8796093022208 bytes/],
  ["BUILD of an array with a negative size", arrayClaiming(-1), /not negative/],
  ["a call of a value", bytes(0x80, 2, "K\x01)R."), /calls something that is not a constructor/],
  ["__proto__ as a name", bytes(0x80, 2, "cbuiltins\n__proto__\n."), /__proto__/],
  ["an integer of 2 GB", bytes(0x80, 2, 0x8b, 0xff, 0xff, 0xff, 0x7f, "."), /integer of 2147483647 bytes/],
  ["an integer of negative length", bytes(0x80, 2, 0x8b, 0xff, 0xff, 0xff, 0xff, "."), /integer of -1 bytes/],
  ["a decimal of a million digits", bytes("L", "9".repeat(1_000_000), "L\n."), /malformed integer/],
  ["bytes of 2^63", bytes(0x80, 4, 0x8e, uint64(2n ** 63n), "."), /impossible length/],
  ["text of 4 GB", bytes(0x80, 2, "X\xff\xff\xff\xff."), /cut short/],
  ["a list that contains itself", bytes(0x80, 2, "]q\x00h\x00a."), /contains itself/],
  ["a dict that contains itself", bytes(0x80, 2, "}q\x00K\x01h\x00s."), /contains itself/],
  [
    "a hundred thousand nested lists",
    bytes(0x80, 2, "(".repeat(100_000), "l".repeat(100_000), "."),
    /nested more than/,
  ],
  ["a billion laughs", billionLaughs(), /repeats itself/],
  ["a deep list as a module's name", bytes(0x80, 2, deep, text("x"), 0x93, "."), /not text/],
  [
    "a deep list as an encoding",
    bytes(0x80, 2, "c_codecs\nencode\n", text("x"), deep, 0x86, "R."),
    /other than latin1/,
  ],
  [
    "a deep list as an element type",
    bytes(0x80, 2, "cnumpy\ndtype\n", deep, 0x85, "R."),
    /a list of 1 is not known/,
  ],
  ["a float of a million digits", bytes("F", "9".repeat(1_000_000), "x\n."), /malformed float/],
  ["a memo that was never set", bytes(0x80, 2, "h\x07."), /never set/],
  ["an empty stack", bytes(0x80, 2, "0."), /never opened/],
  ["no end", bytes(0x80, 2, "N"), /cut short/],
  ["a mark left open", bytes(0x80, 2, "(N."), /unfinished/],
  ["protocol 9", bytes(0x80, 9, "N."), /protocol 9/],
  ["one megabyte of text turned to bytes again and again", repeatedEncoding(), /more memory than the file/],
  ["one megabyte of bytes made an array again and again", repeatedArray(), /more memory than the file/],
  ["a persistent id that is no storage", bytes(0x80, 2, "K\x01Q."), /not a storage|outside itself/],
];

/** ndarray.__setstate__((1, (size,), dtype("f8"), False, b"12345678")) */
function arrayClaiming(size: number): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigInt64LE(BigInt(size));
  return bytes(
    ...[0x80, 3, "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85C\x01b\x87R"],
    ...["(K\x01", 0x8a, 8, length, 0x85, "cnumpy\ndtype\n", text("f8"), 0x89, 0x88, 0x87, "R"],
    ...[0x89, "C\x0812345678tb."],
  );
}

/** Forty levels, each a list of ten times the one below. */
function billionLaughs(): Buffer {
  const levels = Array.from(
    { length: 40 },
    (_, level) => `(${`h${String.fromCharCode(level)}`.repeat(10)}lq${String.fromCharCode(level + 1)}`,
  );
  return bytes(0x80, 2, "]q\x00", ...levels, ".");
}

function repeatedEncoding(): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(1_000_000);
  const start = bytes(
    0x80,
    2,
    "c_codecs\nencode\nq\x00X",
    size,
    "a".repeat(1_000_000),
    "q\x01",
    text("latin1"),
    "q\x02",
  );
  return bytes(start, "h\x00h\x01h\x02\x86R".repeat(10_000), ".");
}

function repeatedArray(): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(1_000_000);
  const start = bytes(0x80, 3, "cnumpy.core.numeric\n_frombuffer\nq\x00B", size, Buffer.alloc(1_000_000));
  const type = bytes("q\x01cnumpy\ndtype\n", text("u1"), 0x89, 0x88, 0x87, "Rq\x02");
  const shape = bytes("J", size, 0x85, "q\x03");
  return bytes(
    start,
    type,
    shape,
    `h\x00(h\x01h\x02h\x03${text("C").toString("latin1")}tR`.repeat(10_000),
    ".",
  );
}

/** A byte that makes an empty value, or opens one, eight million times over: kilobytes once it is deflated. */
export const crowds: readonly (readonly [string, Buffer])[] = (
  [
    ["empty sets", 0x8f],
    ["empty dicts", "}"],
    ["empty lists", "]"],
    ["marks", "("],
    ["nulls", "N"],
  ] as const
).map(([name, code]) => [name, bytes(0x80, 4, Buffer.alloc(8_000_000, bytes(code)), ".")]);

const names = [
  "os",
  "system",
  "numpy",
  "ndarray",
  "dtype",
  "f8",
  "<",
  "storage",
  "0",
  "latin1",
  "torch",
  "cpu",
  "O8",
];
const globals = [
  "cos\nsystem\n",
  "ccollections\nOrderedDict\n",
  "cnumpy.core.multiarray\n_reconstruct\n",
  "cnumpy._core.multiarray\nscalar\n",
  "cnumpy\ndtype\n",
  "cnumpy\nndarray\n",
  "c_codecs\nencode\n",
  "cbuiltins\nset\n",
  "ctorch._utils\n_rebuild_tensor_v2\n",
  "ctorch\nFloatStorage\n",
];
const piece: fc.Arbitrary<Buffer> = fc.oneof(
  fc.constantFrom(..."()]}N2tldsuae0RbQ").map((code) => bytes(code)),
  fc
    .constantFrom(0x81, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8f, 0x90, 0x91, 0x93, 0x94)
    .map((code) => bytes(code)),
  fc.constantFrom(...globals).map((line) => bytes(line)),
  fc.constantFrom(...names).map(text),
  fc.nat(255).map((value) => bytes("K", value)),
  fc.nat(5).map((index) => bytes("q", index)),
  fc.nat(5).map((index) => bytes("h", index)),
  fc.uint8Array({ maxLength: 16 }).map((value) => bytes("C", value.length, value)),
  fc.uint8Array({ minLength: 1, maxLength: 9 }).map((value) => bytes(0x8a, value.length, value)),
  fc.bigInt(0n, 2n ** 64n - 1n).map((length) => bytes(0x8e, uint64(length))),
  fc.uint8Array({ minLength: 1, maxLength: 4 }).map((value) => Buffer.from(value)),
);

/** Mostly nonsense, often nearly sense. */
export const anyPickle: fc.Arbitrary<Buffer> = fc
  .array(piece, { maxLength: 40 })
  .map((pieces) => bytes(0x80, 2, ...pieces, "."));
