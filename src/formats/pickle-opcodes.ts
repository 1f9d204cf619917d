/**
 * What each pickle opcode does to the machine. Names and meanings are those of CPython's `pickletools`.
 *
 * Left out on purpose: extension registry codes (EXT1…), out-of-band buffers and INST/OBJ class instances;
 * no file that we read has them, and each would be one more thing to trust.
 */
import { heapBytes, isBuildable } from "./pickle-value.ts";
import type { PickleMachine } from "./unpickler.ts";

type Opcode = (machine: PickleMachine) => void;

/** Python itself refuses to parse longer decimal numbers; no size or index needs more. */
const longestDecimal = 4300;
const longestInteger = 1024; // bytes
const longestFloat = 64; // characters; repr() writes at most 24

const push =
  (read: (m: PickleMachine) => unknown): Opcode =>
  (m) =>
    m.push(read(m));

/** Pushes a new value that takes room of its own. */
const make = (kind: keyof typeof heapBytes, read: (m: PickleMachine) => unknown): Opcode =>
  push((m) => {
    m.charge(heapBytes[kind]);
    return read(m);
  });

export const opcodes: ReadonlyMap<number, Opcode> = new Map<number, Opcode>([
  [0x80, (m) => checkProtocol(m, m.cursor.uint8())], // PROTO
  [0x95, (m) => void m.cursor.length64()], // FRAME: a hint for streaming readers
  op(".", (m) => m.stop()),

  op(
    "N",
    push(() => null),
  ),
  [0x88, push(() => true)], // NEWTRUE
  [0x89, push(() => false)], // NEWFALSE
  op(
    "I",
    make("text", (m) => decimalInteger(m, m.cursor.line(), true)),
  ),
  op(
    "J",
    push((m) => m.cursor.int32()),
  ),
  op(
    "K",
    push((m) => m.cursor.uint8()),
  ),
  op(
    "M",
    push((m) => m.cursor.uint16()),
  ),
  op(
    "L",
    make("text", (m) => decimalInteger(m, m.cursor.line().replace(/L$/, ""), false)),
  ),
  [0x8a, make("text", (m) => binaryInteger(m, m.cursor.uint8()))], // LONG1
  [0x8b, make("text", (m) => binaryInteger(m, m.cursor.int32()))], // LONG4
  op(
    "F",
    push((m) => decimalFloat(m, m.cursor.line())),
  ),
  op(
    "G",
    push((m) => m.cursor.bigEndianFloat64()),
  ),

  op(
    "V",
    make("text", (m) => unescapeUnicode(m.cursor.line())),
  ),
  [0x8c, make("text", (m) => m.cursor.text(m.cursor.uint8()))], // SHORT_BINUNICODE
  op(
    "X",
    make("text", (m) => m.cursor.text(m.cursor.uint32())),
  ),
  [0x8d, make("text", (m) => m.cursor.text(m.cursor.length64()))], // BINUNICODE8
  op(
    "C",
    make("view", (m) => m.cursor.take(m.cursor.uint8())),
  ),
  op(
    "B",
    make("view", (m) => m.cursor.take(m.cursor.uint32())),
  ),
  [0x8e, make("view", (m) => m.cursor.take(m.cursor.length64()))], // BINBYTES8
  [0x96, make("view", (m) => m.cursor.take(m.cursor.length64()))], // BYTEARRAY8
  // Python 2's str: bytes that were almost always text.
  op(
    "U",
    make("text", (m) => m.cursor.text(m.cursor.uint8())),
  ),
  op(
    "T",
    make("text", (m) => m.cursor.text(m.cursor.uint32())),
  ),

  op("(", (m) => m.mark()),
  op("0", (m) => m.discard()),
  op("1", (m) => void m.popToMark()),
  op("2", (m) => m.push(m.top())),

  op(
    "]",
    make("list", () => []),
  ),
  op(
    ")",
    make("list", () => []),
  ),
  op(
    "}",
    make("table", () => new Map()),
  ),
  [0x8f, make("table", () => new Set())], // EMPTY_SET
  op(
    "l",
    make("list", (m) => m.popToMark()),
  ),
  op(
    "t",
    make("list", (m) => m.popToMark()),
  ),
  op(
    "d",
    make("table", (m) => setItems(m, new Map(), m.popToMark())),
  ),
  [0x91, make("table", (m) => addItems(m, new Set(), m.popToMark()))], // FROZENSET
  [0x85, make("list", (m) => [m.pop()])], // TUPLE1
  [0x86, make("list", (m) => [m.pop(), m.pop()].reverse())], // TUPLE2
  [0x87, make("list", (m) => [m.pop(), m.pop(), m.pop()].reverse())], // TUPLE3
  op("a", (m) => appendTo(m, [m.pop()])),
  op("e", (m) => appendTo(m, m.popToMark())),
  op("s", (m) => setTopItems(m, [m.pop(), m.pop()].reverse())),
  op("u", (m) => setTopItems(m, m.popToMark())),
  [0x90, (m) => addTo(m, m.popToMark())], // ADDITEMS

  op("p", (m) => m.remember(memoIndex(m, m.cursor.line()), m.top())),
  op("q", (m) => m.remember(m.cursor.uint8(), m.top())),
  op("r", (m) => m.remember(m.cursor.uint32(), m.top())),
  [0x94, (m) => m.remember(m.memo.size, m.top())], // MEMOIZE
  op(
    "g",
    push((m) => m.recall(memoIndex(m, m.cursor.line()))),
  ),
  op(
    "h",
    push((m) => m.recall(m.cursor.uint8())),
  ),
  op(
    "j",
    push((m) => m.recall(m.cursor.uint32())),
  ),

  op(
    "c",
    push((m) => m.find(m.cursor.line(), m.cursor.line())),
  ),
  [0x93, (m) => globalFromStack(m)], // STACK_GLOBAL
  op("R", (m) => callTop(m)),
  [0x81, (m) => callTop(m)], // NEWOBJ: cls.__new__(cls, *args), the same for what is allowed
  op("b", (m) => build(m, m.pop())),
  op(
    "P",
    push((m) => m.loadPersistent(m.cursor.line())),
  ),
  op(
    "Q",
    push((m) => m.loadPersistent(m.pop())),
  ),
]);

