/**
 * Refuses values that are finite on disk but endless, or nearly so, for whoever walks them.
 *
 * A pickle can make a list that contains itself, nest a million lists, or share one list so often that its
 * expansion has more leaves than there are atoms (the "billion laughs"). Nothing we read does that, and
 * ordinary recursive code downstream would hang or overflow on it.
 */
import type { Fault } from "./file-fault.ts";

const deepest = 500;
const fewestAllowed = 10_000_000;

interface Visit {
  readonly node: object;
  readonly children: Iterator<unknown>;
  size: number;
}

/** `bytes`: the size of the pickle; an honest one has at least one byte per value. */
export function refuseTangles(root: unknown, bytes: number, fault: Fault): void {
  const limit = Math.max(fewestAllowed, bytes);
  const sizes = new Map<object, number>(); // -1 while a node is on the path from the root
  const path: Visit[] = [];
  const enter = (value: unknown): void => {
    const children = childrenOf(value);
    if (!children) return;
    const node = value as object;
    const known = sizes.get(node);
    if (known === -1) throw fault("its pickle holds a collection that contains itself");
    if (known !== undefined) {
      addSize(path, known, limit, fault);
      return;
    }
    if (path.length >= deepest) throw fault(`its pickle is nested more than ${deepest} deep`);
    sizes.set(node, -1);
    path.push({ node, children, size: 1 });
  };
  enter(root);
  for (let visit = path.at(-1); visit; visit = path.at(-1)) {
    const next = visit.children.next();
    if (!next.done) {
      visit.size++;
      enter(next.value);
      continue;
    }
    path.pop();
    sizes.set(visit.node, visit.size);
    addSize(path, visit.size, limit, fault);
  }
}

function addSize(path: readonly Visit[], size: number, limit: number, fault: Fault): void {
  const parent = path.at(-1);
  if (!parent) return;
  parent.size += size;
  if (parent.size > limit) throw fault("its pickle repeats itself into more values than could be read");
}

function childrenOf(value: unknown): Iterator<unknown> | undefined {
  if (Array.isArray(value) || value instanceof Set) return value.values();
  if (value instanceof Map) return keysAndValues(value);
  const data = (value as { data?: unknown } | null | undefined)?.data; // an array of objects
  return Array.isArray(data) ? data.values() : undefined;
}

function* keysAndValues(map: ReadonlyMap<unknown, unknown>): Generator<unknown> {
  for (const [key, value] of map) {
    yield key;
    yield value;
  }
}
