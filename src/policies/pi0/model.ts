/**
 * π0 and π0.5: a vision-language model and an action expert that turns noise into a chunk of actions.
 *
 * Black et al. 2024, https://arxiv.org/abs/2410.24164; π0.5: https://arxiv.org/abs/2504.16054. Names and numbers are
 * those of openpi's PyTorch model with RLinf's heads. The vision-language model and the expert may be half precision;
 * everything here (projections, heads, what leaves them) is float32.
 *
 * Shapes: B batch, N cameras, P tokens of one picture, L prompt columns, H actions of the horizon, A numbers in a
 * model action, D expert width, V language width, S suffix tokens (H, and in π0 the state's).
 */
import { Linear, Module, type ModuleOptions, silu } from "#nn";
import { cat, type Device, full, keep, linspace, type Tensor, tensor } from "#tensor";
import type { Pi0Config } from "./config.ts";
import { NoiseHead, ValueHead } from "./heads.ts";
import { type Memory, PaliGemmaWithExpert, type Prefix, type PrefixLayout, type Reading } from "./towers.ts";

/** Cameras that every published model has a place for. */
export const cameraSlots = 3;

export interface Pi0Heads {
  /** What the critic reads: the expert's answers, PaliGemma's, or there is none. */
  readonly critic: "expert" | "vlm" | "none";
  /** Whether the deviation of each step is learned (flow_noise). */
  readonly noise: boolean;
}

export interface PrefixInputs {
  /** Of the cameras that are there, float32 [B, N, 3, side, side] in [−1, 1]. */
  readonly pixels_BNCSS: Tensor;
  /** Places of absent cameras to fill with black pictures that nobody looks at. They cost work and change nothing. */
  readonly blanks: number;
  readonly ids_BL: Tensor; // int64
  readonly mask_BL: Tensor; // bool
  /** False promises that the prompts are all of the same length. */
  readonly padded: boolean;
}

export interface Suffix {
  readonly embeddings_BSD: Tensor;
  readonly condition_BD: Tensor | undefined;
}

export class Pi0Model extends Module {
  readonly paligemma_with_expert: PaliGemmaWithExpert;
  readonly action_in_proj: Linear;
  readonly action_out_proj: Linear;
  readonly state_proj: Linear | undefined;
  readonly action_time_mlp_in: Linear | undefined;
  readonly action_time_mlp_out: Linear | undefined;
  readonly time_mlp_in: Linear | undefined;
  readonly time_mlp_out: Linear | undefined;
  readonly value_head: ValueHead | undefined;
  readonly noise_head: NoiseHead | undefined;
  readonly config: Pi0Config;
  readonly #seen = new Map<Device, Tensor>();

  constructor(config: Pi0Config, heads: Pi0Heads, options: ModuleOptions = {}) {
    super();
    const { action_dim: actionSize, sizes, pi05 } = config;
    const { width } = sizes.expert;
    const exact = { ...options, dtype: "float32" } as const;
    const square = (inputs = width): Linear => new Linear(inputs, width, exact);
    this.config = config;
    this.paligemma_with_expert = new PaliGemmaWithExpert(config, options);
    this.action_in_proj = square(actionSize);
    this.action_out_proj = new Linear(width, actionSize, exact);
    this.state_proj = pi05 ? undefined : square(actionSize);
    this.action_time_mlp_in = pi05 ? undefined : square(2 * width);
    this.action_time_mlp_out = pi05 ? undefined : square();
    this.time_mlp_in = pi05 ? square() : undefined;
    this.time_mlp_out = pi05 ? square() : undefined;
    const read = heads.critic === "vlm" ? sizes.vlm.width : width;
    this.value_head = heads.critic === "none" ? undefined : new ValueHead(read, config.valueHidden, exact);
    this.noise_head = heads.noise ? new NoiseHead(width, actionSize, exact) : undefined;
  }

  /** Pictures, then the blanks, then words. */
  embedPrefix(inputs: PrefixInputs): Prefix {
    return this.joinPrefix(this.paligemma_with_expert.see(this.pictures(inputs)), inputs);
  }

  /** All pictures to look at, [X, 3, side, side]: each row's, and one black one for all places of absent cameras. */
  pictures({ pixels_BNCSS, blanks }: PrefixInputs): Tensor {
    const pixels_XCSS = pixels_BNCSS.flatten(0, 1);
    if (blanks === 0) return pixels_XCSS;
    const black = full([1, ...pixels_XCSS.shape.slice(1)], -1, { device: pixels_XCSS.device });
    return cat([pixels_XCSS, black], 0);
  }

