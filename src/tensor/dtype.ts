/** Element types and devices, as people write them and as libtorch numbers them. */
import { UserError } from "#registry";

const dtypeCodes = {
  uint8: 0,
  int8: 1,
  int16: 2,
  int32: 3,
  int64: 4,
  float16: 5,
  float32: 6,
  float64: 7,
  bool: 11,
  bfloat16: 15,
} as const;

export type DType = keyof typeof dtypeCodes;
export type Device = "cpu" | "meta" | "cuda" | `cuda:${number}`;

/** What stands for one number in an operator's arguments; `{ float: 1 }` forces a float where 1 would be an int. */
export type Scalar = number | boolean | bigint | { readonly float: number };
export type MemoryFormat = number;

const dtypeNames = new Map<number, DType>(
  Object.entries(dtypeCodes).map(([name, code]) => [code, name as DType]),
);
const deviceTypes: Record<string, number> = { cpu: 0, cuda: 1, meta: 14 };

/** Typed arrays that hold each element type; the 16-bit floats travel as their bits. */
export const arrayTypes = {
  uint8: Uint8Array,
  int8: Int8Array,
  int16: Int16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  float16: Uint16Array,
  float32: Float32Array,
  float64: Float64Array,
  bool: Uint8Array,
  bfloat16: Uint16Array,
} as const;

export type TypedArray =
  | Uint8Array
  | Uint8ClampedArray
  | Int8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Float32Array
  | Float64Array
  | BigInt64Array;

export function dtypeCode(dtype: DType): number {
  const code = dtypeCodes[dtype];
  if (code === undefined) {
    throw new UserError(`no element type "${dtype}"; there are: ${Object.keys(dtypeCodes).join(", ")}`);
  }
  return code;
}

export function dtypeName(code: number): DType {
  const name = dtypeNames.get(code);
  if (name === undefined) throw new Error(`internal: libtorch's element type ${code} has no name here`);
  return name;
}

/** type << 8 | index + 1; no index means the current device. */
export function deviceCode(device: Device): number {
  const [type = "", index] = device.split(":");
  const code = deviceTypes[type];
  if (code === undefined || (index !== undefined && !/^\d{1,2}$/.test(index))) {
    throw new UserError(`no device "${device}"; expected cpu, cuda, cuda:<number> or meta`);
  }
  return (code << 8) | (index === undefined ? 0 : Number(index) + 1);
}

export function deviceName(code: number): Device {
  const type = code >> 8;
  if (type === 0) return "cpu";
  if (type === deviceTypes.meta) return "meta";
  return `cuda:${Math.max(0, (code & 255) - 1)}`;
}

/** The element type that a typed array naturally is. */
export function dtypeOfArray(array: TypedArray): DType {
  if (array instanceof Float32Array) return "float32";
  if (array instanceof Float64Array) return "float64";
  if (array instanceof BigInt64Array) return "int64";
  if (array instanceof Int32Array) return "int32";
  if (array instanceof Int16Array) return "int16";
  if (array instanceof Int8Array) return "int8";
  if (array instanceof Uint8Array || array instanceof Uint8ClampedArray) return "uint8";
  throw new UserError("a Uint16Array has no element type of its own; say dtype: bfloat16 or float16");
}
