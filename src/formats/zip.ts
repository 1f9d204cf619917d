/**
 * Reads the members of a zip archive: what `.npz` and PyTorch's `.pth` are inside.
 *
 * Follows PKWARE's APPNOTE 6.3.10, including zip64. Trusts only the central directory, and checks it:
 * members must lie inside the file and must not overlap (overlapping members are how small archives hide
 * petabytes), stored members have the size they declare, and the compressed ones together may not declare
 * more than the limit below. Only `stored` and `deflate` exist in the formats we read.
 */
import { crc32, inflateRawSync } from "node:zlib";
import { ByteCursor } from "./byte-cursor.ts";
import type { FileBytes } from "./file-bytes.ts";
import type { Fault } from "./file-fault.ts";

export interface ZipMember {
  readonly name: string;
  /** Where the (possibly compressed) bytes begin in the file. */
  readonly dataOffset: number;
  readonly compressedSize: number;
  readonly size: number;
  readonly stored: boolean;
  readonly checksum: number;
}

/** Honest arrays of zeros deflate about 1000 to 1, so small archives may; large ones may claim 200 to 1. */
const freelyInflatedBytes = 64 * 2 ** 20;
const largestRatio = 200;

const endSignature = 0x06054b50;
const end64Signature = 0x06064b50;
const end64LocatorSignature = 0x07064b50;
const centralSignature = 0x02014b50;
const localSignature = 0x04034b50;

/** The members by name, in the order of the central directory. */
export function readZipMembers(file: FileBytes, fault: Fault): Map<string, ZipMember> {
  const directory = findDirectory(file, fault);
  const cursor = new ByteCursor(file.read(directory.offset, directory.size), fault);
  const members = new Map<string, ZipMember>();
  for (let i = 0; i < directory.count; i++) {
    const member = readCentralEntry(file, cursor, fault);
    if (members.has(member.name)) throw fault(`two members are called "${member.name}"`);
    members.set(member.name, member);
  }
  refuseOverlaps([...members.values()], directory.offset, fault);
  refuseBombs([...members.values()], file.size, fault);
  return members;
}

/** A member's bytes, inflated and checked against its checksum. */
export function readZipMember(file: FileBytes, member: ZipMember, fault: Fault): Uint8Array {
  const raw = file.read(member.dataOffset, member.compressedSize);
  const bytes = member.stored ? raw : inflate(raw, member, fault);
  if (crc32(bytes) !== member.checksum)
    throw fault(`the checksum of "${member.name}" is wrong; it is damaged`);
  return bytes;
}

function inflate(raw: Uint8Array, member: ZipMember, fault: Fault): Uint8Array {
  let bytes: Uint8Array;
  try {
    bytes = inflateRawSync(raw, { maxOutputLength: Math.max(member.size, 1) });
  } catch (error) {
    throw fault(`"${member.name}" does not inflate: ${(error as Error).message}`);
  }
  if (bytes.byteLength !== member.size) {
    throw fault(`"${member.name}" inflates to ${bytes.byteLength} bytes, not the ${member.size} it declares`);
  }
  return bytes;
}

function findDirectory(file: FileBytes, fault: Fault): { offset: number; size: number; count: number } {
  const tailSize = Math.min(file.size, 22 + 0xffff); // the end record and the longest comment
  const tail = file.read(file.size - tailSize, tailSize);
  const view = new DataView(tail.buffer, tail.byteOffset, tail.byteLength);
  let at = tailSize - 22;
  while (at >= 0 && view.getUint32(at, true) !== endSignature) at--;
  if (at < 0) throw fault("it has no zip directory at its end; it may be cut short, or of another format");
  const cursor = new ByteCursor(tail, fault, at + 10);
  const end = { count: cursor.uint16(), size: cursor.uint32(), offset: cursor.uint32() };
  const is64 = end.count === 0xffff || end.size === 0xffffffff || end.offset === 0xffffffff;
  const directory = is64 ? findDirectory64(file, file.size - tailSize + at, fault) : end;
  if (directory.count * 46 > directory.size) {
    throw fault(`it declares ${directory.count} members in a directory of ${directory.size} bytes`);
  }
  return directory;
}

