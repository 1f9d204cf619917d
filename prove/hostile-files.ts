/** Files that mean harm, each small on disk: who writes them, who is to read them, and what the refusal must say. */
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import {
  encodePng,
  encodeZip,
  isNumericArray,
  readNpy,
  writeJsonFile,
  writeSafetensors,
  type ZipInput,
} from "#formats";
import { scope, tensor, zeros } from "#tensor";
import { trainTokenizer } from "../src/policies/prismatic/train-tokenizer.ts";
import { checkout } from "./running-command.ts";

export interface HostileFile {
  readonly name: string;
  /** Writes into the folder and answers with the words after `reverie`, or with a reader's kind and a path. */
  readonly write: (folder: string) => { readonly reverie: string[] } | { readonly reader: [string, string] };
  readonly says: RegExp;
}

const zip = (path: string, members: readonly ZipInput[]): void =>
  writeFileSync(path, Buffer.concat([...encodeZip(members)]));

/** A pickle of one opcode, again and again: 64 MB that deflate to 64 KB. */
const crowd = (name: string, opcode: number): HostileFile => ({
  name: `a 60 KB .pth of 60 million ${name}`,
  says: /far more values than a file of its size/,
  write(folder) {
    const pickle = Buffer.concat([Buffer.of(0x80, 4), Buffer.alloc(60_000_000, opcode), Buffer.from(".")]);
    const path = join(folder, "crowd.pth");
    zip(path, [{ name: "archive/data.pkl", bytes: pickle, deflate: true }]);
    return { reader: ["pth", path] };
  },
});

const tokenizer = (name: string, changes: object, says: RegExp): HostileFile => ({
  name,
  says,
  write(folder) {
    const sound = trainTokenizer(["put the red cube in the tray"], 400);
    writeJsonFile(join(folder, "tokenizer.json"), { ...sound, ...changes });
    return { reader: ["tokenizer", folder] };
  },
});

const configuration = (name: string, body: () => string | Uint8Array, says: RegExp): HostileFile => ({
  name,
  says,
  write(folder) {
    const path = join(folder, "mine.yaml");
    writeFileSync(path, body());
    return { reverie: ["train", path, "--dry-run"] };
  },
});

const based = "defaults:\n  - tabletop_object_grpo_openvlaoft_mini\n  - _self_\n";
const chain = (length: number, link: (next: string) => string): string =>
  Array.from({ length }, (_, i) => `a${i}: ${i + 1 < length ? link(`\${a${i + 1}}`) : "x"}`).join("\n");

/** Four frames of two episodes, sound but for `changes`. */
const recording = (
  name: string,
  changes: Readonly<Record<string, bigint[] | undefined>>,
  says: RegExp,
): HostileFile => ({
  name,
  says,
  write(folder) {
    const columns = {
      first_frames: [0n, 2n],
      lengths: [1n, 1n],
      tasks: [0n, 0n],
      starts: [0n, 1n],
      seeds: [0n, 1n],
    };
    const numbers = Object.entries({ ...columns, ...changes }).filter(([, values]) => values !== undefined);
    scope(() =>
      writeSafetensors(
        join(folder, "shard-00000.safetensors"),
        new Map([
          ["main_images", zeros([4, 16, 16, 3], { dtype: "uint8" })],
          ["states", zeros([4, 8])],
          ["actions", zeros([4, 7])],
          ["expert_actions", zeros([4, 7])],
          ["success", zeros([4], { dtype: "uint8" })],
          ["succeeded", zeros([2], { dtype: "uint8" })],
          ...numbers.map(([key, values]) => [key, tensor(BigInt64Array.from(values ?? []))] as const),
        ]),
      ),
    );
    writeJsonFile(join(folder, "dataset.json"), {
      ...{ format: "reverie-demonstrations", version: 1, pack: "tabletop", suite: "tabletop_object" },
      ...{ tasks: ["a task"], width: 16, height: 16, wrist: false, fps: 20, settings: {} },
      shards: [{ episodes: 2, frames: 4, attempts: 2 }],
    });
    return { reverie: ["export", "lerobot", folder, join(folder, "out")] };
  },
});

/** Sound and signed, but for the steps of rest. */
function writeRestfulReplay(folder: string): { reverie: string[] } {
  const task = "turn_on_the_stove";
  const starts = readNpy(checkout(`src/simulators/tabletop/assets/starts/tabletop_goal/${task}.npy`));
  if (!isNumericArray(starts)) throw new Error("internal: stored starts are numbers");
  const row = Float64Array.from(starts.data.slice(0, starts.shape[1]) as Float64Array, Number);
  const content = {
    ...{
      format: "reverie replay 1",
      mujoco: "3.3.7",
      suite: "tabletop_goal",
      task,
      language: "turn on the stove",
    },
    ...{ trial: 0, seed: 0, settle_steps: 1e9, gripper_open: true },
    start: Buffer.from(row.buffer).toString("base64"),
    ...{ first_hash: "", actions: "", hashes: [], success: "" },
  };
  const path = join(folder, "rest.replay.json");
  writeJsonFile(path, {
    ...content,
    checksum: createHash("sha256").update(JSON.stringify(content)).digest("hex"),
  });
  return { reverie: ["replay", path] };
}

