/** Rows of equal length in one typed array that doubles when it is full. */
type Elements = Uint8Array<ArrayBuffer> | Float32Array<ArrayBuffer>;

export class GrowingRows<T extends Elements> {
  readonly #width: number;
  readonly #allocate: (size: number) => T;
  #data: T;
  #length = 0;

  constructor(allocate: (size: number) => T, width: number) {
    this.#allocate = allocate;
    this.#width = width;
    this.#data = allocate(16 * width);
  }

  get length(): number {
    return this.#length;
  }

  push(row: ArrayLike<number>): void {
    if (row.length !== this.#width)
      throw new Error(`internal: a row of ${row.length} numbers where ${this.#width} belong`);
    const at = this.#length * this.#width;
    if (at === this.#data.length) {
      const larger = this.#allocate(2 * this.#data.length);
      larger.set(this.#data);
      this.#data = larger;
    }
    this.#data.set(row, at);
    this.#length++;
  }

  truncate(length: number): void {
    this.#length = Math.min(this.#length, length);
  }

  /** All rows so far, sharing memory. */
  rows(): T {
    return this.#data.subarray(0, this.#length * this.#width) as T;
  }
}
