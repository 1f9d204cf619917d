/**
 * NumPy's part of the allow-list: arrays, scalars and element types inside pickles.
 *
 * NumPy 2 moved `numpy.core` to `numpy._core`; files of both ages are common, so both spellings are known.
 */
import type { Fault } from "./file-fault.ts";
import { decodeArray, type NumpyArray, objectArray } from "./numpy-array.ts";
import { type NumpyType, parseNumpyType } from "./numpy-dtype.ts";
import {
  type AllowList,
  allow,
  allowNaming,
  type Buildable,
  heapBytes,
  type PickleContext,
} from "./pickle-value.ts";

const core = (name: string): string[] => [`numpy.core.${name}`, `numpy._core.${name}`];

export const numpyConstructors: AllowList = new Map([
  ...allowNaming(["numpy.ndarray"]),
  ...allow("numpy.dtype", ([code], { fault }) => new PickledType(code, fault)),
  ...allow(core("multiarray._reconstruct"), () => new PickledArray()),
  ...allow(core("multiarray.scalar"), makeScalar),
  ...allow(core("numeric._frombuffer"), makeFromBuffer),
]);

/** `numpy.dtype`: the code first, byte order and fields by BUILD. */
class PickledType implements Buildable {
  readonly #code: unknown;
  #type: NumpyType;

  constructor(code: unknown, fault: Fault) {
    this.#code = code;
    this.#type = parseNumpyType(code, fault);
  }

  get type(): NumpyType {
    return this.#type;
  }

  build(state: unknown, { fault }: PickleContext): void {
    if (!Array.isArray(state) || typeof state[1] !== "string")
      throw fault("its pickle has a malformed dtype");
    if (state[3] != null) throw fault("it has an array of records; save one array per field instead");
    this.#type = parseNumpyType(this.#code, fault, state[1]);
  }
}

/** `numpy.ndarray`: empty when made (as NumPy makes it), filled by BUILD, and a plain NumpyArray to whoever reads it then. */
class PickledArray implements Buildable {
  dtype: NumpyArray["dtype"] = "uint8";
  shape: readonly number[] = [0];
  data: NumpyArray["data"] = new Uint8Array(0);

  build(state: unknown, context: PickleContext): void {
    const { fault } = context;
    if (!Array.isArray(state) || state.length !== 5) throw fault("its pickle has a malformed array");
    const [, shape, type, fortran, contents] = state as unknown[];
    if (!Array.isArray(shape) || !(type instanceof PickledType) || typeof fortran !== "boolean") {
      throw fault("its pickle has a malformed array");
    }
    Object.assign(this, arrayFrom(type.type, shape, fortran, contents, context));
  }
}

function arrayFrom(
  type: NumpyType,
  shape: unknown[],
  fortran: boolean,
  contents: unknown,
  { fault, spend, charge }: PickleContext,
): NumpyArray {
  const sizes = shape as number[]; // checked by decodeArray and objectArray
  if (type.kind === "object") {
    if (!Array.isArray(contents)) throw fault("its pickle has an object array without a list of objects");
    charge(contents.length * heapBytes.slot);
    return objectArray(sizes, fortran, contents, fault);
  }
  if (!(contents instanceof Uint8Array)) throw fault("its pickle has an array whose contents are not bytes");
  spend(contents.byteLength); // copied where alignment or order asks for it
  if (type.kind !== "number") charge(contents.byteLength * heapBytes.slot);
  return decodeArray({ type, shape: sizes, fortran, bytes: contents }, fault);
}

function makeScalar([type, bytes]: readonly unknown[], context: PickleContext): unknown {
  if (!(type instanceof PickledType)) throw context.fault("its pickle has a scalar without a type");
  const array = arrayFrom(type.type, [], false, bytes, context);
  if (array.dtype === "bool") return array.data[0] === 1;
  // 16-bit floats stay arrays: their bits are not their value.
  if (array.dtype === "float16") return array;
  const [value] = array.data;
  return typeof value === "bigint" && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

/** Protocol 5: `_frombuffer(bytes, dtype, shape, order)`. */
function makeFromBuffer([bytes, type, shape, order]: readonly unknown[], context: PickleContext): NumpyArray {
  if (!(type instanceof PickledType) || !Array.isArray(shape))
    throw context.fault("its pickle has a malformed array");
  return arrayFrom(type.type, shape, order === "F", bytes, context);
}
