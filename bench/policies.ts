/**
 * `npm run bench -- policies --device cuda`: OpenVLA-OFT with 7.5 billion random parameters in bfloat16 against the same
 * network in PyTorch (openvla_reference.py), both in this run on this GPU.
 *
 * The sides take turns and each figure is the best of its rounds. Rows are printed as they are measured. The
 * reference lives in a process of its own, so each side's peak memory is its own allocator's.
 * `--only rollout|train|lora` measures one part (or several: `train,lora`), `--tiny` tries the bench itself on a CPU, `--layers N` shortens the
 * language model, `--no-compile` leaves torch.compile out. Without a GPU the shipped small policy is measured instead.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { writeSafetensors } from "#formats";
import { noGrad } from "#tensor";
import type { PrismaticConfig } from "../src/policies/prismatic/config.ts";
import type { BenchOptions } from "./main.ts";
import { miniPolicy } from "./mini-policy.ts";
import {
  actionTokens,
  benchConfig,
  type Place,
  randomInputs,
  randomNetwork,
  sizesOf,
} from "./openvla-network.ts";
import { type Bench, logitsOf, report } from "./policy-measure.ts";
import { rollout, towers } from "./policy-rollout.ts";
import { training } from "./policy-training.ts";
import { benchPython, Reference, torchNeeds } from "./python.ts";
import { type BenchRow, holds } from "./row.ts";

export async function bench({ device }: BenchOptions): Promise<BenchRow[]> {
  const { values } = parseArgs({
    allowPositionals: true,
    strict: false,
    options: {
      only: { type: "string" },
      layers: { type: "string" },
      tiny: { type: "boolean" },
      "no-compile": { type: "boolean" },
    },
  });
  const tiny = values.tiny === true;
  // the published size does not fit an ordinary machine's memory; the shipped policy is made for it
  if (values.only === "mini" || (device === "cpu" && !tiny)) return [await miniPolicy()];
  const config = benchConfig(tiny, values.layers === undefined ? undefined : Number(values.layers));
  const place: Place = { device, dtype: device === "cuda" ? "bfloat16" : "float32" };
  const reference = startReference(config, device);
  const state: Bench = { config, place, reference, tiny, compile: !values["no-compile"] && !tiny, rows: [] };
  const only = typeof values.only === "string" ? values.only.split(",") : undefined;
  const wants = (part: string) => only?.includes(part) ?? true;
  try {
    await sameNetwork(state);
    const module = randomNetwork(config, place);
    if (wants("rollout")) await rollout(state, module);
    if (wants("train")) await training(state, module, false);
    if (wants("lora")) await training(state, module, true);
    if (only?.includes("towers")) await towers(state, module);
  } finally {
    reference.close();
  }
  return state.rows;
}

function startReference(config: PrismaticConfig, device: string): Reference {
  const python = benchPython([...torchNeeds, "safetensors"]);
  const script = fileURLToPath(new URL("openvla_reference.py", import.meta.url));
  return new Reference(python, script, [JSON.stringify(sizesOf(config)), device, String(actionTokens)]);
}

/** Both sides load one tiny file on the CPU in float32 and must answer alike. */
async function sameNetwork(state: Bench): Promise<void> {
  const config = benchConfig(true, undefined);
  const reference = startReference(config, "cpu");
  const folder = mkdtempSync(join(tmpdir(), "reverie-bench-"));
  try {
    const place: Place = { device: "cpu", dtype: "float32" };
    const module = randomNetwork(config, place);
    const given = randomInputs(config, 2, place);
    const [weights, inputs] = [join(folder, "weights.safetensors"), join(folder, "inputs.safetensors")];
    await writeSafetensors(weights, module.state());
    await writeSafetensors(
      inputs,
      new Map([
        ["pixels", given.pixels_BKSS],
        ["ids", given.ids_BL],
      ]),
    );
    const ours = noGrad(() => logitsOf(module, given).toArray());
    const answer = await reference.ask<{ logits?: number[]; error?: string }>({
      kind: "compare",
      weights,
      inputs,
    });
    if (!answer.logits) throw new Error(`the reference cannot run the tiny network: ${answer.error}`);
    const theirs = answer.logits;
    const differing =
      ours.filter((x, i) => !(Math.abs(x - theirs[i]!) <= 1e-5)).length +
      Math.abs(ours.length - theirs.length);
    report(
      state,
      holds("one set of weights, both sides: logits apart by more than 1e-5", differing, "logits"),
    );
  } finally {
    reference.close();
    rmSync(folder, { recursive: true });
  }
}
