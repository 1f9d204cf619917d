/** NumPy's `.npz` archives: a zip of `.npy` members, stored or deflated. */
import { replaceFile } from "./atomic-write.ts";
import { withFileBytes } from "./file-bytes.ts";
import { type Fault, fileFault } from "./file-fault.ts";
import { encodeNpyHeader, parseNpy } from "./npy.ts";
import { bytesOfElements, type NumericArray } from "./numeric-array.ts";
import type { NumpyArray } from "./numpy-array.ts";
import { readZipMember, readZipMembers } from "./zip.ts";
import { encodeZip } from "./zip-write.ts";

/** Every array by its name, without the `.npy`. */
export function readNpz(path: string): Map<string, NumpyArray> {
  const fault = fileFault(path, "npz archive");
  return withFileBytes(path, fault, (file) => {
    const arrays = new Map<string, NumpyArray>();
    for (const member of readZipMembers(file, fault).values()) {
      const inside: Fault = (reason) => fault(`in "${member.name}": ${reason}`);
      if (!member.name.endsWith(".npy")) throw inside("it is not an npy member");
      arrays.set(member.name.slice(0, -4), parseNpy(readZipMember(file, member, fault), inside, file.size));
    }
    return arrays;
  });
}

/** Deflated, as `numpy.savez_compressed` does; equal arrays give equal files. */
export function writeNpz(path: string, arrays: Readonly<Record<string, NumericArray>>): void {
  const members = Object.entries(arrays).map(([name, array]) => ({
    name: `${name}.npy`,
    bytes: Buffer.concat([encodeNpyHeader(array), bytesOfElements(array.data)]),
    deflate: true,
  }));
  replaceFile(path, encodeZip(members));
}