/** A picture whose data is cut into a million empty pieces. */
function pngInPieces(): Buffer {
  const whole = Buffer.from(encodePng({ width: 1, height: 1, channels: 1, data: Uint8Array.of(0) }));
  const at = whole.indexOf("IDAT") - 4;
  const empty = Buffer.from([0, 0, 0, 0, 0x49, 0x44, 0x41, 0x54, 0x35, 0xaf, 0x06, 0x1e]);
  return Buffer.concat([whole.subarray(0, at), Buffer.alloc(12 * 1_000_000, empty), Buffer.from("end")]);
}

const backtracking = { Regex: "(a+)+$" };
const double = { type: "Replace", pattern: { String: "a" }, content: "aa" };

export const hostileFiles: readonly HostileFile[] = [
  crowd("empty sets", 0x8f),
  crowd("empty dicts", 0x7d),
  crowd("empty lists", 0x5d),
  crowd("marks", 0x28),
  crowd("nulls", 0x4e),
  {
    name: "a 1 MB .npz that inflates to 1 GB in sixteen members",
    says: /claims to inflate to 1056964608/,
    write(folder) {
      const zeros63 = Buffer.alloc(63 * 2 ** 20);
      const path = join(folder, "bomb.npz");
      zip(
        path,
        Array.from({ length: 16 }, (_, i) => ({ name: `${i}.npy`, bytes: zeros63, deflate: true })),
      );
      return { reader: ["npz", path] };
    },
  },
  {
    name: "a 12 MB .png of a million empty pieces",
    says: /cut short/,
    write(folder) {
      writeFileSync(join(folder, "pieces.png"), pngInPieces());
      return { reader: ["png", join(folder, "pieces.png")] };
    },
  },
  {
    name: "a 100 KB .json nested 50,000 deep where a manifest should be",
    says: /not a JSON object|not a readable JSON/,
    write(folder) {
      const path = join(folder, "deep.json");
      writeFileSync(path, "[".repeat(50_000) + "]".repeat(50_000));
      return { reader: ["json", path] };
    },
  },
  tokenizer(
    "a tokenizer whose normalizer back-tracks for ever",
    { normalizer: { type: "Replace", pattern: backtracking, content: "" } },
    /took longer than 10 s/,
  ),
  tokenizer(
    "a tokenizer whose splitter back-tracks for ever",
    { pre_tokenizer: { type: "Split", pattern: backtracking, behavior: "Isolated" } },
    /took longer than 10 s/,
  ),
  tokenizer(
    "a tokenizer that doubles a text forty times",
    { normalizer: { type: "Sequence", normalizers: Array(40).fill(double) } },
    /times longer/,
  ),
  { name: "a replay with a billion steps of rest", says: /settle_steps/, write: writeRestfulReplay },
  recording(
    "a recording without its tasks",
    { tasks: undefined },
    /tasks should be int64 \[2\] and is nothing/,
  ),
  recording(
    "a recording whose episodes run beyond its frames",
    { lengths: [1n, 100n] },
    /claims 100 actions/,
  ),
  recording("a recording of a task that it does not have", { tasks: [0n, 7n] }, /is of task 7/),
  configuration(
    "a text that doubles forty times",
    () => `${based}${chain(40, (next) => `"${next}${next}"`)}\n`,
    /too large/,
  ),
  configuration(
    "a list that doubles forty times",
    () => `${based}${chain(40, (next) => `["${next}", "${next}"]`)}\n`,
    /too large/,
  ),
  configuration(
    "references 5,000 deep",
    () => `${based}a: "${"${".repeat(5000)}b${"}".repeat(5000)}"\n`,
    /too many references/,
  ),
  configuration(
    "a chain of 5,000 references",
    () => `${based}${chain(5000, (next) => `"${next}"`)}\n`,
    /too many references/,
  ),
  configuration(
    "90,000 unknown keys",
    () => `${based}${Array.from({ length: 90_000 }, (_, i) => `k${i}: 1`).join("\n")}\n`,
    /has 90000 errors[\s\S]*and \d+ more/,
  ),
  configuration(
    "a program for a configuration",
    () => deflateSync(Buffer.alloc(9e6)),
    /not a text file|not valid YAML/,
  ),
  {
    name: "a camera of 20,000 pixels",
    says: /camera_heights: expected at most 4096, found 20000/,
    write: () => ({
      reverie: [
        ...["train", "tabletop_object_grpo_openvlaoft_mini", "--dry-run"],
        "env.train.init_params.camera_heights=20000",
      ],
    }),
  },
  {
    name: "a shape in safetensors that no memory holds",
    says: /cut short/,
    write(folder) {
      const path = join(folder, "lie.safetensors");
      const header = Buffer.from(
        JSON.stringify({ a: { dtype: "F32", shape: [2 ** 30], data_offsets: [0, 2 ** 32] } }),
      );
      const length = Buffer.alloc(8);
      length.writeBigUInt64LE(BigInt(header.length));
      writeFileSync(path, Buffer.concat([length, header, Buffer.alloc(64)]));
      return { reader: ["safetensors", path] };
    },
  },
  {
    name: "a folder where dataset.json should be",
    says: /dataset\.json/,
    write(folder) {
      mkdirSync(join(folder, "dataset.json"));
      return { reader: ["demonstrations", folder] };
    },
  },
];
