/**
 * One rank of training: holds the weights and the optimizer, and learns from samples with advantages.
 *
 * Every rank sees all samples and takes its share of each minibatch from one order that all ranks deal alike. So a minibatch has the same
 * samples whatever the number of ranks, and with gradients summed over ranks the result is the same too.
 */

import {
  type Algorithm,
  alone,
  dealMinibatches,
  lossMetrics,
  lossSumCount,
  type PartOfMinibatch,
  type Ranks,
} from "#algorithms";
import { type RunConfig, samplingMode } from "#config";
import {
  disposeMinibatch,
  type Minibatch,
  mapMinibatch,
  minibatchSize,
  selectSamples,
  sliceSamples,
} from "#data";
import { learningRateFactor, type RateFactor } from "#optimization";
import type { LearnOptions, Policy } from "#policies";
import type { RandomStream } from "#random";
import { UserError } from "#registry";
import { keep, noGrad, scope, type Tensor, zeros } from "#tensor";
import { ActorMemory, type Leaves } from "./actor-memory.ts";
import { type Company, PolicyOptimizer } from "./optimizer.ts";
import { inOrder, liveRows } from "./sample-rows.ts";

export interface ActorParts {
  readonly policy: Policy;
  readonly algorithm: Algorithm;
  /** What the policy must not drift from, where `kl_beta` is above 0. */
  readonly reference?: Policy | undefined;
  readonly config: RunConfig;
  readonly rank: number;
  readonly worldSize: number;
  /** The other ranks; absent with one. */
  readonly company?: Company | undefined;
  readonly runSteps: number; // training steps of the whole run
  readonly decisions: number; // T per column
  readonly leaves?: Leaves;
  /** The order of samples, by training step and update epoch. */
  readonly shuffle: RandomStream;
}

export interface Learned {
  readonly metrics: Record<string, number>;
  readonly skipped: number; // optimizer steps without a finite gradient
}

interface Totals {
  readonly sums: Tensor; // float64 [lossSumCount]
  norm: number;
  taken: number;
  skipped: number;
}

export class ActorWorker {
  readonly policy: Policy;
  readonly optimizer: PolicyOptimizer;
  readonly memory: ActorMemory;
  readonly #parts: ActorParts;
  readonly #rate: RateFactor;
  readonly #learnOptions: LearnOptions;

