/**
 * Where an actor's tensors are from phase to phase: on its accelerator while it works, on the host while others do (`enable_offload`); its
 * weights in parts while it learns, whole on the first rank while they are acted with or saved (`full_shard`).
 */
import type { Policy } from "#policies";
import type { PolicyOptimizer } from "./optimizer.ts";
import { Shelter } from "./shelter.ts";

/** What leaves the accelerator while others work there. Weights that a rollout worker acts with must stay. */
export type Leaves = "optimizer" | "everything" | undefined;

export interface MemoryOf {
  readonly policy: Policy;
  readonly reference?: Policy | undefined;
  readonly optimizer: PolicyOptimizer;
  readonly leaves: Leaves;
}

export interface Bytes {
  readonly now: number;
  /** The most since learning began. */
  readonly peak: number;
}

export class ActorMemory {
  readonly #parts: MemoryOf;
  readonly #shelter: Shelter | undefined;

  constructor(parts: MemoryOf) {
    this.#parts = parts;
    const { leaves, policy } = parts;
    this.#shelter =
      leaves &&
      new Shelter(
        () => this.#leaving(),
        policy.device,
        () => policy.weightsMoved?.(),
      );
  }

  #leaving() {
    const { policy, reference, optimizer, leaves } = this.#parts;
    return [
      ...optimizer.tensors(),
      ...(reference?.module.parameters() ?? []),
      ...(leaves === "everything" && !optimizer.layers ? policy.module.parameters() : []),
    ];
  }

  /** Makes room for others until the next call. Sharded weights need no room of their own: all ranks can make them whole again. */
  rest(): void {
    const { optimizer, leaves } = this.#parts;
    if (leaves === "everything" && this.isWhole) optimizer.layers?.scatter();
    if (this.#shelter && !this.#shelter.isAway) this.#shelter.rest();
  }

  /** Everything is on its device during `work`, and may leave afterwards. */
  async awake<T>(work: () => Promise<T>): Promise<T> {
    if (this.#shelter?.isAway) this.#shelter.wake();
    try {
      return await work();
    } finally {
      this.rest();
    }
  }

  /** Whether all weights are here. */
  get isWhole(): boolean {
    return this.#parts.optimizer.layers?.isWhole ?? true;
  }

  /** Gathers sharded weights, to `stay` here or only for other ranks. All ranks must ask together. */
  async makeWhole(stay: boolean): Promise<void> {
    const { policy, optimizer } = this.#parts;
    const { layers } = optimizer;
    if (!layers) return;
    if (this.#shelter?.isAway) this.#shelter.wake();
    layers.makeWhole(stay);
    policy.weightsMoved?.();
  }

  /** Of all that has left the accelerator. */
  get bytesAway(): number {
    return this.#shelter?.bytesAway ?? 0;
  }

  /** Of the network's weights on this rank. */
  get weightBytes(): Bytes {
    const { policy, optimizer } = this.#parts;
    const { layers } = optimizer;
    const sharded = new Set(layers?.pieces.flatMap(({ weights }) => weights));
    const rest = policy.module.parameters().filter((weight) => !sharded.has(weight));
    const bytes = rest.reduce((sum, { byteLength }) => sum + byteLength, 0);
    const { now, peak } = layers?.bytes ?? { now: 0, peak: 0 };
    return { now: now + bytes, peak: peak + bytes };
  }
}
