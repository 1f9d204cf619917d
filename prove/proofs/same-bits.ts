/** Runs of every kind of learning give what they gave before the rebuild of 2026-11: the same weights, files and metrics, to the bit. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Outcome, Proof } from "../proof.ts";
import { machineKind, recordedFile, shortRuns, type Traces } from "../short-runs.ts";

interface Recorded {
  readonly machine: string;
  readonly traces: Traces;
}

export const proof: Proof = {
  claim:
    "GRPO, PPO, dreams with co-evolution, SFT and world trainings give the weights and metrics of before the rebuild",
  goal: "0 differences",
  minutes: 4,
  needs: "a CPU with the vector units of the recording",

  async run(say): Promise<Outcome> {
    const { machine, traces } = JSON.parse(readFileSync(recordedFile, "utf8")) as Recorded;
    if (machine !== machineKind())
      return {
        ok: false,
        figure: `recorded on "${machine}", this machine is "${machineKind()}": sums have another order here`,
      };
    const root = mkdtempSync(join(tmpdir(), "reverie-bits-"));
    let [same, different] = [0, 0];
    try {
      for (const [name, run] of Object.entries(shortRuns)) {
        const [now, before] = [await run(root), traces[name] ?? []];
        const differing = [
          ...before.filter((trace) => !now.includes(trace)).map((trace) => `before ${trace}`),
          ...now.filter((trace) => !before.includes(trace)).map((trace) => `now    ${trace}`),
        ];
        same += now.length;
        different += differing.length;
        say(`${differing.length === 0 ? "ok  " : "MISS"} ${name}: ${now.length} files and steps`);
        for (const trace of differing) say(`     ${trace}`);
      }
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
    return { ok: different === 0 && same > 0, figure: `${different} differences in ${same} files and steps` };
  },
};
