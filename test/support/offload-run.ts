/**
 * For the test of offloading: one run on the accelerator, in a process of its own, and what it took of the memory.
 *
 * An allocator's figures are those of a process. In one that has run something else they also tell what that left, and when it is
 * collected. `node --import tsx offload-run.ts '<order as JSON>'` prints the figures as JSON.
 */
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { metricsFile, readMetricsFile } from "#metrics";
import { deviceMemory } from "#tensor";
import { listCheckpoints } from "../../src/training/checkpoint/folder.ts";
import { readRun } from "../../src/training/read-run.ts";
import { silent } from "../../src/training/reporter.ts";
import { Run } from "../../src/training/run.ts";
import { checkpointRoot } from "../../src/training/run-folder/places.ts";
import { train } from "../../src/training/train.ts";
import { tinyOverrides } from "./tiny-run.ts";

export interface OffloadOrder {
  readonly config: string;
  readonly model: string;
  readonly overrides: readonly string[];
}

export interface OffloadFigures {
  readonly resting: number; // bytes, before the first rollout
  readonly peak: number; // bytes
  readonly losses: readonly number[];
  readonly weights: string; // SHA-256
}

async function measure({ config, model, overrides }: OffloadOrder): Promise<OffloadFigures> {
  const logs = mkdtempSync(join(tmpdir(), "reverie-offload-"));
  const tiny = tinyOverrides({ model, logs }).filter((each) => !/simulated/.test(each));
  const checked = await readRun(config, { overrides: [...tiny, ...overrides] });
  const before = deviceMemory(0, true).allocated;
  const run = await Run.open(checked, silent);
  await run.crew.syncWeights(0);
  const resting = deviceMemory(0, true).allocated - before;
  await train(run);
  await run.close();
  const { folder } = listCheckpoints(checkpointRoot(checked)).at(-1)!;
  const bytes = readFileSync(join(folder, "actor", "model", "model.safetensors"));
  return {
    resting,
    peak: deviceMemory(0).allocatedPeak - before,
    losses: readMetricsFile(metricsFile(logs)).map(({ metrics }) => metrics["train/loss"] ?? Number.NaN),
    weights: createHash("sha256").update(bytes).digest("hex"),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const figures = await measure(JSON.parse(process.argv[2] ?? "{}") as OffloadOrder);
  console.log(JSON.stringify(figures));
}
