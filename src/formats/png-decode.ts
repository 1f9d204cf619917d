/**
 * Reads PNG pictures: 8 bits a channel, gray, RGB, RGBA or palette, all filters, no interlace.
 *
 * The declared size is checked against the bytes that are there, so a tiny file cannot make us allocate a huge
 * picture.
 */
import { crc32, inflateSync } from "node:zlib";
import { readWholeFile } from "./file-bytes.ts";
import { type Fault, fileFault } from "./file-fault.ts";
import { type Picture, paeth, pngSignature } from "./png-layout.ts";
import { printable } from "./printable.ts";

/** One color all over deflates about 1000 to 1, so small pictures may; large ones may claim 200 to 1. */
const freelyInflatedBytes = 64 * 2 ** 20;
const [deflateRatio, largestRatio] = [1032, 200];
const channelsOf: Readonly<Record<number, 1 | 3 | 4>> = { 0: 1, 2: 3, 3: 1, 6: 4 };

export function readPng(path: string): Picture {
  const fault = fileFault(path, "PNG picture");
  return decodePng(readWholeFile(path, fault), fault);
}

export function decodePng(
  bytes: Uint8Array,
  fault: Fault = fileFault("(in memory)", "PNG picture"),
): Picture {
  const chunks = readChunks(bytes, fault);
  const { width, height, colorType } = readHeader(chunks.get("IHDR"), fault);
  const channels = channelsOf[colorType]!;
  const packed = chunks.get("IDAT") ?? Buffer.alloc(0);
  const size = height * (width * channels + 1);
  const most = Math.max(
    Math.min(freelyInflatedBytes, packed.byteLength * deflateRatio),
    packed.byteLength * largestRatio,
  );
  if (size > most) {
    throw fault(`${packed.byteLength} bytes of data cannot hold ${width}x${height} pixels`);
  }
  const data = unfilter(inflateExactly(packed, size, fault), width * channels, channels, fault);
  const picture: Picture = { width, height, channels, data };
  return colorType === 3 ? applyPalette(picture, chunks.get("PLTE"), fault) : picture;
}

/** Chunks by type; those of the same type joined. */
function readChunks(bytes: Uint8Array, fault: Fault): Map<string, Buffer> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!buffer.subarray(0, 8).equals(pngSignature)) throw fault("it does not begin as one");
  const parts = new Map<string, Buffer[]>();
  for (let at = 8; !parts.has("IEND"); ) {
    if (at + 12 > buffer.length) throw fault("it ends before its last chunk; it may be cut short");
    const length = buffer.readUInt32BE(at);
    const type = buffer.toString("latin1", at + 4, at + 8);
    const end = at + 8 + length;
    if (end + 4 > buffer.length) throw fault(`its chunk ${printable(type)} is longer than the file`);
    if (crc32(buffer.subarray(at + 4, end)) !== buffer.readUInt32BE(end)) {
      throw fault(`the checksum of its chunk ${printable(type)} is wrong; it is damaged`);
    }
    const piece = buffer.subarray(at + 8, end);
    if (type === "IDAT" && parts.has(type)) parts.get(type)?.push(piece);
    else parts.set(type, [piece]);
    at = end + 4;
  }
  return new Map([...parts].map(([type, list]) => [type, Buffer.concat(list)]));
}

function readHeader(header: Buffer | undefined, fault: Fault) {
  if (header?.length !== 13) throw fault("its header is missing or malformed");
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const [depth, colorType, , , interlace] = [...header.subarray(8)];
  if (width === 0 || height === 0 || width > 2 ** 20 || height > 2 ** 20)
    throw fault(`its size is ${width}x${height}`);
  if (depth !== 8 || channelsOf[colorType!] === undefined) {
    throw fault(
      `it has ${depth} bits a channel and color type ${colorType}; 8-bit gray, RGB, RGBA and palette are read`,
    );
  }
  if (interlace !== 0) throw fault("it is interlaced; save it without interlacing");
  return { width, height, colorType: colorType! };
}

function inflateExactly(packed: Buffer, size: number, fault: Fault): Uint8Array {
  let data: Uint8Array;
  try {
    data = inflateSync(packed, { maxOutputLength: size });
  } catch (error) {
    throw fault(`its data does not inflate: ${(error as Error).message}`);
  }
  if (data.byteLength !== size) throw fault(`its data has ${data.byteLength} bytes, not ${size}`);
  return data;
}

function unfilter(rows: Uint8Array, rowBytes: number, step: number, fault: Fault): Uint8Array {
  const height = rows.length / (rowBytes + 1);
  const data = new Uint8Array(height * rowBytes);
  for (let y = 0; y < height; y++) {
    const filter = rows[y * (rowBytes + 1)]!;
    if (filter > 4) throw fault(`row ${y} has unknown filter ${filter}`);
    const start = y * rowBytes;
    data.set(rows.subarray(y * (rowBytes + 1) + 1, (y + 1) * (rowBytes + 1)), start);
    if (filter > 0) unfilterRow(data, { start, end: start + rowBytes, rowBytes, step, filter });
  }
  return data;
}

interface Row {
  readonly start: number;
  readonly end: number;
  readonly rowBytes: number;
  readonly step: number;
  readonly filter: number;
}

function unfilterRow(data: Uint8Array, { start, end, rowBytes, step, filter }: Row): void {
  for (let at = start; at < end; at++) {
    const left = at - step < start ? 0 : data[at - step]!;
    const up = start === 0 ? 0 : data[at - rowBytes]!;
    const corner = at - step < start || start === 0 ? 0 : data[at - step - rowBytes]!;
    if (filter === 1) data[at]! += left;
    else if (filter === 2) data[at]! += up;
    else if (filter === 3) data[at]! += (left + up) >> 1;
    else data[at]! += paeth(left, up, corner);
  }
}

function applyPalette({ width, height, data }: Picture, palette: Buffer | undefined, fault: Fault): Picture {
  if (!palette || palette.length % 3 !== 0) throw fault("its palette is missing or malformed");
  const colors = new Uint8Array(width * height * 3);
  for (const [i, index] of data.entries()) {
    if (index * 3 >= palette.length)
      throw fault(`a pixel has color ${index} of a palette of ${palette.length / 3}`);
    colors.set(palette.subarray(index * 3, index * 3 + 3), i * 3);
  }
  return { width, height, channels: 3, data: colors };
}
