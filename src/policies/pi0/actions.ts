/**
 * Model actions to the environment's units and back, and states to the model's: openpi's transforms.
 *
 * π0 normalizes by mean and deviation, π0.5 by quantiles; both on unpadded numbers, in double precision. Some
 * checkpoints answer relative to the state they start from (`extra_delta_transform`): then the first six numbers of
 * the state are added to every action. The gripper is the dataset's own, and passed on as it is.
 *
 * Shapes: B batch, H or C actions, A numbers in a model action, D in an environment's, Q numbers of state.
 */
import { z } from "zod";
import type { ActionSpec } from "#data";
import { UserError } from "#registry";
import { type Tensor, tensor } from "#tensor";
import type { Pi0Config } from "./config.ts";

const numbers = z.array(z.number());
const statisticsSchema = z.looseObject({
  mean: numbers,
  std: numbers,
  q01: numbers.nullish(),
  q99: numbers.nullish(),
});
type Statistics = z.infer<typeof statisticsSchema>;

const normStatsSchema = z.looseObject({
  norm_stats: z.looseObject({ state: statisticsSchema, actions: statisticsSchema }),
});
export type NormStats = z.infer<typeof normStatsSchema>;

export function parseNormStats(raw: unknown, origin: string): NormStats {
  const parsed = normStatsSchema.safeParse(raw);
  if (parsed.success) return parsed.data;
  throw new UserError(`${origin} does not hold openpi's statistics:\n${z.prettifyError(parsed.error)}`);
}

/** normalized = (x − offset) / scale; what both kinds of statistics come to. */
interface Scaling {
  readonly offset: readonly number[];
  readonly scale: readonly number[];
}

const tiny = 1e-6;

function scalingOf({ mean, std, q01, q99 }: Statistics, quantiles: boolean, what: string): Scaling {
  if (!quantiles) {
    if (mean.length !== std.length)
      throw new UserError(`norm_stats.${what}: mean has ${mean.length} numbers and std ${std.length}`);
    if (std.some((deviation) => deviation < 0))
      throw new UserError(`norm_stats.${what}: a standard deviation is below 0`);
    return { offset: mean, scale: std.map((deviation) => deviation + tiny) };
  }
  if (!q01 || !q99 || q01.length !== q99.length) {
    throw new UserError(
      `norm_stats.${what} has no q01 and q99 of the same length, which π0.5 normalizes by; ` +
        "compute the statistics with quantiles, or set openpi.use_quantile_norm: False",
    );
  }
  const crossed = q01.findIndex((low, i) => low > q99[i]!);
  if (crossed >= 0)
    throw new UserError(
      `norm_stats.${what}: q01 is above q99 in number ${crossed}: ${q01[crossed]} and ${q99[crossed]}`,
    );
  // 2 (x − low) / range − 1, written as one offset and one scale
  const scale = q01.map((low, i) => (q99[i]! - low + tiny) / 2);
  return { offset: q01.map((low, i) => low + scale[i]!), scale };
}

export interface Pi0CodecOptions {
  readonly chunk: number;
  /** D. */
  readonly actionSize: number;
  readonly spec?: ActionSpec | undefined;
}

export class Pi0Codec {
  readonly #config: Pi0Config;
  readonly #options: Pi0CodecOptions;
  readonly #state: Scaling;
  readonly #actions: Scaling;

  constructor({ norm_stats: stats }: NormStats, config: Pi0Config, options: Pi0CodecOptions) {
    this.#config = config;
    this.#options = options;
    this.#state = scalingOf(stats.state, config.use_quantile_norm, "state");
    this.#actions = scalingOf(stats.actions, config.use_quantile_norm, "actions");
    this.#check();
  }

  /** How many numbers of state there must be. */
  get stateSize(): number {
    return this.#state.offset.length;
  }

