/**
 * Gradients and the optimiser's state spread over actor ranks: each rank reduces, holds and updates one part of every weight.
 *
 * Rajbhandari et al. 2019 (ZeRO, stages 1 and 2), https://arxiv.org/abs/1910.02054. Weights are joined into flat portions; of each, rank r owns
 * the r-th part as a float32 master with its moments. A step is: sum gradients so that each rank gets its part, update it, and gather
 * the parts again. AdamW works element by element, so the result is that of one rank. The network's own weights stay whole on
 * every rank (stage 3 would shard them too). A weight that no loss reaches gets a gradient of zero here, where one rank lets it rest.
 */
import type { Ranks } from "#algorithms";
import {
  AdamW,
  type AdamWOptions,
  cat,
  empty,
  keep,
  noGrad,
  type ProcessGroup,
  scope,
  type Tensor,
  zeros,
} from "#tensor";
import {
  type GradientStep,
  masterKey,
  portions,
  type WeightGroup,
  type WeightUpdate,
} from "./weight-update.ts";

interface Portion {
  readonly key: string; // its name in the optimiser
  readonly group: number;
  readonly names: readonly string[];
  readonly weights: readonly Tensor[];
  readonly length: number; // of a rank's part
  readonly master: Tensor; // float32 [length]
}

export class ShardedUpdate implements WeightUpdate {
  readonly groups: readonly WeightGroup[];
  readonly #portions: readonly Portion[];
  readonly #adam: AdamW;
  readonly #group: ProcessGroup;
  readonly #ranks: Ranks;

