/**
 * Which folder an env block takes its world from, and the same block with another one.
 *
 * Blocks name the folder once and derive the paths of its files from it; by the time they are read the derived paths stand written out,
 * so moving a world means exchanging the beginning of every path that lies in it.
 */
import { dirname } from "node:path";
import { folderKeyOf, worlds } from "#worlds";

type Block = Readonly<Record<string, unknown>>;

/** Undefined where a block names none. */
export function worldFolder(block: Block): string | undefined {
  const named = worlds
    .names()
    .map((family) => block[folderKeyOf(family)])
    .find((path) => typeof path === "string");
  if (typeof named === "string") return trimmed(named);
  const { pretrained_checkpoint: file } = (block.world_model_cfg ?? {}) as {
    pretrained_checkpoint?: unknown;
  };
  const first = Array.isArray(file) ? file[0] : file;
  return typeof first === "string" ? dirname(first) : undefined;
}

/** Every path of the block that lies in `from` then lies in `to`. */
export function withWorldFolder<B extends Block>(block: B, from: string, to: string): B {
  const root = trimmed(from);
  const moved = (value: unknown): unknown => {
    if (typeof value === "string")
      return value === root || value.startsWith(`${root}/`) ? to + value.slice(root.length) : value;
    if (Array.isArray(value)) return value.map(moved);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, moved(inner)]));
  };
  return moved(block) as B;
}

const trimmed = (path: string): string => (path.length > 1 ? path.replace(/\/+$/, "") : path);