function findDirectory64(file: FileBytes, endOffset: number, fault: Fault) {
  const locator = new ByteCursor(file.read(endOffset - 20, 20), fault);
  if (locator.uint32() !== end64LocatorSignature) throw fault("its zip64 directory is missing");
  locator.take(4);
  const record = new ByteCursor(file.read(locator.length64(), 56), fault);
  if (record.uint32() !== end64Signature) throw fault("its zip64 directory is damaged");
  record.take(28);
  const count = record.length64();
  return { count, size: record.length64(), offset: record.length64() };
}

function readCentralEntry(file: FileBytes, cursor: ByteCursor, fault: Fault): ZipMember {
  if (cursor.uint32() !== centralSignature) throw fault("its zip directory is damaged");
  cursor.take(4);
  const flags = cursor.uint16();
  const method = cursor.uint16();
  cursor.take(4);
  const checksum = cursor.uint32();
  const sizes = { compressed: cursor.uint32(), full: cursor.uint32() };
  const [nameLength, extraLength, commentLength] = [cursor.uint16(), cursor.uint16(), cursor.uint16()];
  cursor.take(8);
  const declaredOffset = cursor.uint32();
  const name = cursor.text(nameLength);
  const extra = new ByteCursor(cursor.take(extraLength), fault);
  cursor.take(commentLength);
  if (flags & 1) throw fault(`"${name}" is encrypted`);
  if (method !== 0 && method !== 8)
    throw fault(`"${name}" uses zip method ${method}; only stored and deflate are read`);
  const wide = readZip64Extra(extra, sizes, declaredOffset);
  if (method === 0 && wide.compressed !== wide.full)
    throw fault(`"${name}" is stored but declares two sizes`);
  return {
    name,
    dataOffset: findData(file, wide.offset, name, fault),
    compressedSize: wide.compressed,
    size: wide.full,
    stored: method === 0,
    checksum,
  };
}

/** Fields that did not fit 32 bits are in extra field 1, in this order and only if they did not fit. */
function readZip64Extra(extra: ByteCursor, sizes: { compressed: number; full: number }, offset: number) {
  const wide = { ...sizes, offset };
  while (extra.remaining >= 4) {
    const [kind, length] = [extra.uint16(), extra.uint16()];
    if (kind !== 1) {
      extra.take(length);
      continue;
    }
    if (sizes.full === 0xffffffff) wide.full = extra.length64();
    if (sizes.compressed === 0xffffffff) wide.compressed = extra.length64();
    if (offset === 0xffffffff) wide.offset = extra.length64();
    break;
  }
  return wide;
}

function findData(file: FileBytes, localOffset: number, name: string, fault: Fault): number {
  const local = new ByteCursor(file.read(localOffset, 30), fault);
  if (local.uint32() !== localSignature) throw fault(`the directory points "${name}" at something else`);
  local.take(22);
  const [nameLength, extraLength] = [local.uint16(), local.uint16()];
  return localOffset + 30 + nameLength + extraLength;
}

function refuseOverlaps(members: ZipMember[], directoryOffset: number, fault: Fault): void {
  const ordered = members.toSorted((a, b) => a.dataOffset - b.dataOffset);
  for (const [i, member] of ordered.entries()) {
    const limit = ordered[i + 1]?.dataOffset ?? directoryOffset;
    if (member.dataOffset + member.compressedSize > limit) {
      throw fault(`"${member.name}" runs into what follows it`);
    }
  }
}

/** Of all members together: whoever reads an archive may hold them all at once. */
function refuseBombs(members: readonly ZipMember[], fileBytes: number, fault: Fault): void {
  const total = members.reduce((sum, { stored, size }) => sum + (stored ? 0 : size), 0);
  if (total > Math.max(freelyInflatedBytes, fileBytes * largestRatio)) {
    throw fault(`it has ${fileBytes} bytes and claims to inflate to ${total}`);
  }
}
