/** Which keys a schema knows, through its optional, nullable and default wrappers. */
import { z } from "zod";

/** The keys of an object schema. */
export function shapeOf(schema: unknown): Record<string, unknown> | undefined {
  const inner = unwrap(schema);
  return inner instanceof z.ZodObject ? (inner.shape as Record<string, unknown>) : undefined;
}

/** The keys that may stand at a path; none where anything may, and where nothing can. */
export function keysAt(schema: unknown, path: readonly string[]): string[] {
  const inside = path.reduce<unknown>((outer, key) => {
    const inner = unwrap(outer);
    if (inner instanceof z.ZodRecord) return inner.valueType;
    return inner instanceof z.ZodArray ? inner.element : shapeOf(inner)?.[key];
  }, schema);
  return Object.keys(shapeOf(inside) ?? {});
}

/** Whether a setting of this name may exist, written in a file or not. Where a schema leaves names open, any may. */
export function schemaKnows(schema: unknown, path: readonly string[]): boolean {
  let outer = schema;
  for (const key of path) {
    const inner = unwrap(outer);
    if (inner instanceof z.ZodRecord) return true;
    if (!(inner instanceof z.ZodObject)) return false;
    const shape = inner.shape as Record<string, unknown>;
    if (!Object.hasOwn(shape, key))
      return inner.def.catchall !== undefined && !(inner.def.catchall instanceof z.ZodNever);
    outer = shape[key];
  }
  return true;
}

function unwrap(schema: unknown): unknown {
  const inner = (schema as { def?: { innerType?: unknown } } | undefined)?.def?.innerType;
  return inner === undefined ? schema : unwrap(inner);
}
