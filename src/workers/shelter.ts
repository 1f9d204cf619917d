/**
 * Tensors that leave the accelerator while nobody needs them (`enable_offload`), so that the phases of a step do not add up in memory.
 *
 * They become host tensors and come back as they were, to the bit; whoever holds them has the same objects all the time, and may
 * even read them meanwhile, slowly. Room on the host is kept from one absence to the next, because pinning memory is slow.
 */
import { aten, type Device, empty, emptyCache, noGrad, synchronize, type Tensor } from "#tensor";
import { roomFor } from "./host-room.ts";

/** Scalars (step counts) stay: they weigh nothing. */
const worthMoving = 256;

export class Shelter {
  readonly #tensors: () => Iterable<Tensor>;
  readonly #device: Device;
  readonly #onMove: () => void;
  /** Where each waits, by tensor. */
  #rooms: ReadonlyMap<Tensor, Tensor> = new Map();
  #users = 1;

  /** What `tensors` names is on `device` now. `onMove` hears when addresses have changed: captured graphs hold them. */
  constructor(tensors: () => Iterable<Tensor>, device: Device, onMove: () => void = () => {}) {
    this.#tensors = tensors;
    this.#device = device;
    this.#onMove = onMove;
  }

  get isAway(): boolean {
    return this.#users === 0;
  }

  /** Bytes that are on the host now. */
  get bytesAway(): number {
    if (!this.isAway) return 0;
    return [...this.#rooms.values()].reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** One more needs them: they come back, unless they are here. */
  wake(): void {
    this.#users++;
    if (this.#users > 1) return;
    noGrad(() => {
      for (const [tensor, room] of this.#rooms) {
        const home = empty(room.shape, { dtype: room.dtype, device: this.#device });
        aten.set_data(tensor, home.copy_(room, true));
        home.dispose();
      }
    });
    this.#settle();
  }

  /** One needs them no more: with the last they leave. */
  rest(): void {
    if (this.#users === 0) throw new Error("internal: what is away cannot leave");
    this.#users--;
    if (this.#users > 0) return;
    this.#makeRoom(new Set([...this.#tensors()].filter(({ numel }) => numel >= worthMoving)));
    noGrad(() => {
      for (const [tensor, room] of this.#rooms) room.copy_(tensor, true);
      if (this.#device !== "cpu") synchronize(); // until now the copies are on their way
      for (const [tensor, room] of this.#rooms) aten.set_data(tensor, room);
    });
    this.#settle();
  }

  #makeRoom(tensors: ReadonlySet<Tensor>): void {
    const known = [...tensors].every((tensor) => this.#rooms.has(tensor));
    if (known && tensors.size === this.#rooms.size) return;
    for (const room of this.#rooms.values()) room.dispose();
    this.#rooms = roomFor(tensors, this.#device !== "cpu");
  }

  #settle(): void {
    this.#onMove();
    if (this.#device === "cpu") return;
    synchronize();
    emptyCache(); // for others on this accelerator: renderers, other ranks
  }
}
