/**
 * Values with tensors inside, as messages between threads of one process.
 *
 * A tensor travels as a ticket and is never copied: both threads then see the same memory, so it must be treated as read-only
 * by all. Everything else travels by structured clone.
 */
import { giveTensor, keep, Tensor, takeTensor } from "#tensor";

const ticketKey = "__tensor_ticket__";

export function packTensors(value: unknown): unknown {
  if (value instanceof Tensor) return { [ticketKey]: giveTensor(value) };
  return mapInside(value, packTensors);
}

/** The tensors taken belong to nobody's scope: the receiver disposes them. */
export function unpackTensors(value: unknown): unknown {
  const ticket = ticketOf(value);
  if (ticket !== undefined) return keep(takeTensor(ticket));
  return mapInside(value, unpackTensors);
}

function ticketOf(value: unknown): number | undefined {
  if (typeof value !== "object" || value === null || !(ticketKey in value)) return undefined;
  return Number((value as Record<string, unknown>)[ticketKey]);
}

/** A copy of plain data with everything inside changed. */
export function mapInside(value: unknown, change: (inner: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(change);
  if (value instanceof Map) return new Map([...value].map(([key, inner]) => [key, change(inner)]));
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, change(inner)]));
}
