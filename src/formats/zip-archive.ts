/** Single members of a zip archive on disk, such as a Python wheel, without unpacking the rest. */
import { withFileBytes } from "./file-bytes.ts";
import { fileFault } from "./file-fault.ts";
import { readZipMember, readZipMembers } from "./zip.ts";

export interface ZipArchive {
  readonly names: ReadonlySet<string>;
  /** A member's bytes, checked against its checksum. */
  read(name: string): Uint8Array;
}

export function openZip(path: string): ZipArchive {
  const fault = fileFault(path, "zip archive");
  const members = withFileBytes(path, fault, (file) => readZipMembers(file, fault));
  return {
    names: new Set(members.keys()),
    read(name) {
      const member = members.get(name);
      if (!member) throw fault(`it has no member "${name}"`);
      return withFileBytes(path, fault, (file) => readZipMember(file, member, fault));
    },
  };
}
