/**
 * Reads Python pickles, protocols 0 to 5, without ever running code.
 *
 * The machine is the one that CPython's `pickletools` describes: a stack, a memo, and one-byte opcodes.
 * Where Python would import a module and call what it finds there, this one looks the name up in an
 * allow-list of our own constructors and stops at anything else. It does not recurse, so nesting cannot
 * overflow it; it charges every value that it makes against the size of the file, so a small file cannot ask
 * for much, however far its pickle inflates.
 */
import { ByteCursor } from "./byte-cursor.ts";
import type { Fault } from "./file-fault.ts";
import { opcodes } from "./pickle-opcodes.ts";
import { refuseTangles } from "./pickle-tangles.ts";
import {
  type AllowList,
  type Constructor,
  heapBytes,
  isConstructor,
  type PickleContext,
} from "./pickle-value.ts";
import { printable } from "./printable.ts";

export interface UnpickleOptions {
  readonly fault: Fault;
  readonly allowed: AllowList;
  /** What a persistent id (PyTorch's storages) stands for. Without it such ids are refused. */
  readonly persistent?: (id: unknown) => unknown;
  readonly start?: number;
  /** Size of the file on disk, which is less than the pickle's where a zip deflated it. */
  readonly fileBytes?: number;
}

/** Heap bytes that a file may ask for whatever its size, for each of its bytes, and at most. */
const freely = 64 * 2 ** 20;
const perFileByte = 32;
const most = 2 ** 30;

/** The value, and where the next byte after the pickle is. */
export function unpickle(bytes: Uint8Array, options: UnpickleOptions): { value: unknown; end: number } {
  const machine = new PickleMachine(bytes, options);
  const value = machine.run();
  refuseTangles(value, bytes.byteLength, options.fault);
  return { value, end: machine.cursor.position };
}

export class PickleMachine implements PickleContext {
  readonly cursor: ByteCursor;
  readonly fault: Fault;
  readonly memo = new Map<number, unknown>();
  #stack: unknown[] = [];
  readonly #outerStacks: unknown[][] = [];
  readonly #allowed: AllowList;
  readonly #persistent: ((id: unknown) => unknown) | undefined;
  #budget: number;
  #heap: number;
  #stopped = false;

  constructor(bytes: Uint8Array, options: UnpickleOptions) {
    const { fault, allowed, persistent, start = 0, fileBytes = bytes.byteLength } = options;
    this.cursor = new ByteCursor(bytes, fault, start);
    this.fault = fault;
    this.#allowed = allowed;
    this.#persistent = persistent;
    this.#budget = 2 * bytes.byteLength; // protocol 2 makes bytes from text, and an array from the bytes
    this.#heap = Math.min(most, freely + perFileByte * fileBytes);
  }

  run(): unknown {
    while (!this.#stopped) {
      const code = this.cursor.uint8();
      const opcode = opcodes.get(code);
      if (!opcode) throw this.fault(`byte ${code} at ${this.cursor.position - 1} is not a pickle opcode`);
      opcode(this);
    }
    return this.pop();
  }

  stop(): void {
    if (this.#outerStacks.length > 0) throw this.fault("its pickle stops inside an unfinished collection");
    this.#stopped = true;
  }

  push(value: unknown): void {
    this.charge(heapBytes.slot);
    this.#stack.push(value);
  }

  pop(): unknown {
    if (this.#stack.length === 0) throw this.fault("its pickle takes from an empty stack");
    return this.#stack.pop();
  }

  top(): unknown {
    if (this.#stack.length === 0) throw this.fault("its pickle looks at an empty stack");
    return this.#stack.at(-1);
  }

  mark(): void {
    this.charge(heapBytes.list);
    this.#outerStacks.push(this.#stack);
    this.#stack = [];
  }

  /** Everything pushed since the last mark. */
  popToMark(): unknown[] {
    const items = this.#stack;
    const outer = this.#outerStacks.pop();
    if (!outer) throw this.fault("its pickle closes a collection that it never opened");
    this.#stack = outer;
    return items;
  }

  /** POP removes the mark itself when nothing was pushed after it. */
  discard(): void {
    if (this.#stack.length > 0) this.#stack.pop();
    else this.popToMark();
  }

  remember(index: number, value: unknown): void {
    this.charge(heapBytes.memo);
    this.memo.set(index, value);
  }

  recall(index: number): unknown {
    if (!this.memo.has(index)) throw this.fault(`its pickle recalls memo ${index}, which was never set`);
    return this.memo.get(index);
  }

  find(module: unknown, name: unknown): Constructor {
    if (typeof module !== "string" || typeof name !== "string") {
      throw this.fault("its pickle names a Python object by something that is not text");
    }
    const known = this.#allowed.get(`${module}.${name}`);
    if (known) return known;
    throw this.fault(
      `it names the Python object ${printable(`${module}.${name}`)}, which is not plain data; ` +
        "it was not run. If you trust the file, load it in Python and save only arrays and tensors",
    );
  }

  call(callable: unknown, args: unknown): unknown {
    if (!isConstructor(callable)) throw this.fault("its pickle calls something that is not a constructor");
    if (!Array.isArray(args)) throw this.fault(`its pickle calls ${callable.name} without an argument tuple`);
    this.charge(heapBytes.other);
    return callable.construct(args, this);
  }

  loadPersistent(id: unknown): unknown {
    if (!this.#persistent) throw this.fault("it refers to data outside itself, which only PyTorch files may");
    return this.#persistent(id);
  }

  readonly charge = (bytes: number): void => {
    this.#heap -= bytes;
    if (this.#heap < 0)
      throw this.fault("its pickle makes far more values than a file of its size should hold");
  };

  readonly spend = (bytes: number): void => {
    this.#budget -= bytes;
    if (this.#budget < 0) throw this.fault("its pickle asks for more memory than the file is large");
  };
}
