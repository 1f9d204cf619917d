/**
 * One run of the step bench, in a process of its own so that all its memory goes with it: `reverie train`'s own run, loop and
 * workers for a configuration with overrides. Answers the numbers of every step, and the most memory that was in use.
 */
import type { Metrics } from "#metrics";
import { cudaAvailable, deviceMemory } from "#tensor";
import { Run, readRun, train } from "#training";

export interface StepRequest {
  readonly config: string;
  readonly overrides: readonly string[];
}

export interface StepAnswer {
  readonly steps: readonly Metrics[];
  /** Seconds until the first step could begin: weights loaded, simulators open. */
  readonly openSeconds: number;
  /** Bytes of GPU memory: most given out to tensors, most taken from the driver, and all there is. */
  readonly memory?: { readonly given: number; readonly taken: number; readonly total: number };
}

async function answer({ config, overrides }: StepRequest): Promise<StepAnswer> {
  const began = performance.now();
  const steps: Metrics[] = [];
  const run = await Run.open(await readRun(config, { overrides, requireFiles: true }), {
    doing() {},
    say: (line) => console.error(line),
    told(step, metrics) {
      const { "time/step": seconds = 0, "train/actor/grad_norm": norm = 0 } = metrics;
      console.error(`step ${step}: ${seconds.toFixed(1)} s, gradient norm ${norm.toExponential(2)}`);
      steps.push({ ...metrics });
    },
  });
  const openSeconds = (performance.now() - began) / 1000;
  try {
    await train(run);
    return { steps, openSeconds, ...(cudaAvailable() && { memory: memoryUsed() }) };
  } finally {
    await run.close();
  }
}

function memoryUsed(): NonNullable<StepAnswer["memory"]> {
  const { allocatedPeak, reservedPeak, total } = deviceMemory();
  return { given: allocatedPeak, taken: reservedPeak, total };
}

process.on("message", (request: StepRequest) => {
  answer(request).then(
    (answered) => process.send?.(answered, () => process.exit(0)),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
