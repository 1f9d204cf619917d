/** NumPy's `.npz` archives: a zip of `.npy` members, stored or deflated. */
import { withFileBytes } from "./file-bytes.ts";
import { fileFault } from "./file-fault.ts";
import { parseNpy } from "./npy.ts";
import type { NumpyArray } from "./numpy-array.ts";
import { readZipMember, readZipMembers } from "./zip.ts";

/** Every array by its name, without the `.npy`. */
export function readNpz(path: string): Map<string, NumpyArray> {
  const fault = fileFault(path, "npz archive");
  return withFileBytes(path, fault, (file) => {
    const arrays = new Map<string, NumpyArray>();
    for (const member of readZipMembers(file, fault).values()) {
      const inside = (reason: string) => fault(`in "${member.name}": ${reason}`);
      if (!member.name.endsWith(".npy")) inside("it is not an npy member");
      arrays.set(member.name.slice(0, -4), parseNpy(readZipMember(file, member, fault), inside));
    }
    return arrays;
  });
}
