/**
 * The bytes of a TensorBoard event file: protobuf messages in TFRecord frames.
 *
 * A frame is the length, its checksum, the message, its checksum; a checksum is CRC-32C, rotated and offset so
 * that checksums of data that contains checksums stay strong. Of the messages `Event` and `Summary`
 * (tensorboard/compat/proto) only the fields that we write are here.
 */

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc;
});

/** CRC-32C (Castagnoli). */
export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ crcTable[(crc ^ byte) & 255]!;
  return (crc ^ 0xffffffff) >>> 0;
}

function maskedCrc(bytes: Uint8Array): number {
  const crc = crc32c(bytes);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

export function frameRecord(message: Uint8Array): Uint8Array {
  const frame = Buffer.alloc(16 + message.byteLength);
  frame.writeBigUInt64LE(BigInt(message.byteLength));
  frame.writeUInt32LE(maskedCrc(frame.subarray(0, 8)), 8);
  frame.set(message, 12);
  frame.writeUInt32LE(maskedCrc(message), 12 + message.byteLength);
  return frame;
}

/** Wire types of protobuf: 0 varint, 1 eight bytes, 2 length and bytes, 5 four bytes. */
const key = (field: number, wireType: number): Uint8Array => varint(field * 8 + wireType);

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Uint8Array.from([...bytes, rest]);
}

const integerField = (field: number, value: number): Uint8Array =>
  Buffer.concat([key(field, 0), varint(value)]);

function doubleField(field: number, value: number): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([key(field, 1), bytes]);
}

function floatField(field: number, value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return Buffer.concat([key(field, 5), bytes]);
}

function bytesField(field: number, value: Uint8Array | string): Uint8Array {
  const bytes = typeof value === "string" ? Buffer.from(value) : value;
  return Buffer.concat([key(field, 2), varint(bytes.byteLength), bytes]);
}

export interface EventTime {
  readonly step: number;
  /** Seconds since 1970. */
  readonly time: number;
}

const event = ({ step, time }: EventTime, ...fields: Uint8Array[]): Uint8Array =>
  frameRecord(Buffer.concat([doubleField(1, time), integerField(2, step), ...fields]));

/** The first record of every file. */
export const versionRecord = (time: number): Uint8Array =>
  event({ step: 0, time }, bytesField(3, "brain.Event:2"));

/** Tells TensorBoard to forget steps from this one on: a resumed run does them again. */
export const restartRecord = (at: EventTime): Uint8Array => event(at, bytesField(7, integerField(1, 1)));

export function scalarsRecord(at: EventTime, scalars: Readonly<Record<string, number>>): Uint8Array {
  const values = Object.entries(scalars).map(([tag, value]) =>
    bytesField(1, Buffer.concat([bytesField(1, tag), floatField(2, value)])),
  );
  return event(at, bytesField(5, Buffer.concat(values)));
}

export interface PngPicture {
  readonly width: number;
  readonly height: number;
  readonly channels: number;
  readonly png: Uint8Array;
}

export function imageRecord(
  at: EventTime,
  tag: string,
  { width, height, channels, png }: PngPicture,
): Uint8Array {
  const sizes = [integerField(1, height), integerField(2, width), integerField(3, channels)];
  const image = Buffer.concat([...sizes, bytesField(4, png)]);
  return event(at, bytesField(5, bytesField(1, Buffer.concat([bytesField(1, tag), bytesField(4, image)]))));
}

/** Text is a tensor of strings (DT_STRING is 7) that the plugin "text" shows. */
export function textRecord(at: EventTime, tag: string, text: string): Uint8Array {
  const tensor = Buffer.concat([
    integerField(1, 7),
    bytesField(2, bytesField(2, integerField(1, 1))),
    bytesField(8, text),
  ]);
  const metadata = bytesField(1, bytesField(1, "text"));
  const value = Buffer.concat([bytesField(1, tag), bytesField(8, tensor), bytesField(9, metadata)]);
  return event(at, bytesField(5, bytesField(1, value)));
}
