/** Reads little-endian numbers and runs of bytes one after another; running out is the file's fault. */
import type { Fault } from "./file-fault.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
// NumPy and pickles may hold lone surrogates; a strict decoder would refuse the whole file for one odd name.
const lenientUtf8 = new TextDecoder("utf-8", { ignoreBOM: true });

export class ByteCursor {
  readonly bytes: Uint8Array;
  readonly #view: DataView;
  readonly #fault: Fault;
  #position: number;

  constructor(bytes: Uint8Array, fault: Fault, position = 0) {
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#fault = fault;
    this.#position = position;
  }

  get position(): number {
    return this.#position;
  }

  get remaining(): number {
    return this.bytes.byteLength - this.#position;
  }

  uint8(): number {
    return this.#view.getUint8(this.#advance(1));
  }

  uint16(): number {
    return this.#view.getUint16(this.#advance(2), true);
  }

  uint32(): number {
    return this.#view.getUint32(this.#advance(4), true);
  }

  int32(): number {
    return this.#view.getInt32(this.#advance(4), true);
  }

  /** An unsigned 64-bit length or offset; beyond 2^53 no file can honor it. */
  length64(): number {
    const value = this.#view.getBigUint64(this.#advance(8), true);
    if (value > BigInt(Number.MAX_SAFE_INTEGER))
      throw this.#fault(`it declares an impossible length of ${value}`);
    return Number(value);
  }

  bigEndianFloat64(): number {
    return this.#view.getFloat64(this.#advance(8), false);
  }

  /** A view, not a copy. */
  take(length: number): Uint8Array {
    const start = this.#advance(length);
    return this.bytes.subarray(start, start + length);
  }

  text(length: number): string {
    const bytes = this.take(length);
    try {
      return utf8.decode(bytes);
    } catch {
      return lenientUtf8.decode(bytes);
    }
  }

  /** Latin-1 text up to the next newline, which is consumed and not returned. */
  line(): string {
    const end = this.bytes.indexOf(10, this.#position);
    if (end < 0) throw this.#fault("it ends in the middle of a line");
    const line = this.take(end - this.#position);
    this.#position = end + 1;
    return Buffer.from(line.buffer, line.byteOffset, line.byteLength).toString("latin1");
  }

  #advance(length: number): number {
    if (length > this.remaining) {
      throw this.#fault(`it ends ${length - this.remaining} bytes too early; it may be cut short`);
    }
    const start = this.#position;
    this.#position += length;
    return start;
  }
}
