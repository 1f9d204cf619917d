/**
 * PyTorch's part of the allow-list: storages, tensors over them, parameters.
 *
 * Reading makes descriptions only (`StoredTensor`): where the bytes are and how they are strided. Whether
 * they become tensors, and when, is for `torch-file.ts` to decide; so a listing needs no libtorch.
 */
import type { Fault } from "./file-fault.ts";
import { countElements, elementBytes } from "./numeric-array.ts";
import {
  type AllowList,
  allow,
  allowNaming,
  type Constructor,
  isConstructor,
  type PickleContext,
} from "./pickle-value.ts";
import { printableShape } from "./printable.ts";

const storageTypes = {
  BoolStorage: "bool",
  ByteStorage: "uint8",
  CharStorage: "int8",
  ShortStorage: "int16",
  IntStorage: "int32",
  LongStorage: "int64",
  HalfStorage: "float16",
  BFloat16Storage: "bfloat16",
  FloatStorage: "float32",
  DoubleStorage: "float64",
} as const;

export type TorchElementType = (typeof storageTypes)[keyof typeof storageTypes];

const elementTypes: readonly string[] = Object.values(storageTypes);
const storageNames = Object.keys(storageTypes).map((name) => `torch.${name}`);

/** A run of bytes in the file. The old format tells where it is only after the pickle. */
export interface TorchStorage {
  readonly key: string;
  readonly dtype: TorchElementType;
  byteOffset: number;
  byteLength: number;
}

export class StoredTensor {
  readonly dtype: TorchElementType;
  readonly shape: readonly number[];
  readonly stride: readonly number[]; // in elements
  readonly offset: number; // of the first element in the storage, in elements
  readonly storage: TorchStorage;

  constructor(
    storage: TorchStorage,
    dtype: TorchElementType,
    layout: Pick<StoredTensor, "shape" | "stride" | "offset">,
  ) {
    this.storage = storage;
    this.dtype = dtype;
    this.shape = layout.shape;
    this.stride = layout.stride;
    this.offset = layout.offset;
  }
}

/** ("storage", type, key, device, number of elements): the only persistent id that there is. */
export function parseStorageId(id: unknown, fault: Fault) {
  const [tag, type, key, , count] = Array.isArray(id) ? (id as unknown[]) : [];
  if (tag !== "storage" || typeof key !== "string" || !Number.isSafeInteger(count) || (count as number) < 0) {
    throw fault("it refers to something that is not a storage");
  }
  return { key, dtype: storageElementType(type, fault), count: count as number };
}

/** What GLOBAL "torch FloatStorage" stands for inside a persistent id. */
function storageElementType(value: unknown, fault: Fault): TorchElementType {
  const name = isConstructor(value) ? value.name : "";
  if (name === "torch.storage.UntypedStorage" || name === "torch.UntypedStorage") return "uint8";
  const dtype = storageTypes[name.replace(/^torch\./, "") as keyof typeof storageTypes];
  if (!name.startsWith("torch.") || !dtype) throw fault("it has a storage of unknown type");
  return dtype;
}

/** Checks, once the storage's place is known, that every element lies inside it. */
export function checkInsideStorage(
  { shape, stride, offset, dtype, storage }: StoredTensor,
  fault: Fault,
): void {
  const count = countElements(shape, fault);
  const last = shape.reduce((sum, size, axis) => sum + (size - 1) * stride[axis]!, offset);
  const available = Math.floor(storage.byteLength / elementBytes(dtype));
  if (count > 0 && !(last < available)) {
    throw fault(
      `a tensor of shape ${printableShape(shape)} reaches beyond its storage of ${available} elements`,
    );
  }
  // A zero stride lets a small storage pose as a huge tensor; copying it would need memory that no file backs.
  if (count > available) throw fault(`a tensor of shape ${printableShape(shape)} is larger than its storage`);
}

export const torchConstructors: AllowList = new Map([
  ...allowNaming([...storageNames, "torch.storage.UntypedStorage", "torch.UntypedStorage"]),
  ...allowNaming(elementTypes.map((name) => `torch.${name}`)),
  ...allowNaming(["torch.Tensor", "torch.nn.parameter.Parameter"]),
  ...allow("torch._utils._rebuild_tensor", (args, context) => rebuildTensor(args, context)),
  ...allow("torch._utils._rebuild_tensor_v2", (args, context) => rebuildTensor(args, context)),
  ...allow("torch._utils._rebuild_tensor_v3", (args, context) => rebuildTensor(args, context, args[6])),
  ...allow("torch._utils._rebuild_parameter", ([data], { fault }) => parameterData(data, fault)),
  ...allow("torch._utils._rebuild_parameter_with_state", ([data], { fault }) => parameterData(data, fault)),
  ...allow("torch._tensor._rebuild_from_type_v2", rebuildFromType),
  ...allow("torch.device", makeDeviceName),
]);

/** "cuda:0", as text. */
function makeDeviceName([kind, index]: readonly unknown[], { fault }: PickleContext): string {
  if (typeof kind !== "string") throw fault("it has a malformed device");
  return typeof index === "number" ? `${kind}:${index}` : kind;
}

function parameterData(data: unknown, fault: Fault): StoredTensor {
  if (!(data instanceof StoredTensor)) throw fault("it has a parameter that is not a tensor");
  return data;
}

function rebuildTensor(
  args: readonly unknown[],
  { fault }: PickleContext,
  dtypeName?: unknown,
): StoredTensor {
  const [storage, offset, shape, stride] = args;
  const sound = isStorage(storage) && isSize(offset) && isSizes(shape) && isSizes(stride);
  if (!sound || shape.length !== stride.length) throw fault("it has a malformed tensor");
  const dtype = dtypeName === undefined ? storage.dtype : namedElementType(dtypeName as Constructor, fault);
  return new StoredTensor(storage, dtype, { shape, stride, offset });
}

function namedElementType(value: Constructor, fault: Fault): TorchElementType {
  const name = isConstructor(value) ? value.name.replace(/^torch\./, "") : "";
  if (!elementTypes.includes(name)) throw fault("it has a tensor of unknown element type");
  return name as TorchElementType;
}

/** Tensors and parameters with Python attributes; the attributes are dropped. */
function rebuildFromType([rebuild, , args]: readonly unknown[], context: PickleContext): unknown {
  const known = isConstructor(rebuild) && rebuild.name.startsWith("torch._utils._rebuild_");
  if (!known || !Array.isArray(args)) throw context.fault("it has a malformed tensor");
  return rebuild.construct(args, context);
}

const isStorage = (value: unknown): value is TorchStorage =>
  typeof value === "object" && value !== null && "byteOffset" in value && "key" in value;
const isSize = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isSizes = (value: unknown): value is number[] => Array.isArray(value) && value.every(isSize);