  /** Unpadded, double precision: what the prompt of π0.5 spells out. */
  normalizedState(states_BQ: Tensor): Float64Array {
    const Q = states_BQ.size(1);
    if (Q !== this.stateSize) {
      throw new UserError(
        `the statistics describe ${this.stateSize} numbers of state and the environment gives ${Q}`,
      );
    }
    const { offset, scale } = this.#state;
    return host(states_BQ).map((value, i) => (value - offset[i % Q]!) / scale[i % Q]!);
  }

  /** float32 [B, A]. */
  padState(normalized: Float64Array): Tensor {
    return this.#pad(normalized, this.stateSize, [normalized.length / this.stateSize]);
  }

  /** Model actions [B, H, A] to the environment's, double precision, [B, C, D] row by row. */
  toEnv(actions_BHA: Tensor, states_BQ: Tensor): Float64Array {
    const [B = 0, H = 0, A = 0] = actions_BHA.shape;
    const { chunk: C, actionSize: D } = this.#options;
    const { offset, scale } = this.#actions;
    const [model, states] = [host(actions_BHA), host(states_BQ)];
    const Q = states_BQ.size(1);
    const result = new Float64Array(B * C * D);
    for (let i = 0; i < result.length; i++) {
      const [b, c, d] = [Math.floor(i / (C * D)), Math.floor(i / D) % C, i % D];
      const base = this.#isRelative(d) ? states[b * Q + d]! : 0;
      result[i] = model[(b * H + c) * A + d]! * scale[d]! + offset[d]! + base;
    }
    return result;
  }

  /** The environment's actions [B, C, D] to model actions float32 [B, C, A]. */
  fromEnv(actions_BCD: Tensor, states_BQ: Tensor): Tensor {
    const [B = 0, C = 0, D = 0] = actions_BCD.shape;
    const { action_horizon: H } = this.#config;
    if (D !== this.#options.actionSize || C > H) {
      throw new UserError(
        `demonstrations have actions of ${C} × ${D}; the policy answers ${this.#options.actionSize} numbers ` +
          `for at most ${H} actions`,
      );
    }
    const { offset, scale } = this.#actions;
    const states = host(states_BQ);
    const Q = states_BQ.size(1);
    const normalized = host(actions_BCD).map((value, i) => {
      const [b, d] = [Math.floor(i / (C * D)), i % D];
      const base = this.#isRelative(d) ? states[b * Q + d]! : 0;
      return (value - base - offset[d]!) / scale[d]!;
    });
    return this.#pad(normalized, D, [B, C]);
  }

  #isRelative(dimension: number): boolean {
    return this.#config.extra_delta_transform && dimension < 6;
  }

  /** Rows of `width` numbers, padded with zeros to the model's: float32 [...shape, A]. */
  #pad(values: Float64Array, width: number, shape: readonly number[]): Tensor {
    const { action_dim: A } = this.#config;
    const padded = new Float32Array((values.length / width) * A);
    for (const [i, value] of values.entries()) padded[Math.floor(i / width) * A + (i % width)] = value;
    return tensor(padded, { shape: [...shape, A] });
  }

  #check(): void {
    const { action_dim: A, action_horizon: H, extra_delta_transform: relative } = this.#config;
    const { actionSize, chunk, spec } = this.#options;
    const known = this.#actions.offset.length;
    const faults = [
      chunk > H && `num_action_chunks is ${chunk} and the model answers ${H} actions (action_horizon)`,
      actionSize > known && `action_dim is ${actionSize} and the statistics describe ${known} numbers`,
      known > A && `the statistics describe ${known} numbers per action and the model has ${A}`,
      this.stateSize > A && `the statistics describe ${this.stateSize} numbers of state; the model has ${A}`,
      relative &&
        this.stateSize < Math.min(6, actionSize) &&
        `actions are relative to the state's first six numbers, and the statistics describe ${this.stateSize}`,
      spec &&
        spec.size !== actionSize &&
        `the policy answers with ${actionSize} numbers per action (action_dim) and the environment takes ${spec.size}`,
    ];
    const fault = faults.find((each) => typeof each === "string");
    if (fault) throw new UserError(fault);
  }
}

const host = (x: Tensor): Float64Array => x.cpu().double().contiguous().data() as Float64Array;
