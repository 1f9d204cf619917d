/**
 * An episode on disk, complete enough to be played again: where it began, what was done, and a hash of the state after
 * every action as the proof.
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import { readJsonFile, writeJsonFile } from "#formats";
import { UserError } from "#registry";
import { settleSteps } from "#simulators";

const bytes = z.base64();

const schema = z.strictObject({
  format: z.literal("reverie replay 1"),
  mujoco: z.string().describe("version of the physics"),
  suite: z.string(),
  task: z.string(),
  language: z.string(),
  trial: z.int().min(0).describe("which of the task's stored starts"),
  seed: z.int().min(0).describe("of the draws that place fixtures"),
  settle_steps: settleSteps,
  gripper_open: z.boolean(),
  start: bytes.describe("float64: time, positions and velocities before settling"),
  first_hash: z.string().describe("of the state after settling"),
  actions: bytes.describe("float32, seven per step"),
  hashes: z.array(z.string()).describe("of the state after each action"),
  success: z
    .string()
    .regex(/^[01]*$/)
    .describe("whether the goal held after each action"),
  checksum: z.string().describe("SHA-256 of all of the above"),
});
export type ReplayFile = z.infer<typeof schema>;

export const encodeNumbers = (values: Float32Array | Float64Array): string =>
  Buffer.from(values.buffer, values.byteOffset, values.byteLength).toString("base64");

/** A copy, so that the numbers are aligned. */
const decodeBytes = (text: string): ArrayBuffer => new Uint8Array(Buffer.from(text, "base64")).buffer;
export const decodeDoubles = (text: string): Float64Array => new Float64Array(decodeBytes(text));
export const decodeFloats = (text: string): Float32Array => new Float32Array(decodeBytes(text));

export function writeReplay(path: string, episode: Omit<ReplayFile, "format" | "checksum">): void {
  const content = { format: "reverie replay 1" as const, ...episode };
  writeJsonFile(path, { ...content, checksum: checksumOf(content) });
}

export function readReplay(path: string): ReplayFile {
  const fail = (why: string): never => {
    throw new UserError(`${path}: not a readable replay file: ${why}`);
  };
  const result = schema.safeParse(readJsonFile(path));
  if (!result.success) return fail(z.prettifyError(result.error));
  const parsed = result.data;
  const { checksum, ...content } = parsed;
  if (checksumOf(content) !== checksum) fail("its checksum is wrong; it was changed after it was written");
  const steps = parsed.hashes.length;
  if (parsed.success.length !== steps || Buffer.from(parsed.actions, "base64").length !== 28 * steps)
    fail(`${steps} hashes, but another number of actions or successes`);
  if (Buffer.from(parsed.start, "base64").length % 8 !== 0) fail("its start is not a row of doubles");
  return parsed;
}

const checksumOf = (content: Omit<ReplayFile, "checksum">): string =>
  createHash("sha256").update(JSON.stringify(content)).digest("hex");