  constructor(groups: readonly WeightGroup[], options: AdamWOptions, group: ProcessGroup, ranks: Ranks) {
    this.groups = groups;
    this.#group = group;
    this.#ranks = ranks;
    this.#portions = groups.flatMap(({ weights }, i) =>
      portions(weights).map((names, k) => this.#portion(`portion ${i}.${k}`, i, names, weights)),
    );
    this.#adam = new AdamW(
      groups.map(({ lr }, i) => ({
        parameters: new Map(
          this.#portions.filter((each) => each.group === i).map(({ key, master }) => [key, master]),
        ),
        lr,
      })),
      options,
    );
  }

  #portion(key: string, group: number, names: readonly string[], all: ReadonlyMap<string, Tensor>): Portion {
    const weights = names.map((name) => all.get(name) as Tensor);
    const total = weights.reduce((sum, { numel }) => sum + numel, 0);
    const length = Math.ceil(total / this.#group.worldSize);
    const master = noGrad(() => scope(() => this.#own(this.#flat(weights, length), length).clone()));
    return { key, group, names, weights, length, master: keep(master) };
  }

  /** All numbers one after the other in float32, padded so that ranks have equal parts. */
  #flat(parts: readonly Tensor[], length: number): Tensor {
    const { worldSize } = this.#group;
    const total = parts.reduce((sum, { numel }) => sum + numel, 0);
    const flat = parts.map((part) => part.detach().reshape([-1]).float());
    const rest = length * worldSize - total;
    return cat(rest > 0 ? [...flat, zeros([rest], { device: parts[0]!.device })] : flat);
  }

  #own(flat: Tensor, length: number): Tensor {
    return flat.narrow(0, this.#group.rank * length, length);
  }

  async apply(gradients: ReadonlyMap<string, Tensor>, maxNorm: number): Promise<GradientStep> {
    const live = this.#portions.filter(({ names }) => names.some((name) => gradients.has(name)));
    const parts = new Map<Portion, Tensor>();
    for (const portion of live) parts.set(portion, await this.#sum(portion, gradients));
    const squares = [...parts.values()].reduce(
      (sum, part) => sum + scope(() => Number(part.double().square().sum().item())),
      0,
    );
    const norm = Math.sqrt((await this.#ranks.sum([squares]))[0] ?? 0);
    const taken = Number.isFinite(norm);
    if (taken) {
      for (const [i, group] of this.groups.entries()) this.#adam.groups[i]!.lr = group.lr;
      const factor = Math.min(1, maxNorm / (norm + 1e-6));
      this.#step(parts, factor);
      for (const portion of live) await this.#gather(portion);
    }
    for (const part of parts.values()) part.dispose();
    return { norm, taken };
  }

  /** This rank's part of the gradients' sum over all ranks. */
  async #sum(
    { names, weights, length, master }: Portion,
    gradients: ReadonlyMap<string, Tensor>,
  ): Promise<Tensor> {
    const flat = noGrad(() =>
      scope(() => {
        const found = names.map(
          (name, i) => gradients.get(name) ?? zeros(weights[i]!.shape, { device: master.device }),
        );
        return this.#flat(found, length);
      }),
    );
    const part = keep(empty([length], { device: master.device }));
    await this.#group.reduceScatter(part, flat);
    flat.dispose();
    return part;
  }

  #step(parts: ReadonlyMap<Portion, Tensor>, factor: number): void {
    noGrad(() =>
      scope(() => this.#adam.step(new Map([...parts].map(([{ key }, part]) => [key, part.mul(factor)])))),
    );
  }

  /** The updated parts of all ranks, back into the network. */
  async #gather({ weights, length, master }: Portion): Promise<void> {
    const whole = keep(empty([length * this.#group.worldSize], { device: master.device }));
    await this.#group.allGather(whole, master);
    noGrad(() => scope(() => fill(weights, whole)));
    whole.dispose();
  }

  async lendState(use: (state: ReadonlyMap<string, Tensor>) => void): Promise<void> {
    const moments = this.#adam.state();
    const state = new Map<string, Tensor>();
    const gathered: Tensor[] = [];
    const byName = async (portion: Portion, part: Tensor): Promise<Tensor[]> => {
      const whole = await this.#byName(portion, part);
      gathered.push(...whole);
      return whole;
    };
    for (const portion of this.#portions) {
      const of = (suffix: string): Tensor =>
        moments.get(`${portion.group}.${portion.key}.${suffix}`) as Tensor;
      const [m, v] = [await byName(portion, of("m")), await byName(portion, of("v"))];
      const masters = await byName(portion, portion.master);
      for (const [i, name] of portion.names.entries()) {
        const key = `${portion.group}.${name}`;
        state.set(`${key}.m`, m[i]!).set(`${key}.v`, v[i]!).set(`${key}.step`, of("step"));
        if (portion.weights[i]!.dtype !== "float32") state.set(masterKey(name), masters[i]!);
      }
    }
    use(state);
    for (const tensor of gathered) tensor.dispose();
  }

  /** A sharded quantity, whole, in the shapes of the weights. */
  async #byName({ weights, length }: Portion, part: Tensor): Promise<Tensor[]> {
    const whole = keep(empty([length * this.#group.worldSize], { device: part.device }));
    await this.#group.allGather(whole, part);
    return noGrad(() => scope(() => split(weights, whole).map((each) => each.clone()))).map((each) =>
      keep(each),
    );
  }

  loadState(state: ReadonlyMap<string, Tensor>): void {
    const own = new Map<string, Tensor>();
    noGrad(() =>
      scope(() => {
        for (const { key, group, names, weights, length, master } of this.#portions) {
          const part = (suffix: string): Tensor => {
            const found = names.map((name) =>
              needed(state, `${group}.${name}.${suffix}`).to({ device: master.device }),
            );
            return this.#own(this.#flat(found, length), length);
          };
          own.set(`${group}.${key}.m`, part("m")).set(`${group}.${key}.v`, part("v"));
          own.set(`${group}.${key}.step`, needed(state, `${group}.${names[0]}.step`));
          const values = names.map((name, i) =>
            (state.get(masterKey(name)) ?? weights[i]!).to({ device: master.device }),
          );
          master.copy_(this.#own(this.#flat(values, length), length));
        }
        this.#adam.loadState(own);
      }),
    );
  }

  tensors(): Tensor[] {
    return [...this.#adam.state().values(), ...this.#portions.map(({ master }) => master)];
  }

  rereadWeights(): void {
    noGrad(() =>
      scope(() => {
        for (const { weights, length, master } of this.#portions)
          master.copy_(this.#own(this.#flat(weights, length), length));
      }),
    );
  }

  dispose(): void {
    this.#adam.dispose();
    for (const { master } of this.#portions) master.dispose();
  }
}

function split(weights: readonly Tensor[], whole: Tensor): Tensor[] {
  let at = 0;
  return weights.map((weight) => {
    const part = whole.narrow(0, at, weight.numel).view(weight.shape);
    at += weight.numel;
    return part;
  });
}

function fill(weights: readonly Tensor[], whole: Tensor): void {
  for (const [i, part] of split(weights, whole).entries()) weights[i]!.copy_(part);
}

function needed(state: ReadonlyMap<string, Tensor>, key: string): Tensor {
  const value = state.get(key);
  if (value) return value;
  throw new Error(`internal: the optimiser's state has no "${key}"`);
}
