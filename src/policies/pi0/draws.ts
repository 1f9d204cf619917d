/**
 * The random numbers of a chain, drawn before the network runs: on the host, so that they are the same on any device.
 *
 * Shapes: B batch, N steps, H actions of the horizon, A numbers in a model action.
 */
import { arange, full, Generator, keep, rand, randint, randn, stack, type Tensor, zeros } from "#tensor";
import { certainSteps } from "./denoiser.ts";

export interface ChainShape {
  readonly steps: number;
  readonly horizon: number;
  readonly size: number;
  readonly joint: boolean;
  readonly ignoreLast: boolean;
}

export interface Draws {
  /** The first stage and a draw for each step: float32 [N + 1, B, H, A]. */
  readonly noise: Tensor;
  /** Which step is noisy, N times over; each step once in joint mode; −1 for none. int64 [B, N]. */
  readonly steps_BN: Tensor;
}

type Streams = Generator | readonly Generator[] | undefined;

const isPerRow = (streams: Streams): streams is readonly Generator[] => Array.isArray(streams);

/** With a stream per row, a row's draws depend on nothing but its own stream. */
export function drawChains(rows: number, shape: ChainShape, streams: Streams): Draws {
  if (!isPerRow(streams)) return drawRows(rows, shape, streams);
  if (streams.length !== rows) throw new Error(`internal: ${streams.length} generators for ${rows} rows`);
  const each = streams.map((stream) => drawRows(1, shape, stream));
  return {
    noise: stack(
      each.map(({ noise }) => noise.select(1, 0)),
      1,
    ),
    steps_BN: stack(each.map(({ steps_BN }) => steps_BN.select(0, 0))),
  };
}

function drawRows(rows: number, shape: ChainShape, generator: Generator | undefined): Draws {
  const { steps, horizon, size, joint, ignoreLast } = shape;
  const source = { generator, device: generator?.device ?? "cpu" } as const;
  const noise = randn([steps + 1, rows, horizon, size], source);
  if (joint) {
    const all = arange(0, steps, 1, { dtype: "int64", device: source.device });
    return { noise, steps_BN: all.unsqueeze(0).repeat([rows, 1]) };
  }
  const last = ignoreLast ? Math.max(1, steps - 1) : steps;
  return { noise, steps_BN: randint(0, last, [rows, 1], source).repeat([1, steps]) };
}

const certainDraws = new Map<string, Tensor>();

/** Only the first stage is drawn; without a stream it is one known draw, the same for every row. */
export function drawCertain(rows: number, shape: ChainShape, streams: Streams): Draws {
  const { steps, horizon, size } = shape;
  const steps_BN = certainSteps(rows, steps);
  if (streams) return { noise: drawChains(rows, shape, streams).noise, steps_BN };
  const first = knownDraw(horizon, size).expand([rows, horizon, size]);
  const none = zeros([rows, horizon, size]);
  return { noise: stack([first, ...Array.from({ length: steps }, () => none)]), steps_BN };
}

function knownDraw(horizon: number, size: number): Tensor {
  const key = `${horizon} ${size}`;
  const known = certainDraws.get(key);
  if (known) return known;
  const generator = new Generator(0);
  const made = keep(randn([horizon, size], { generator }));
  generator.dispose();
  certainDraws.set(key, made);
  return made;
}

/** Where on the way from actions (0) to noise (1) a demonstration is looked at: Beta(1.5, 1) within [0.001, 1], [B]. */
export function drawTimes(rows: number, generator: Generator | undefined): Tensor {
  // Beta(a, 1) has the distribution function x^a, so a uniform number's a-th root is a sample of it
  return rand([rows], { generator })
    .pow(1 / 1.5)
    .mul(0.999)
    .add(0.001);
}

/** Actions [B, C, A] to [B, H, A]: the last one is repeated. */
export function prolong(actions_BCA: Tensor, horizon: number): Tensor {
  const [, C = 0] = actions_BCA.shape;
  if (C === horizon) return actions_BCA;
  const index = full([horizon], C - 1, { dtype: "int64" }).minimum(arange(0, horizon, 1, { dtype: "int64" }));
  return actions_BCA.cpu().indexSelect(1, index);
}
