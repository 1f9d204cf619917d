/**
 * Action tokens to the environment's numbers and back: bins, then the dataset's statistics, then the gripper.
 *
 * OpenVLA's datasets write the gripper as 1 open and 0 closed; environments have their own signs, stated in
 * their ActionSpec, so that no file knows both a model and an environment.
 *
 * Shapes: B batch, C actions in a chunk, D numbers in an action, A = C·D tokens.
 */

import { type ActionSpec, grippersOf } from "#data";
import { UserError } from "#registry";
import { type Tensor, tensor } from "#tensor";
import { type ActionTokens, actionTokens } from "./action-tokens.ts";
import type { PrismaticConfig } from "./config.ts";
import {
  type ActionBounds,
  type Bounds,
  boundsOf,
  datasetKey,
  denormalize,
  normalize,
} from "./normalization.ts";

export interface ActionCodecOptions {
  readonly unnormKey?: string | undefined;
  readonly bounds?: ActionBounds;
  readonly actionDim: number;
  readonly chunk: number;
  readonly spec?: ActionSpec | undefined;
}

export class ActionCodec {
  readonly tokens: ActionTokens;
  readonly #bounds: Bounds;
  readonly #shape: readonly [number, number];
  readonly #gripper: ActionSpec["gripper"];
  readonly #grippers: readonly number[];

  constructor(config: PrismaticConfig, options: ActionCodecOptions) {
    const { actionDim, chunk, spec } = options;
    const key = datasetKey(config.normStats, options.unnormKey);
    this.tokens = actionTokens(config.vocabulary, config.actionBins);
    this.#bounds = boundsOf(config.normStats[key]!.action, options.bounds ?? "q99", `${key}.action`);
    this.#shape = [chunk, actionDim];
    this.#gripper = spec?.gripper ?? "as_is";
    this.#grippers = spec ? grippersOf(spec) : [];
    const known = this.#bounds.low.length;
    if (known !== actionDim) {
      throw new UserError(
        `action_dim is ${actionDim} and the statistics of "${key}" describe ${known} numbers`,
      );
    }
    if (spec && spec.size !== actionDim) {
      throw new UserError(
        `the policy answers with ${actionDim} numbers per action (action_dim) and the environment takes ${spec.size}`,
      );
    }
  }

  /** Absolute ids (any shape of B·C·D) to the dataset's units, double precision. */
  denormalized(ids: ArrayLike<number | bigint>): Float64Array {
    return denormalize(this.tokens.decode(ids), this.#bounds);
  }

  /** Absolute ids [B, A] to actions for the environment: float32 [B, C, D] on the host. */
  decode(ids_BA: Tensor): Tensor {
    const ids = ids_BA.cpu().contiguous().data() as BigInt64Array;
    const values = this.denormalized(ids);
    const [chunk, size] = this.#shape;
    this.#changeGrippers(values, toEnv);
    return tensor(Float32Array.from(values), { shape: [ids.length / (chunk * size), chunk, size] });
  }

  /** The environment's actions float32 [B, C, D] to absolute ids int64 [B, A], on the host. */
  encode(actions_BCD: Tensor): Tensor {
    const [chunk, size] = this.#shape;
    const [B = 0, C = 0, D = 0] = actions_BCD.shape;
    if (C !== chunk || D !== size) {
      throw new UserError(
        `demonstrations have actions of ${C} × ${D}; the policy makes chunks of ${chunk} × ${size}`,
      );
    }
    const values = Float64Array.from(actions_BCD.cpu().contiguous().data() as Float32Array);
    this.#changeGrippers(values, fromEnv);
    return tensor(this.tokens.encode(normalize(values, this.#bounds)), { shape: [B, C * D] });
  }

  #changeGrippers(
    values: Float64Array,
    change: (value: number, gripper: ActionSpec["gripper"]) => number,
  ): void {
    const [, size] = this.#shape;
    for (const gripper of this.#grippers)
      for (let i = gripper; i < values.length; i += size) values[i] = change(values[i]!, this.#gripper);
  }
}

function toEnv(opening: number, gripper: ActionSpec["gripper"]): number {
  if (gripper === "minus_one_opens") return -Math.sign(2 * opening - 1);
  if (gripper === "plus_one_opens") return opening > 0.5 ? 1 : -1;
  return opening;
}

function fromEnv(value: number, gripper: ActionSpec["gripper"]): number {
  if (gripper === "minus_one_opens") return (1 - value) / 2;
  if (gripper === "plus_one_opens") return (1 + value) / 2;
  return value;
}
