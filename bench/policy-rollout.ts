/** Rollout: pixels to the logits of a chunk, eager and by CUDA graph, against eager PyTorch and torch.compile. */

import { CapturedForward } from "#nn";
import { noGrad, randn, scope } from "#tensor";
import type { OpenVlaOftModel } from "../src/policies/openvla-oft/model.ts";
import { type BenchInputs, forwardOperations, randomInputs } from "./openvla-network.ts";
import { ask, type Bench, freed, logitsOf, milliseconds, report, type Timed } from "./policy-measure.ts";
import { type BenchRow, lessIsBetter, moreIsBetter } from "./row.ts";

const rounds = 2;
const compileLimit = 150; // seconds

export async function rollout(state: Bench, module: OpenVlaOftModel): Promise<void> {
  const peak = await matrixRate(state);
  for (const batch of state.tiny ? [1, 2] : [1, 8, 32, 64]) {
    const ms = await forwardTimes(state, module, batch);
    const name = `forward, batch ${batch}`;
    report(
      state,
      lessIsBetter({ name: `${name}, eager`, unit: "ms", ours: ms.eager, reference: ms.theirs, goal: 1 }),
    );
    if (ms.graph !== undefined) report(state, ...graphRows(state, batch, { ...ms, graph: ms.graph }, peak));
    if (batch === 32 && state.compile) await againstCompiled(state, batch, ms.graph ?? ms.eager);
  }
}

interface ForwardTimes {
  readonly eager: number;
  readonly theirs: number;
  readonly graph: number | undefined;
}

function graphRows(
  { config }: Bench,
  batch: number,
  { graph, theirs }: ForwardTimes & { graph: number },
  peak: number,
): BenchRow[] {
  const rate = (forwardOperations(config) * batch) / graph / 1e9; // TFLOP/s
  const name = `forward, batch ${batch}, CUDA graph`;
  return [
    lessIsBetter({ name, unit: "ms", ours: graph, reference: theirs, goal: 1 }),
    moreIsBetter({
      name: `${name}: chunks`,
      unit: "1/s",
      ours: (1e3 * batch) / graph,
      reference: (1e3 * batch) / theirs,
    }),
    // "reference" is 60 % of the matrix rate, so that the goal is a ratio of one
    moreIsBetter({
      name: `${name}: against 60 % of an 8192³ product's rate`,
      unit: "TFLOP/s",
      ours: rate,
      reference: 0.6 * peak,
      limit: peak,
      ...(batch === 32 && { goal: 1 }),
    }),
  ];
}

async function forwardTimes(state: Bench, module: OpenVlaOftModel, batch: number): Promise<ForwardTimes> {
  const inputs = randomInputs(state.config, batch, state.place);
  const eager = () => noGrad(() => scope(() => void logitsOf(module, inputs)));
  const captured = state.place.device === "cuda" ? capturedForward(module) : undefined;
  const replay = () => void captured?.run({ ...inputs });
  for (const warm of [eager, eager, replay]) warm();
  const count = Math.max(1, Math.ceil(500 / milliseconds(eager, 1)));
  const best = { eager: Infinity, theirs: Infinity, graph: Infinity };
  for (let round = 0; round < rounds; round++) {
    best.eager = Math.min(best.eager, milliseconds(eager, count));
    if (captured) best.graph = Math.min(best.graph, milliseconds(replay, count));
    best.theirs = Math.min(best.theirs, (await ask(state, { kind: "rollout", batch, count })).ms);
  }
  captured?.clear();
  freed(state, Object.values(inputs));
  return { ...best, graph: captured ? best.graph : undefined };
}

/** As a policy does it: inputs are copied into the graph's own, then the graph is replayed. */
const capturedForward = (module: OpenVlaOftModel): CapturedForward =>
  new CapturedForward((inputs) => ({ logits: logitsOf(module, inputs as unknown as BenchInputs) }), {
    sightings: 0,
    most: 1,
  });

async function againstCompiled(state: Bench, batch: number, ours: number): Promise<void> {
  const request = { kind: "rollout", batch, count: 3, compiled: true, limit_s: compileLimit };
  const { ms, error } = await state.reference.ask<Timed>(request);
  if (error) return console.error(`torch.compile was left out: ${error}`);
  report(
    state,
    lessIsBetter({ name: `forward, batch ${batch}, against torch.compile`, unit: "ms", ours, reference: ms }),
  );
}

/** The two vision towers after each other and side by side, both by CUDA graph: "reference" is the former. */
export async function towers(state: Bench, module: OpenVlaOftModel): Promise<void> {
  for (const batch of [1, 8]) {
    const inputs = randomInputs(state.config, batch, state.place);
    const time = (captured: CapturedForward) => {
      const replay = () => void captured.run({ ...inputs });
      replay();
      const ms = Math.min(...Array.from({ length: 3 }, () => milliseconds(replay, 10)));
      captured.clear();
      return ms;
    };
    const reference = time(capturedForward(module));
    module.vision_backbone.sideBySide(true);
    const ours = time(capturedForward(module));
    module.vision_backbone.sideBySide(false);
    report(
      state,
      lessIsBetter({ name: `forward, batch ${batch}, towers side by side`, unit: "ms", ours, reference }),
    );
    freed(state, Object.values(inputs));
  }
}

/** TFLOP/s of a large square product, the better of the two sides: what the machine can do on this day. */
async function matrixRate(state: Bench): Promise<number> {
  const side = state.tiny ? 256 : 8192;
  const { place } = state;
  const [a, b] = [randn([side, side], place), randn([side, side], place)];
  const product = () => scope(() => void a.matmul(b));
  milliseconds(product, 5);
  const ours = Math.min(...[1, 2, 3].map(() => milliseconds(product, 10)));
  const theirs = (await ask(state, { kind: "matmul", side })).ms;
  freed(state, [a, b]);
  return (2 * side ** 3) / Math.min(ours, theirs) / 1e9;
}
