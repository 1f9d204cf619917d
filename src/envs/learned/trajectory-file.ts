/**
 * Writes starts in the published form: `.npy` files that hold arrays of pickled frame records.
 *
 * Python readers of the reference open these with `numpy.load(path, allow_pickle=True)`, so the pickle is NumPy's own:
 * an object array of dicts whose values are arrays and text.
 */
import {
  type Pickled,
  pickleBytes,
  pickleCall,
  pickleDict,
  pickleFile,
  pickleFlag,
  pickleGlobal,
  pickleInteger,
  pickleIntegers,
  pickleList,
  pickleNone,
  pickleState,
  pickleText,
  pickleTuple,
  replaceFile,
} from "#formats";
import type { FrameRecord } from "./frame-record.ts";

/** NumPy's codes: objects, bytes, 32-bit floats. */
type Kind = "O8" | "u1" | "f4";

export function writeTrajectory(path: string, records: readonly FrameRecord[]): void {
  const objects = pickleList(records.map(frame));
  replaceFile(path, [npyHeader(records.length), pickleFile(ndarray("O8", [records.length], objects))]);
}

function npyHeader(length: number): Uint8Array {
  const literal = `{'descr': '|O', 'fortran_order': False, 'shape': (${length},), }`;
  const size = Math.ceil((10 + literal.length + 1) / 64) * 64 - 10;
  const prefix = Uint8Array.of(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, size & 255, size >> 8);
  return Buffer.concat([prefix, Buffer.from(`${literal.padEnd(size - 1)}\n`)]);
}

function frame({ image, instruction, action, pose }: FrameRecord): Pickled {
  const entries: [string, Pickled][] = [["image", ndarray("u1", image.shape, pickleBytes(image.data))]];
  if (instruction !== undefined) entries.push(["instruction", pickleText(instruction)]);
  if (action) entries.push(["delta_action", floats(action)]);
  if (pose) entries.push(["init_ee_pose", floats(pose)]);
  return pickleDict(entries);
}

function floats(values: readonly number[]): Pickled {
  const bytes = new Uint8Array(Float32Array.from(values).buffer);
  return ndarray("f4", [values.length], pickleBytes(bytes));
}

/** `_reconstruct(ndarray, (0,), b"b")`, then its state: version, shape, dtype, C order, contents. */
function ndarray(kind: Kind, shape: readonly number[], contents: Pickled): Pickled {
  const empty = pickleCall(
    pickleGlobal("numpy.core.multiarray", "_reconstruct"),
    pickleTuple(pickleGlobal("numpy", "ndarray"), pickleIntegers([0]), pickleBytes(Buffer.from("b"))),
  );
  return pickleState(
    empty,
    pickleTuple(pickleInteger(1), pickleIntegers(shape), dtype(kind), pickleFlag(false), contents),
  );
}

function dtype(kind: Kind): Pickled {
  const flags = kind === "O8" ? 63 : 0; // NumPy's mark of arrays that hold Python objects
  const plain = pickleCall(
    pickleGlobal("numpy", "dtype"),
    pickleTuple(pickleText(kind), pickleFlag(false), pickleFlag(true)),
  );
  const order = pickleText(kind === "f4" ? "<" : "|");
  const tail = [-1, -1, flags].map(pickleInteger);
  return pickleState(
    plain,
    pickleTuple(pickleInteger(3), order, pickleNone, pickleNone, pickleNone, ...tail),
  );
}
