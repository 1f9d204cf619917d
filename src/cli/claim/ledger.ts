/** `parts.json`: which parts of a claim were begun, with which settings, and how each ended. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { readJsonFile, writeJsonFile } from "#formats";
import { UserError } from "#registry";
import type { Part } from "./plan.ts";

const entry = z.strictObject({
  command: z.string(),
  digest: z.string(),
  /** `begun` is what a claim that was killed leaves. */
  state: z.enum(["begun", "done", "time limit", "stopped", "failed"]),
  seconds: z.number().describe("of all its attempts together"),
  reason: z.string().optional(),
});
export type Entry = z.infer<typeof entry>;
const file = z.strictObject({ format: z.literal(1), parts: z.record(z.string(), entry) });

export class Ledger {
  readonly #path: string;
  readonly #parts: Record<string, Entry>;

  constructor(folder: string) {
    this.#path = join(folder, "parts.json");
    this.#parts = existsSync(this.#path) ? readParts(this.#path) : {};
  }

  of(id: string): Entry | undefined {
    return Object.hasOwn(this.#parts, id) ? this.#parts[id] : undefined;
  }

  set(id: string, value: Entry): void {
    this.#parts[id] = value;
    writeJsonFile(this.#path, { format: 1, parts: this.#parts });
  }

  /** A training whose evaluations are all there is not needed again, even where its folder is gone. */
  isDone(part: Part, parts: readonly Part[]): boolean {
    if (part.work === "eval") return existsSync(join(part.folder, "results.json"));
    const state = this.of(part.id)?.state;
    if (state === "done" || state === "time limit") return true;
    const own = parts.filter(({ work, run }) => work === "eval" && run === part.run);
    return own.length > 0 && own.every((each) => this.isDone(each, parts));
  }

  /** Whether anything of these parts is here. */
  holdsAny(parts: readonly Part[]): boolean {
    return parts.some((part) => this.of(part.id) !== undefined || existsSync(part.folder));
  }

  /** Results of other settings are not taken for those that are asked for now. */
  requireSame(parts: readonly Part[], folder: string): void {
    const others = parts.filter(
      ({ id, digest }) => this.of(id) !== undefined && this.of(id)?.digest !== digest,
    );
    if (others.length === 0) return;
    throw new UserError(
      `${folder} holds parts of this claim that were run with other settings: ${others.map(({ id }) => id).join(", ")}\n` +
        "  give another --out, or put the claim back as it was: parts.json has the commands",
    );
  }
}

function readParts(path: string): Record<string, Entry> {
  const parsed = file.safeParse(readJsonFile(path));
  if (parsed.success) return parsed.data.parts;
  throw new UserError(`${path} is not a claim's record of its parts: ${z.prettifyError(parsed.error)}`);
}
