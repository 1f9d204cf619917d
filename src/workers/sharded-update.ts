/**
 * Gradients and the optimizer's state spread over actor ranks: each rank holds and updates one part of every weight.
 *
 * Rajbhandari et al. 2019 (ZeRO), https://arxiv.org/abs/1910.02054. Weights are joined into flat portions; of each, rank r owns the r-th
 * part as a float32 master with its moments. A step is: sum gradients so that each rank gets its part, update it, and gather the
 * parts again (stage 2, `shard_grad_op`). Where layers are sharded too (stage 3, layer-shards.ts) the sums are already there, and
 * layers gather the new parts when they next work. AdamW works element by element, so the result is that of one rank. A weight
 * that no loss reaches gets a gradient of zero here, where one rank lets it rest.
 */
import type { Ranks } from "#algorithms";
import {
  AdamW,
  type AdamWOptions,
  clipFactor,
  type GradientStep,
  masterKey,
  portions,
  type WeightGroup,
  type WeightUpdate,
} from "#optimization";
import { empty, keep, noGrad, type ProcessGroup, scope, type Tensor } from "#tensor";
import { type FlatLayout, flatten, layOutFlat, partOf, unflatten } from "./flat-layout.ts";
import type { LayerShards, Piece } from "./layer-shards.ts";

interface Portion {
  readonly key: string; // its name in the optimizer
  readonly group: number;
  readonly names: readonly string[];
  readonly weights: readonly Tensor[];
  readonly layout: FlatLayout;
  readonly master: Tensor; // float32, this rank's part
  /** Of a sharded layer: its weights are not here, its gradients are summed already. */
  readonly piece?: Piece | undefined;
}

export interface ShardedCompany {
  readonly group: ProcessGroup;
  readonly ranks: Ranks;
  /** Stage 3. */
  readonly layers?: LayerShards | undefined;
}

export class ShardedUpdate implements WeightUpdate {
  readonly #portions: readonly Portion[];
  readonly #adam: AdamW;
  readonly #group: ProcessGroup;
  readonly #ranks: Ranks;
  readonly #layers: LayerShards | undefined;

