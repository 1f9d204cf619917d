/**
 * `npm run bench -- <what> [--json] [--device cuda]`: measures ours and the reference in one run and prints a table.
 *
 * Exit code 1 when a goal is missed. Numbers from a busy machine say little: the reference runs interleaved with
 * ours so that both meet the same noise.
 */
import { parseArgs } from "node:util";
import { type BenchRow, tableOf } from "./row.ts";

export interface BenchOptions {
  readonly device: "cpu" | "cuda";
  /** What else stood on the command line. */
  readonly rest: readonly string[];
}

const benches: Record<string, () => Promise<{ bench(options: BenchOptions): Promise<BenchRow[]> }>> = {
  tensor: () => import("./tensor.ts"),
  policies: () => import("./policies.ts"),
  worlds: () => import("./worlds.ts"),
  "world-training": () => import("./world-training.ts"),
  "world-training-parts": () => import("./world-training-parts.ts"),
  compaction: () => import("./compaction.ts"),
  mujoco: () => import("./mujoco.ts"),
  libero: () => import("./libero.ts"),
  envs: () => import("./envs.ts"),
  tabletop: () => import("./tabletop.ts"),
  step: () => import("./step.ts"),
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  strict: false,
  options: { json: { type: "boolean", default: false }, device: { type: "string", default: "cpu" } },
});
const [name = "", ...rest] = positionals;
const load = benches[name];
if (!load) {
  console.error(`which bench? there are: ${Object.keys(benches).join(", ")}`);
  process.exit(2);
}
const { bench } = await load();
const rows = await bench({ device: values.device === "cuda" ? "cuda" : "cpu", rest });
console.log(values.json ? JSON.stringify(rows, null, 2) : tableOf(rows));
process.exitCode = rows.some((row) => row.ok === false) ? 1 : 0;