  /** What was seen of `pictures`, [X, P, V], with the words behind it. */
  joinPrefix(seen_XPV: Tensor, inputs: PrefixInputs): Prefix {
    const [B = 0, N = 0] = inputs.pixels_BNCSS.shape;
    const pictures_BQV = seen_XPV
      .narrow(0, 0, B * N)
      .unflatten(0, [B, N])
      .flatten(1, 2);
    const blanks = Array.from({ length: inputs.blanks }, () =>
      seen_XPV.narrow(0, B * N, 1).expand([B, -1, -1]),
    );
    const words_BLV = this.paligemma_with_expert.read(inputs.ids_BL);
    return { embeddings_BPD: cat([pictures_BQV, ...blanks, words_BLV], 1), ...this.layoutOf(inputs) };
  }

  layoutOf({ pixels_BNCSS, blanks, mask_BL, padded }: PrefixInputs): PrefixLayout {
    const [B = 0, N = 0] = pixels_BNCSS.shape;
    const { image_size, patch_size } = this.config.sizes.vision;
    const tokens = (image_size / patch_size) ** 2;
    const fill = (count: number, value: 0 | 1): Tensor =>
      full([B, count * tokens], value, { dtype: "bool", device: mask_BL.device });
    return { mask_BP: cat([fill(N, 1), fill(blanks, 0), mask_BL], 1), padded: padded || blanks > 0 };
  }

  /** Runs the vision-language model once; a critic that reads it needs its answer. */
  remember(inputs: PrefixInputs, how: Reading): Memory {
    return this.paligemma_with_expert.remember(this.embedPrefix(inputs), how);
  }

  /** State, noisy actions and their time as the expert's input. */
  embedSuffix(state_BA: Tensor, x_BHA: Tensor, time_B: Tensor): Suffix {
    const actions_BHD = this.action_in_proj.forward(x_BHA);
    const time_BD = sineTime(time_B, this.config.sizes.expert.width);
    if (this.time_mlp_in && this.time_mlp_out) {
      const hidden_BD = silu(this.time_mlp_in.forward(time_BD));
      return { embeddings_BSD: actions_BHD, condition_BD: silu(this.time_mlp_out.forward(hidden_BD)) };
    }
    const timed_BHD = cat([actions_BHD, time_BD.unsqueeze(1).expandAs(actions_BHD)], 2);
    const mixed_BHD = this.action_time_mlp_out!.forward(silu(this.action_time_mlp_in!.forward(timed_BHD)));
    const state_B1D = this.state_proj!.forward(state_BA).unsqueeze(1);
    return { embeddings_BSD: cat([state_B1D, mixed_BHD], 1), condition_BD: undefined };
  }

  /** The expert's answers for the actions, float32 [B, H, D]. */
  think(memory: Memory, state_BA: Tensor, x_BHA: Tensor, time_B: Tensor): Tensor {
    const { embeddings_BSD, condition_BD } = this.embedSuffix(state_BA, x_BHA, time_B);
    const sees_SS = this.sees(x_BHA.device);
    return this.ofActions(this.paligemma_with_expert.answer(memory, embeddings_BSD, sees_SS, condition_BD));
  }

  /** Without the state's answer, which nobody reads. */
  ofActions(answers_BSD: Tensor): Tensor {
    const { action_horizon: H } = this.config;
    return answers_BSD.narrow(1, answers_BSD.size(1) - H, H);
  }

  /** noise − actions, as the network guesses: [B, H, A]. */
  velocity(answers_BHD: Tensor): Tensor {
    return this.action_out_proj.forward(answers_BHD);
  }

  /** A token with a 1 begins a block; a token sees its own block and those before it. */
  blockFlags(): number[] {
    const { pi05, action_horizon } = this.config;
    const actions = Array.from({ length: action_horizon }, (_, i) => (i === 0 ? 1 : 0));
    return pi05 ? actions : [1, ...actions];
  }

  /** In π0 the state does not see the actions; in π0.5 there is one block and nothing to forbid. Kept per device. */
  sees(device: Device): Tensor | undefined {
    if (this.config.pi05) return undefined;
    const known = this.#seen.get(device);
    if (known) return known;
    const blocks_S = tensor(this.blockFlags(), { device }).cumsum(0);
    const sees_SS = keep(blocks_S.unsqueeze(0).le(blocks_S.unsqueeze(1)));
    this.#seen.set(device, sees_SS);
    return sees_SS;
  }
}

const shortestPeriod = 4e-3;
const longestPeriod = 4;

/** Sines, then cosines, of the time in periods from 0.004 to 4; computed in double precision, float32 [B, D]. */
export function sineTime(time_B: Tensor, width: number): Tensor {
  const share = linspace(0, 1, width / 2, { dtype: "float64", device: time_B.device });
  const period = share
    .mul(Math.log(longestPeriod / shortestPeriod))
    .exp()
    .mul(shortestPeriod);
  const angles = time_B
    .double()
    .unsqueeze(1)
    .mul(period.reciprocal().mul(2 * Math.PI));
  return cat([angles.sin(), angles.cos()], 1).float();
}
