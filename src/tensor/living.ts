/**
 * Who frees a tensor.
 *
 * Inside `scope(() => …)` every tensor made is freed at its end, except what the body returns. `keep(t)` takes a
 * tensor out of every scope. Outside scopes a FinalizationRegistry is the safety net, not the plan: no finalizer
 * runs inside synchronous code, so a loop without scopes grows until it yields.
 */
import { addon, buffer } from "./addon.ts";
import type { Tensor } from "./tensor.ts";

/** What the lifetime rules need of a tensor; the class itself is in tensor.ts. */
export interface Living {
  handle: number;
  /** The scope that will free it: null when none does. */
  owner: readonly Living[] | null;
}

let current: Living[] | null = null;
const net = new FinalizationRegistry<number>((handle) => addon.tensorRelease(handle));

/** Called by Tensor's constructor. */
export function enter(tensor: Living): void {
  giveTo(current, tensor);
}

function giveTo(owner: Living[] | null, tensor: Living): void {
  tensor.owner = owner;
  if (owner !== null) owner.push(tensor);
  else net.register(tensor, tensor.handle, tensor);
}

/** Frees a tensor now. Twice is harmless. */
export function release(tensor: Living): void {
  if (tensor.handle === 0) return;
  addon.tensorRelease(tensor.handle);
  net.unregister(tensor);
  tensor.handle = 0;
}

/** Takes a tensor out of every scope: from now on only `dispose()`, or the garbage collector, frees it. */
export function keep<T extends Tensor>(tensor: T): T {
  if (tensor.owner !== null) giveTo(null, tensor);
  return tensor;
}

/** Runs `body` and frees every tensor it made but the ones in its result. The body must be synchronous. */
export function scope<T>(body: () => T extends Promise<unknown> ? never : T): T {
  const outer = current;
  const mine: Living[] = [];
  current = mine;
  let result: T | undefined;
  try {
    result = body();
    return result;
  } finally {
    current = outer;
    const survivors = new Set<Living>();
    collect(result, survivors, 0);
    freeAllBut(survivors, mine);
    for (const tensor of survivors) if (tensor.owner === mine && tensor.handle !== 0) giveTo(outer, tensor);
  }
}

/** Tensors in a scope's result: itself, or inside arrays, Maps, Sets and objects, a few levels deep. */
function collect(value: unknown, into: Set<Living>, depth: number): void {
  if (value === null || typeof value !== "object" || depth > 6 || ArrayBuffer.isView(value)) return;
  if (isLiving(value)) into.add(value);
  else if (Array.isArray(value) || value instanceof Set) for (const x of value) collect(x, into, depth + 1);
  else if (value instanceof Map) for (const x of value.values()) collect(x, into, depth + 1);
  else for (const x of Object.values(value)) collect(x, into, depth + 1);
}

function isLiving(value: object): value is Living {
  return "handle" in value && "owner" in value;
}

function freeAllBut(survivors: ReadonlySet<Living>, mine: readonly Living[]): void {
  let n = 0;
  for (const tensor of mine) {
    if (tensor.handle === 0 || tensor.owner !== mine || survivors.has(tensor)) continue;
    buffer[n++] = tensor.handle;
    tensor.handle = 0;
    if (n === buffer.length) {
      addon.tensorReleaseMany(n);
      n = 0;
    }
  }
  if (n > 0) addon.tensorReleaseMany(n);
}

/** How many tensors this thread holds. Tests use it to prove that nothing leaks. */
export const liveTensors = (): number => addon.tensorsLiving();