function op(letter: string, run: Opcode): [number, Opcode] {
  return [letter.charCodeAt(0), run];
}

function checkProtocol(m: PickleMachine, version: number): void {
  if (version > 5) throw m.fault(`its pickle has protocol ${version}; 0 to 5 are known`);
}

function callTop(m: PickleMachine): void {
  const args = m.pop();
  m.push(m.call(m.pop(), args));
}

function globalFromStack(m: PickleMachine): void {
  const name = m.pop();
  m.push(m.find(m.pop(), name));
}

function build(m: PickleMachine, state: unknown): void {
  const target = m.top();
  if (isBuildable(target)) target.build(state, m);
  // A state dict's `_metadata` and the like: attributes of a dict, which have no place in a Map.
  else if (!(target instanceof Map)) throw m.fault("its pickle sets attributes on a value that has none");
}

function appendTo(m: PickleMachine, items: readonly unknown[]): void {
  const list = m.top();
  if (!Array.isArray(list)) throw m.fault("its pickle appends to a value that is not a list");
  for (const item of items) list.push(item);
}

function addTo(m: PickleMachine, items: readonly unknown[]): void {
  const set = m.top();
  if (!(set instanceof Set)) throw m.fault("its pickle adds to a value that is not a set");
  addItems(m, set, items);
}

function addItems(m: PickleMachine, set: Set<unknown>, items: readonly unknown[]): Set<unknown> {
  m.charge(items.length * heapBytes.entry);
  for (const item of items) set.add(item);
  return set;
}

function setTopItems(m: PickleMachine, items: readonly unknown[]): void {
  const dict = m.top();
  if (!(dict instanceof Map)) throw m.fault("its pickle sets an item of a value that is not a dict");
  setItems(m, dict, items);
}

function setItems(m: PickleMachine, dict: Map<unknown, unknown>, items: readonly unknown[]): unknown {
  if (items.length % 2 !== 0) throw m.fault("its pickle has a key without a value");
  m.charge((items.length / 2) * heapBytes.entry);
  for (let i = 0; i < items.length; i += 2) dict.set(items[i], items[i + 1]);
  return dict;
}

function memoIndex(m: PickleMachine, line: string): number {
  if (!/^\d{1,9}$/.test(line)) throw m.fault("its pickle has a memo index that is not a number");
  return Number(line);
}

function decimalInteger(m: PickleMachine, line: string, booleans: boolean): unknown {
  if (booleans && (line === "00" || line === "01")) return line === "01";
  if (line.length > longestDecimal || !/^[+-]?\d+$/.test(line))
    throw m.fault("its pickle has a malformed integer");
  return narrow(BigInt(line.replace(/^\+/, "")));
}

function binaryInteger(m: PickleMachine, length: number): unknown {
  if (length < 0 || length > longestInteger) throw m.fault(`its pickle has an integer of ${length} bytes`);
  const bytes = m.cursor.take(length);
  if (length === 0) return 0;
  const hex = Buffer.from(bytes).reverse().toString("hex");
  return narrow(BigInt.asIntN(length * 8, BigInt(`0x${hex}`)));
}

const narrow = (value: bigint): number | bigint =>
  Number.isSafeInteger(Number(value)) ? Number(value) : value;

function decimalFloat(m: PickleMachine, line: string): number {
  const special: Record<string, number> = { nan: Number.NaN, inf: Infinity, "-inf": -Infinity };
  if (Object.hasOwn(special, line)) return special[line]!;
  if (line.length > longestFloat || !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(line))
    throw m.fault("its pickle has a malformed float");
  return Number(line);
}

const unescapeUnicode = (line: string): string =>
  line.replace(/\\u([0-9a-f]{4})|\\U([0-9a-f]{8})/gi, (whole, short?: string, long?: string) => {
    const code = Number.parseInt(short ?? long ?? "", 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