  constructor(parts: ActorParts) {
    const { config, policy, algorithm } = parts;
    this.policy = policy;
    this.#parts = parts;
    this.optimizer = new PolicyOptimizer(policy, config.actor, parts.company);
    this.memory = new ActorMemory({
      policy,
      reference: parts.reference,
      optimizer: this.optimizer,
      leaves: parts.leaves,
    });
    this.#rate = learningRateFactor(config.actor.optim, parts.runSteps);
    const { temperature, topK } = samplingMode(config, "train");
    this.#learnOptions = {
      temperature,
      topK,
      entropy: algorithm.settings.entropy_bonus > 0 ? "learned" : "measured",
      checkpointing: config.actor.fsdp_config.gradient_checkpointing,
      keeper: this.optimizer.layers,
    };
  }

  get #ranks(): Ranks {
    return this.#parts.company?.ranks ?? alone;
  }

  /** By parameter name, the same for any number of ranks; lent for the call only. All ranks must ask together. */
  lendState(use: (state: ReadonlyMap<string, Tensor>) => void): Promise<void> {
    return this.memory.awake(() => this.optimizer.lendState(use));
  }

  /** All updates of one training step. */
  async learn(samples: Minibatch, step: number, onMinibatch?: () => void): Promise<Learned> {
    try {
      return await this.memory.awake(() => this.#learn(samples, step, onMinibatch));
    } catch (error) {
      // Ranks that wait for this one fail now, and not after minutes. NCCL's wait in their streams, and end with the run.
      if (this.policy.device === "cpu") this.#parts.company?.group.close();
      throw error;
    }
  }

  async #learn(samples: Minibatch, step: number, onMinibatch?: () => void): Promise<Learned> {
    const { config, algorithm } = this.#parts;
    this.optimizer.layers?.scatter();
    this.optimizer.setRates(this.#rate(step));
    const device = this.policy.device;
    const totals: Totals = {
      sums: keep(zeros([lossSumCount], { dtype: "float64", device })),
      norm: 0,
      taken: 0,
      skipped: 0,
    };
    for (let epoch = 0; epoch < algorithm.settings.update_epoch; epoch++) {
      const order = this.#deal(minibatchSize(samples), config.actor.global_batch_size, step, epoch);
      for (const rows of order) {
        await this.#learnMinibatch(samples, rows, totals);
        rows.dispose();
        onMinibatch?.();
      }
    }
    const sums = await this.#ranks.sum(totals.sums.toArray().map(Number));
    totals.sums.dispose();
    this.#complain(totals, step);
    const { rates } = this.optimizer;
    const count = totals.taken + totals.skipped;
    return {
      metrics: {
        ...lossMetrics(sums, count),
        "train/actor/grad_norm": totals.norm / Math.max(totals.taken, 1),
        "train/actor/lr": rates.actor,
        ...(rates.critic !== undefined && { "train/critic/lr": rates.critic }),
      },
      skipped: totals.skipped,
    };
  }

  /** This rank's rows of every minibatch. Without shuffling, the order of the rollout. */
  #deal(samples: number, size: number, step: number, epoch: number): Tensor[] {
    const { rank, worldSize, shuffle, algorithm } = this.#parts;
    const share = size / worldSize;
    return scope(() => {
      const all = algorithm.settings.shuffle_rollout
        ? dealMinibatches(samples, size, shuffle.seed(step, epoch))
        : inOrder(samples, size);
      return all.map((rows) => rows.narrow(0, rank * share, share).clone());
    }).map((rows) => keep(rows));
  }

  async #learnMinibatch(samples: Minibatch, rows: Tensor, totals: Totals): Promise<void> {
    const { config, algorithm, decisions } = this.#parts;
    const horizon = { maxEpisodeSteps: config.env.train.max_episode_steps, decisions };
    const whole = scope(() => selectSamples({ ...samples, forwardInputs: {} }, rows));
    const part: PartOfMinibatch = {
      horizon,
      totals: await algorithm.countTotals(whole, horizon, this.#ranks),
      criticWarmup: this.optimizer.warmsUp,
    };
    const own = scope(() => this.#select(samples, liveRows(whole, rows)));
    disposeMinibatch(whole);
    const { micro_batch_size: micro } = config.actor;
    const size = minibatchSize(own);
    const rounds = await this.#rounds(Math.ceil(size / micro));
    for (let round = 0; round < rounds; round++) {
      const length = Math.min(micro, size - round * micro);
      scope(() => {
        const some = length > 0 ? sliceSamples(own, round * micro, length) : sliceSamples(own, 0, 1);
        this.#learnPart(this.#withReference(some), part, length > 0 ? totals : undefined);
      });
      await new Promise(setImmediate); // messages, timers and signals live on
    }
    disposeMinibatch(own);
    const { norm, taken } = await this.optimizer.step();
    if (taken) totals.norm += norm;
    totals[taken ? "taken" : "skipped"]++;
  }

  /** How many micro-batches: ranks that gather each other's weights must all go through as many. */
  async #rounds(own: number): Promise<number> {
    return this.optimizer.layers ? ((await this.#ranks.max([own]))[0] ?? own) : own;
  }

  /** One micro-batch; or, without totals to add to, a pass that teaches nothing. */
  #learnPart(samples: Minibatch, part: PartOfMinibatch, totals?: Totals): void {
    this.policy.learn(samples, this.#learnOptions, (now) => {
      const { loss, sums } = this.#parts.algorithm.loss(now, samples, part);
      if (!totals) return loss.mul(0);
      noGrad(() => totals.sums.add_(sums));
      return loss;
    });
  }

  /** The chosen samples; what the loss reads goes to the policy's device, forward inputs follow when they are used. */
  #select(samples: Minibatch, rows: Tensor): Minibatch {
    const { device } = this.policy;
    const chosen = selectSamples(samples, rows);
    if (device === "cpu") return chosen;
    const { forwardInputs } = chosen;
    return {
      ...mapMinibatch({ ...chosen, forwardInputs: {} }, (tensor) => tensor.to({ device })),
      forwardInputs,
    };
  }

  #withReference(part: Minibatch): Minibatch {
    const { reference } = this.#parts;
    if (!reference) return part;
    const { temperature, topK } = this.#learnOptions;
    const options = {
      ...(temperature !== undefined && { temperature }),
      ...(topK !== undefined && { topK }),
    };
    const referenceLogProbs = noGrad(() => reference.evaluate(part, options).logProbs);
    return { ...part, referenceLogProbs };
  }

  #complain({ taken, skipped }: Totals, step: number): void {
    const strict = this.#parts.config.actor.debug_nan_checks;
    if (skipped === 0 || (taken > 0 && !strict)) return;
    throw new UserError(
      `training step ${step}: ${skipped} of ${taken + skipped} updates had a gradient that is not a number, and were not taken. ` +
        "lower actor.optim.lr or actor.optim.clip_grad, or use actor.model.precision fp32",
    );
  }
}
