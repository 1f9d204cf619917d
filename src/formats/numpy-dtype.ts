/**
 * NumPy's short type codes ("<f4", "|b1", ">i8", "|O", "<U12") and what they mean for us.
 *
 * The same codes appear in `.npy` headers and in pickles. Structured, complex and date types are refused:
 * no file of this field that we know has them.
 */
import type { Fault } from "./file-fault.ts";
import type { ElementType } from "./numeric-array.ts";
import { printable } from "./printable.ts";

export type NumpyType =
  | { readonly kind: "number"; readonly dtype: ElementType; readonly bigEndian: boolean }
  | { readonly kind: "text"; readonly width: number; readonly bigEndian: boolean } // 4 bytes a character
  | { readonly kind: "bytes"; readonly width: number }
  | { readonly kind: "object" };

const elementTypes: Readonly<Record<string, ElementType>> = {
  b1: "bool",
  u1: "uint8",
  i1: "int8",
  u2: "uint16",
  i2: "int16",
  u4: "uint32",
  i4: "int32",
  u8: "uint64",
  i8: "int64",
  f2: "float16",
  f4: "float32",
  f8: "float64",
};

export const numpyCodes = new Map(Object.entries(elementTypes).map(([code, dtype]) => [dtype, code]));

/** `code` with or without its order mark; `order` as given apart from it in pickles. */
export function parseNumpyType(code: unknown, fault: Fault, order?: string): NumpyType {
  const match = /^([<>|=]?)([a-zA-Z?])(\d{0,9})$/.exec(typeof code === "string" ? code : "");
  if (!match) throw fault(`its element type ${printable(code)} is not known`);
  const [, mark = "", letter = "", digits = ""] = match!;
  const bigEndian = (order ?? mark) === ">";
  const width = Number(digits);
  const dtype = letter === "?" ? "bool" : elementTypes[letter + digits];
  if (dtype && Object.hasOwn(elementTypes, letter + digits)) return { kind: "number", dtype, bigEndian };
  if (letter === "?" && digits === "") return { kind: "number", dtype: "bool", bigEndian };
  if (letter === "O") return { kind: "object" };
  if (letter === "U") return { kind: "text", width, bigEndian };
  if (letter === "S") return { kind: "bytes", width };
  throw fault(`its element type "${code}" is not supported; convert it to a number type in NumPy`);
}
