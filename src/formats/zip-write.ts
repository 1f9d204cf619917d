/**
 * Writes zip archives in memory-sized pieces: members one after another, then the directory.
 *
 * No zip64: a member or archive of 4 GiB is refused. What we write this way (episodes, replays, initial
 * states) is far smaller; weights go to safetensors.
 */
import { crc32, deflateRawSync } from "node:zlib";

export interface ZipInput {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly deflate?: boolean;
}

/** The archive's bytes, piece by piece. Timestamps are fixed, so equal inputs give equal files. */
export function* encodeZip(inputs: Iterable<ZipInput>): Generator<Uint8Array> {
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const { name, bytes, deflate = false } of inputs) {
    const body = deflate ? deflateRawSync(bytes) : bytes;
    const nameBytes = Buffer.from(name);
    const fields = commonFields(nameBytes, bytes, body, deflate);
    const local = Buffer.concat([uint32(0x04034b50), fields, nameBytes]);
    const rest = Buffer.concat([Buffer.alloc(10), uint32(offset), nameBytes]); // no comment, no attributes
    directory.push(Buffer.concat([uint32(0x02014b50), uint16(20), fields, rest]));
    yield local;
    yield body;
    offset += local.byteLength + body.byteLength;
    if (offset > 0xffff_ffff) throw new Error(`internal: zip archive beyond 4 GiB at "${name}"`);
  }
  const size = directory.reduce((sum, entry) => sum + entry.byteLength, 0);
  yield* directory;
  const counts = Buffer.concat([Buffer.alloc(4), uint16(directory.length), uint16(directory.length)]);
  yield Buffer.concat([uint32(0x06054b50), counts, uint32(size), uint32(offset), uint16(0)]);
}

/** What a local header and a directory entry have in common: version, method, date, checksum, sizes. */
function commonFields(name: Uint8Array, bytes: Uint8Array, body: Uint8Array, deflate: boolean): Buffer {
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(20, 0);
  fields.writeUInt16LE(0x0800, 2); // names are UTF-8
  fields.writeUInt16LE(deflate ? 8 : 0, 4);
  fields.writeUInt16LE(0x0021, 8); // 1 January 1980
  fields.writeUInt32LE(crc32(bytes), 10);
  fields.writeUInt32LE(body.byteLength, 14);
  fields.writeUInt32LE(bytes.byteLength, 18);
  fields.writeUInt16LE(name.byteLength, 22);
  return fields;
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