  constructor(groups: readonly WeightGroup[], options: AdamWOptions, company: ShardedCompany) {
    this.#group = company.group;
    this.#ranks = company.ranks;
    this.#layers = company.layers;
    this.#portions = [...this.#ofLayers(), ...groups.flatMap((group, i) => this.#ofRest(group, i))];
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

  get groups(): readonly { lr: number }[] {
    return this.#adam.groups;
  }

  #ofLayers(): Portion[] {
    return (this.#layers?.pieces ?? []).flatMap((piece, k): Portion[] => {
      const { group, names, weights, layout, own: master } = piece;
      return group === undefined
        ? []
        : [{ key: `layer ${group}.${k}`, group, names, weights, layout, master, piece }];
    });
  }

  /** Weights that no sharded layer holds. */
  #ofRest({ weights }: WeightGroup, group: number): Portion[] {
    const held = new Set(this.#layers?.pieces.flatMap(({ names }) => names));
    const rest = new Map([...weights].filter(([name]) => !held.has(name)));
    return portions(rest).map((names, k) => {
      const own = names.map((name) => rest.get(name) as Tensor);
      const layout = layOutFlat(own, this.#group.worldSize);
      const master = noGrad(() => scope(() => this.#own(layout, own, own[0]!).clone()));
      return { key: `portion ${group}.${k}`, group, names, weights: own, layout, master: keep(master) };
    });
  }

  /** This rank's part of some tensors, in float32. */
  #own(layout: FlatLayout, tensors: readonly Tensor[], { device }: Pick<Tensor, "device">): Tensor {
    const row = flatten(layout, tensors, { dtype: "float32", device });
    return partOf(layout, row, this.#group.rank);
  }

  async apply(
    gradients: ReadonlyMap<string, Tensor>,
    maxNorm: number,
    resting: ReadonlySet<number> = new Set(),
  ): Promise<GradientStep> {
    const live = this.#portions.filter(
      ({ group, names, piece }) =>
        !resting.has(group) && (piece ? piece.gradient : names.some((name) => gradients.has(name))),
    );
    const parts = new Map<Portion, Tensor>();
    for (const portion of live)
      parts.set(portion, portion.piece?.gradient ?? (await this.#sum(portion, gradients)));
    const squares = [...parts.values()].reduce(
      (sum, part) => sum + scope(() => Number(part.double().square().sum().item())),
      0,
    );
    const norm = Math.sqrt((await this.#ranks.sum([squares]))[0] ?? 0);
    const taken = Number.isFinite(norm);
    if (taken) {
      this.#step(parts, clipFactor(norm, maxNorm));
      for (const portion of live) if (!portion.piece) await this.#gather(portion);
    }
    this.#forget(parts.values());
    return { norm, taken };
  }

  #forget(parts: Iterable<Tensor>): void {
    for (const part of parts) part.dispose();
    for (const piece of this.#layers?.pieces ?? []) {
      if (!piece.gradient?.disposed) piece.gradient?.dispose(); // of groups that rest
      piece.gradient = undefined;
    }
  }

  /** This rank's part of the gradients' sum over all ranks. */
  async #sum({ names, layout, master }: Portion, gradients: ReadonlyMap<string, Tensor>): Promise<Tensor> {
    const { device } = master;
    const row = noGrad(() =>
      scope(() => {
        const found = names.map((name) => gradients.get(name));
        return flatten(layout, found, { dtype: "float32", device });
      }),
    );
    const part = keep(empty([layout.length], { device }));
    await this.#group.reduceScatter(part, row);
    row.dispose();
    return part;
  }

  #step(parts: ReadonlyMap<Portion, Tensor>, factor: number): void {
    noGrad(() =>
      scope(() => this.#adam.step(new Map([...parts].map(([{ key }, part]) => [key, part.mul(factor)])))),
    );
  }

  /** The updated parts of all ranks, back into the network. */
  async #gather({ weights, layout, master }: Portion): Promise<void> {
    const row = await this.#row(layout, master);
    noGrad(() =>
      scope(() => {
        for (const [i, value] of unflatten(layout, row).entries()) weights[i]!.copy_(value);
      }),
    );
    row.dispose();
  }

  /** A sharded quantity, whole. */
  async #row({ total }: FlatLayout, part: Tensor): Promise<Tensor> {
    const row = keep(empty([total], { device: part.device }));
    await this.#group.allGather(row, part);
    return row;
  }

  /** Whole on the host of the first rank; the others only give their parts, and are shown nothing. */
  async lendState(use: (state: ReadonlyMap<string, Tensor>) => void): Promise<void> {
    const moments = this.#adam.state();
    const state = new Map<string, Tensor>();
    for (const portion of this.#portions) {
      const { key, group, names, weights, master } = portion;
      const of = (suffix: string): Tensor => moments.get(`${group}.${key}.${suffix}`) as Tensor;
      const [m, v] = [await this.#byName(portion, of("m")), await this.#byName(portion, of("v"))];
      const masters = await this.#byName(portion, master);
      if (this.#group.rank !== 0) continue;
      for (const [i, name] of names.entries()) {
        const at = `${group}.${name}`;
        state.set(`${at}.m`, m[i]!).set(`${at}.v`, v[i]!).set(`${at}.step`, of("step"));
        if (weights[i]!.dtype !== "float32") state.set(masterKey(name), masters[i]!);
      }
    }
    use(state);
    const owned = new Set(moments.values());
    for (const tensor of state.values()) if (!owned.has(tensor)) tensor.dispose();
  }

  /** In the shapes of the weights, on the first rank. */
  async #byName({ layout }: Portion, part: Tensor): Promise<Tensor[]> {
    const row = await this.#row(layout, part);
    const mine = this.#group.rank === 0;
    const whole = noGrad(() =>
      scope(() => (mine ? unflatten(layout, row).map((view) => view.to({ device: "cpu", copy: true })) : [])),
    );
    row.dispose();
    return whole.map((tensor) => keep(tensor));
  }

  loadState(state: ReadonlyMap<string, Tensor>): void {
    const own = new Map<string, Tensor>();
    noGrad(() =>
      scope(() => {
        for (const { key, group, names, weights, layout, master } of this.#portions) {
          const part = (suffix: string): Tensor =>
            this.#own(
              layout,
              names.map((name) => needed(state, `${group}.${name}.${suffix}`)),
              master,
            );
          own.set(`${group}.${key}.m`, part("m")).set(`${group}.${key}.v`, part("v"));
          own.set(`${group}.${key}.step`, needed(state, `${group}.${names[0]}.step`));
          const values = names.map((name, i) => state.get(masterKey(name)) ?? weights[i]!);
          master.copy_(this.#own(layout, values, master));
        }
        this.#adam.loadState(own);
      }),
    );
  }

  tensors(): Tensor[] {
    const frozen = (this.#layers?.pieces ?? []).filter(({ group }) => group === undefined);
    return [
      ...this.#adam.state().values(),
      ...this.#portions.map(({ master }) => master),
      ...frozen.map(({ own }) => own),
    ];
  }

  rereadWeights(): void {
    this.#layers?.rereadWeights();
    noGrad(() =>
      scope(() => {
        for (const { weights, layout, master, piece } of this.#portions)
          if (!piece) master.copy_(this.#own(layout, weights, master));
      }),
    );
  }

  dispose(): void {
    this.#adam.dispose();
    for (const { master, piece } of this.#portions) if (!piece) master.dispose();
    this.#layers?.dispose();
  }
}

function needed(state: ReadonlyMap<string, Tensor>, key: string): Tensor {
  const value = state.get(key);
  if (value) return value;
  throw new Error(`internal: the optimizer's state has no "${key}"`);
}
