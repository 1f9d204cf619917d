/** `doctor`: what this machine can run, what is missing, and the command that mends it. */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Command } from "../command.ts";
import { examineExtras } from "./extras.ts";
import { examineMujoco, examineTorch } from "./libraries.ts";
import { examineMachine } from "./machine.ts";
import { examineRenderers } from "./renderers.ts";
import { describe, type Findings, findMissing } from "./report.ts";
import { examineSetUp } from "./set-up-state.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

const options = { json: { type: "boolean", default: false } } as const;

export const doctorCommand: Command = {
  options,
  usage: "doctor [--json]",

  async run(argv) {
    const { values } = parseArgs({ args: argv, options });
    const findings = await examine();
    const missing = findMissing(findings);
    console.log(values.json ? JSON.stringify({ ...findings, missing }, null, 2) : describe(findings));
    if (missing.some(({ optional }) => !optional)) process.exitCode = 1;
  },
};

async function examine(): Promise<Findings> {
  const torch = await examineTorch();
  const mujoco = await examineMujoco();
  return {
    machine: examineMachine(root),
    torch,
    mujoco,
    renderers: "error" in mujoco ? { error: "MuJoCo does not open" } : await examineRenderers(),
    setUp: examineSetUp(),
    extras: await examineExtras(),
  };
}
