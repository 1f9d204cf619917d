/**
 * Values from files we do not trust, as short text for an error message.
 *
 * Never `String(value)` or `JSON.stringify(value)`: a list nested deep enough overflows them, one that shares
 * parts cleverly enough keeps them busy until the heat death, and one that contains itself throws.
 */
const longest = 100;

export function printable(value: unknown): string {
  if (typeof value === "string")
    return JSON.stringify(value.length > longest ? `${value.slice(0, longest)}…` : value);
  if (value === null || typeof value !== "object") return String(value).slice(0, longest);
  return Array.isArray(value) ? `a list of ${value.length}` : "an object";
}

export const printableShape = (shape: readonly unknown[]): string =>
  `[${shape.slice(0, 8).map(printable).join(", ")}${shape.length > 8 ? ", …" : ""}]`;
