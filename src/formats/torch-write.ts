/**
 * Writes a state dict as `torch.save` would: a zip with one pickle and one stored member per tensor.
 *
 * For the small files that published layouts keep as `.pth`, such as reward networks; large weights are safetensors.
 */
import type { DType, Tensor } from "#tensor";
import { replaceFile } from "./atomic-write.ts";
import {
  type Pickled,
  pickleCall,
  pickleFile,
  pickleFlag,
  pickleGlobal,
  pickleInteger,
  pickleIntegers,
  pickleItems,
  pickleOutside,
  pickleText,
  pickleTuple,
} from "./pickle-write.ts";
import { encodeZip } from "./zip-write.ts";

const storages: Partial<Record<DType, string>> = {
  float32: "FloatStorage",
  float64: "DoubleStorage",
  float16: "HalfStorage",
  bfloat16: "BFloat16Storage",
  int64: "LongStorage",
  int32: "IntStorage",
  uint8: "ByteStorage",
  bool: "BoolStorage",
};

const orderedDict = pickleCall(pickleGlobal("collections", "OrderedDict"), pickleTuple());

export function writeTorchState(path: string, state: ReadonlyMap<string, Tensor>): void {
  const entries = [...state].map(([name, tensor], index) => [name, describe(tensor, index)] as const);
  const members = [
    { name: "archive/data.pkl", bytes: pickleFile(pickleItems(orderedDict, entries)) },
    { name: "archive/byteorder", bytes: Buffer.from("little") },
    ...[...state.values()].map((tensor, index) => ({
      name: `archive/data/${index}`,
      bytes: rawBytes(tensor),
    })),
    { name: "archive/version", bytes: Buffer.from("3\n") },
  ];
  replaceFile(path, encodeZip(members));
}

function describe(tensor: Tensor, index: number): Pickled {
  const kind = storages[tensor.dtype];
  if (!kind) throw new Error(`internal: no torch storage for ${tensor.dtype}`);
  const storage = pickleTuple(
    pickleText("storage"),
    pickleGlobal("torch", kind),
    pickleText(String(index)),
    pickleText("cpu"),
    pickleInteger(tensor.numel),
  );
  return pickleCall(
    pickleGlobal("torch._utils", "_rebuild_tensor_v2"),
    pickleTuple(
      pickleOutside(storage),
      pickleInteger(0),
      pickleIntegers(tensor.shape),
      pickleIntegers(rowMajorStrides(tensor.shape)),
      pickleFlag(false),
      orderedDict,
    ),
  );
}

function rowMajorStrides(shape: readonly number[]): number[] {
  let stride = 1;
  const strides = shape.toReversed().map((size) => {
    const now = stride;
    stride *= size;
    return now;
  });
  return strides.reverse();
}

function rawBytes(tensor: Tensor): Uint8Array {
  const data = tensor.detach().cpu().contiguous().data();
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}
