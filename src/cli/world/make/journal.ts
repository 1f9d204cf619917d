/** Which parts of a world are made, begun or still to do: written beside them, so that an interrupted command goes on where it stopped. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { makeFolder, readJsonFile, writeJsonFile } from "#formats";
import { UserError } from "#registry";

const entry = z.strictObject({ state: z.enum(["begun", "done"]), settings: z.unknown() });
const schema = z.strictObject({ parts: z.record(z.string(), entry) });

export class MakeJournal {
  readonly #path: string;
  readonly #parts: Record<string, z.infer<typeof entry>>;

  constructor(out: string) {
    this.#path = join(out, "make.json");
    const parsed = schema.safeParse(existsSync(this.#path) ? readJsonFile(this.#path) : { parts: {} });
    if (!parsed.success)
      throw new UserError(`${this.#path} is not what reverie world make writes; move it aside`);
    this.#parts = { ...parsed.data.parts };
  }

  get isEmpty(): boolean {
    return Object.keys(this.#parts).length === 0;
  }

  state(part: string): "begun" | "done" | undefined {
    return Object.hasOwn(this.#parts, part) ? this.#parts[part]?.state : undefined;
  }

  /** Whether a part was begun or made with other settings than these. */
  differs(part: string, settings: unknown): boolean {
    if (!Object.hasOwn(this.#parts, part)) return false;
    return JSON.stringify(this.#parts[part]?.settings) !== JSON.stringify(settings);
  }

  begin(part: string, settings: unknown): void {
    this.#note(part, "begun", settings);
  }

  finish(part: string, settings: unknown): void {
    this.#note(part, "done", settings);
  }

  #note(part: string, state: "begun" | "done", settings: unknown): void {
    this.#parts[part] = { state, settings };
    makeFolder(join(this.#path, ".."));
    writeJsonFile(this.#path, { parts: this.#parts });
  }
}
