/**
 * AdamW with parameter groups, one fused kernel call per group. Loshchilov & Hutter 2017,
 * https://arxiv.org/abs/1711.05101.
 *
 * The numbers are those of torch.optim.AdamW(fused=True). Moments and step counts are plain tensors by parameter
 * name, so that a checkpoint holds them and a resumed run continues bit for bit.
 */
import { type DType, fast, keep, noGrad, type Tensor, tensor, zeros } from "#tensor";

const fusedAdamW = fast("aten::_fused_adamw_") as (...args: unknown[]) => void;
const fusedAdamWByTensor = fast("aten::_fused_adamw_.tensor_lr") as (...args: unknown[]) => void;
const addScalarToAll = fast("aten::_foreach_add_.Scalar") as (
  tensors: readonly Tensor[],
  value: number,
) => void;

export interface ParameterGroup {
  readonly parameters: ReadonlyMap<string, Tensor>;
  lr: number;
  readonly weightDecay?: number;
}

export interface AdamWOptions {
  readonly betas?: readonly [number, number];
  readonly eps?: number;
  readonly weightDecay?: number;
  /** Moments' type; the parameter's own unless said otherwise. */
  readonly momentDtype?: DType;
  /** A scalar on the parameters' device that takes the place of every group's `lr`: a captured graph reads it anew at each replay. */
  readonly rate?: Tensor;
}

interface Slot {
  readonly parameter: Tensor;
  readonly m: Tensor;
  readonly v: Tensor;
  readonly step: Tensor;
}

export class AdamW {
  readonly groups: readonly ParameterGroup[];
  readonly #slots: Map<string, Slot>[];
  readonly #options: Required<Omit<AdamWOptions, "momentDtype" | "rate">>;
  readonly #rate: Tensor | undefined;

  constructor(
    groups: readonly ParameterGroup[],
    { betas = [0.9, 0.999], eps = 1e-8, weightDecay = 0.01, momentDtype, rate }: AdamWOptions = {},
  ) {
    this.groups = groups;
    this.#options = { betas, eps, weightDecay };
    this.#rate = rate;
    this.#slots = groups.map(
      (group) =>
        new Map([...group.parameters].map(([name, parameter]) => [name, newSlot(parameter, momentDtype)])),
    );
  }

  /** One update with the given gradients by name, or with each parameter's `.grad`; parameters without one rest. */
  step(gradients?: ReadonlyMap<string, Tensor>): void {
    noGrad(() => {
      for (const [i, slots] of this.#slots.entries())
        this.#stepGroup(this.groups[i] as ParameterGroup, slots, gradients);
    });
  }

  #stepGroup(
    group: ParameterGroup,
    slots: ReadonlyMap<string, Slot>,
    gradients: ReadonlyMap<string, Tensor> | undefined,
  ): void {
    const moving: Slot[] = [];
    const grads: Tensor[] = [];
    for (const [name, slot] of slots) {
      const gradient = gradients ? gradients.get(name) : slot.parameter.grad;
      if (!gradient) continue;
      moving.push(slot);
      grads.push(gradient);
    }
    if (moving.length === 0) return;
    const { betas, eps, weightDecay } = this.#options;
    const of = (part: keyof Slot) => moving.map((slot) => slot[part]);
    addScalarToAll(of("step"), 1);
    // self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, steps, lr, betas, weight_decay, eps, amsgrad, maximize
    const decay = group.weightDecay ?? weightDecay;
    const update = this.#rate ? fusedAdamWByTensor : fusedAdamW;
    update(
      of("parameter"),
      grads,
      of("m"),
      of("v"),
      [],
      of("step"),
      this.#rate ?? group.lr,
      betas[0],
      betas[1],
      decay,
      eps,
      false,
      false,
    );
    if (!gradients) for (const gradient of grads) gradient.dispose();
  }

  /** Forgets gradients, so that the next backward begins at zero. */
  zeroGrad(): void {
    for (const slots of this.#slots) for (const { parameter } of slots.values()) parameter.grad = null;
  }

  /** Moments and steps as "<group>.<name>.<part>", for a checkpoint. */
  state(): Map<string, Tensor> {
    const out = new Map<string, Tensor>();
    for (const [i, slots] of this.#slots.entries()) {
      for (const [name, { m, v, step }] of slots) {
        out.set(`${i}.${name}.m`, m).set(`${i}.${name}.v`, v).set(`${i}.${name}.step`, step);
      }
    }
    return out;
  }

  loadState(state: ReadonlyMap<string, Tensor>): void {
    noGrad(() => {
      for (const [key, target] of this.state()) {
        const value = state.get(key);
        if (!value)
          throw new Error(`the optimizer's state has no "${key}": it belongs to another set of parameters`);
        target.copy_(value);
      }
    });
  }

  dispose(): void {
    for (const t of this.state().values()) t.dispose();
  }
}

function newSlot(parameter: Tensor, momentDtype: DType | undefined): Slot {
  const { shape, device } = parameter;
  const dtype = momentDtype ?? parameter.dtype;
  const moment = () => keep(zeros(shape, { dtype, device }));
  return {
    parameter,
    m: moment(),
    v: moment(),
    step: keep(tensor(0, { dtype: "float32", device, shape: [] })),
  };
}
