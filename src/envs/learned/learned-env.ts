/**
 * An environment whose physics is a video world model.
 *
 * One class serves OpenSora, Wan and EVAC: they differ in their `World`, never here. Unlike a simulator it
 * cannot make its own first frame, so a reset draws one from recorded starts, and unlike a simulator it does
 * not know success, so a reward model looks at every frame.
 *
 * Where we depart from the reference: slots end, restart and count time one by one; episodes that are over
 * leave the batch instead of being imagined to the end; noise and starts come from seeded streams.
 *
 * Shapes: N slots, B of them in one imagination, C actions in a chunk, A action size, H W pixels.
 */
import type { EnvStep, Observation } from "#data";
import { UserError } from "#registry";
import type { RewardModel } from "#rewards";
import { type Device, keep, noGrad, scope, type Tensor, tensor } from "#tensor";
import { FixedSeedNoise, type NoiseSource, SlotNoise, toBytes, type World } from "#worlds";
import type { ResetRequest, VectorEnv } from "../env.ts";
import { observationOf, outcomeOf } from "./answer.ts";
import { requireActions, requireFinite } from "./checks.ts";
import type { LearnedEnvParts } from "./parts.ts";
import { RandomRewardModel } from "./random-reward-model.ts";
import { releaseImagination } from "./release.ts";
import { ResetIds } from "./reset-ids.ts";
import type { LearnedEnvSettings } from "./settings.ts";
import { disposeSlot, keepMemory, newSlot, playOn, rememberIn, type Slot } from "./slots.ts";
import { restoreStreams, savedStreams } from "./streams.ts";
import { successCriterion } from "./success.ts";

export class LearnedEnv implements VectorEnv {
  readonly size: number;
  readonly chunk: number;
  readonly actionSize: number;
  readonly settings: LearnedEnvSettings;
  #parts: LearnedEnvParts;
  readonly #noise: NoiseSource;
  readonly #resetIds: ResetIds;
  readonly #slots: Slot[] = [];
  /** In a control run it decides in the reward model's place. */
  readonly #random: RandomRewardModel | undefined;
  /** Frames imagined so far: what compaction saves is seen here. */
  framesImagined = 0;

  constructor(size: number, settings: LearnedEnvSettings, parts: LearnedEnvParts) {
    const { group_size: groupSize, seed } = settings;
    const always = settings.specific_reset_id ?? undefined;
    this.#resetIds = new ResetIds({ size, groupSize, starts: parts.starts.length, seed, always });
    if (parts.starts.length < size / groupSize) {
      throw new UserError(
        `the dataset has ${parts.starts.length} starts for ${size / groupSize} groups of envs: ` +
          "add starts, or lower total_num_envs",
      );
    }
    this.size = size;
    this.settings = settings;
    this.chunk = parts.world.chunk;
    this.actionSize = parts.world.actionSize;
    this.#parts = parts;
    this.#noise =
      parts.noise ?? (settings.noise === "fixed" ? new FixedSeedNoise(size, 0) : new SlotNoise(size, seed));
    this.#random = settings.random_judge
      ? new RandomRewardModel(size, { chunk: this.chunk, criterion: successCriterion(settings), seed })
      : undefined;
  }

  /** What imagines and what judges now. */
  get imagination(): Pick<LearnedEnvParts, "world" | "rewardModel"> {
    return { world: this.#parts.world, rewardModel: this.#parts.rewardModel };
  }

  /** Draws the starts of the next scheduled reset; the loop calls it once per rollout epoch. */
  updateResetIds(): void {
    this.#parts.film?.rolloutEnded();
    this.#resetIds.advance();
  }

  get resetIds(): readonly number[] {
    return this.#resetIds.current;
  }

  /** All slots, or the named ones, from scheduled starts, or from the named ones. */
  async reset(options: ResetRequest = {}): Promise<Observation> {
    const slots = options.slots ?? Array.from({ length: this.size }, (_, slot) => slot);
    const scheduled = this.settings.use_fixed_reset_state_ids && !options.slots;
    const ids = options.ids ?? (scheduled ? this.#resetIds.current : this.#resetIds.drawSingle(slots.length));
    if (ids.length !== slots.length) throw new UserError(`${ids.length} reset ids for ${slots.length} slots`);
    this.#begin(slots, ids);
    await this.#parts.film?.settled();
    return this.#observe();
  }

  /** Plays one chunk of actions, float [N, C, A]. */
  async step(actions: Tensor): Promise<EnvStep> {
    if (this.#slots.length === 0) throw new Error("internal: step before the first reset");
    requireActions(actions, [this.size, this.chunk, this.actionSize]);
    const playing = this.#playing();
    this.#random?.stepBegan();
    const rewards = new Float32Array(this.size * this.chunk);
    const limit = this.settings.micro_batch_size ?? this.size;
    for (let from = 0; from < playing.length; from += limit) {
      this.#imagine(playing.slice(from, from + limit), actions, rewards);
    }
    await this.#parts.film?.chunkEnded();
    return this.#answer(rewards, playing);
  }

  /** Frees the device for others; `onload` brings the weights back. Episodes stay where they are. */
  offload(): void {
    this.#move("cpu");
  }

  onload(device: Device): void {
    this.#move(device);
  }

  /**
   * Another world and reward model for the chunks to come, such as after a refresh. Streams and starts stay; so do the memories of episodes under
   * way, which the new world must be able to read: it has the same autoencoder.
   */
  replaceWorld(world: World, rewardModel: RewardModel): void {
    const shape = ({ name, chunk, actionSize, imageSize }: World): string =>
      `${name}, ${chunk} frames of ${imageSize.join(" × ")}, ${actionSize} numbers in an action`;
    const old = this.#parts;
    if (shape(world) !== shape(old.world))
      throw new UserError(
        `a world (${shape(old.world)}) can only be replaced by its like, not by ${shape(world)}`,
      );
    this.#parts = { ...old, world, rewardModel };
    releaseImagination(old);
  }

  /** The positions of all random streams, to be saved between episodes: a resumed run draws the same ones. */
  saveStreams(): Map<string, Tensor> {
    return new Map([
      ...savedStreams(this.#resetIds, this.#noise),
      ...(this.#random?.getState() ?? new Map<string, Tensor>()),
    ]);
  }

  restoreStreams(states: ReadonlyMap<string, Tensor>): void {
    restoreStreams(states, this.#resetIds, this.#noise, this.size);
    this.#random?.setState(states);
  }

  async close(): Promise<void> {
    await this.#parts.film?.closed();
    for (const slot of this.#slots.splice(0)) disposeSlot(slot);
    this.#parts.starts.dispose();
  }

  #move(device: Device): void {
    this.#parts.world.to({ device });
    this.#parts.rewardModel.to({ device });
  }

  #begin(slots: readonly number[], ids: readonly number[]): void {
    const { world, starts, rewardModel, film } = this.#parts;
    const chosen = ids.map((id) => starts.load(id));
    for (const { instruction } of chosen) rewardModel.checkInstruction(instruction);
    noGrad(() =>
      scope(() => {
        const memories = world.begin(chosen, slots, this.#noise);
        for (const [i, slot] of slots.entries()) {
          const { frame, instruction } = chosen[i]!;
          const old = this.#slots[slot];
          if (old) disposeSlot(old);
          this.#slots[slot] = newSlot({
            memory: keepMemory(memories[i]!),
            picture: keep(toBytes(frame).permute([1, 2, 0]).contiguous()),
            state: keepIfAny(world.robotState?.(memories[i]!)),
            instruction,
            startId: ids[i]!,
          });
          this.#random?.began(slot);
          film?.began(slot, this.#slots[slot]);
        }
      }),
    );
  }

  #playing(): number[] {
    const all = Array.from({ length: this.size }, (_, slot) => slot);
    if (this.settings.imagine_finished) return all;
    return all.filter((slot) => this.#slots[slot]!.over === "no");
  }

  /** Imagines one micro-batch and writes its consequences into the slots. */
  #imagine(slots: readonly number[], actions: Tensor, rewards: Float32Array): void {
    const { world, watcher, film } = this.#parts;
    noGrad(() =>
      scope(() => {
        const rows = actions
          .indexSelect(0, tensor([...slots], { dtype: "int64", device: actions.device }))
          .float();
        const memories = slots.map((slot) => this.#slots[slot]!.memory);
        const imagined = world.imagine({
          memories,
          actions: rows,
          slots,
          noise: this.#noise,
          watch: watcher?.step,
        });
        requireFinite(imagined.frames, slots, world.name);
        const opinions = this.#judge(imagined.frames, slots);
        watcher?.chunk?.({ slots, frames: imagined.frames, latents: imagined.latents, opinions });
        this.framesImagined += slots.length * this.chunk;
        const last = imagined.frames.select(1, this.chunk - 1);
        const pictures = toBytes(last).permute([0, 2, 3, 1]).cpu().contiguous().unbind(0);
        const said = opinions.cpu().toArray().map(Number);
        const real = slots.map((_, b) => said.slice(b * this.chunk, (b + 1) * this.chunk));
        const counted = this.#random?.opinions(slots, real) ?? real;
        for (const [b, slot] of slots.entries()) {
          const record = this.#slots[slot]!;
          rememberIn(
            record,
            imagined.memories[b]!,
            pictures[b]!.clone(),
            world.robotState?.(imagined.memories[b]!),
          );
          const played = playOn(record, counted[b]!, this.settings);
          rewards.set(played.rewards, slot * this.chunk);
          film?.played(slot, imagined.frames.select(0, b), played, record);
        }
      }),
    );
  }

  /** Probability of success of every frame, [B, C]. */
  #judge(frames_BC3HW: Tensor, slots: readonly number[]): Tensor {
    const sentences = slots.flatMap((slot) => Array<string>(this.chunk).fill(this.#slots[slot]!.instruction));
    return this.#parts.rewardModel
      .judge(frames_BC3HW.flatten(0, 1), sentences)
      .unflatten(0, [slots.length, this.chunk]);
  }

  #answer(rewards: Float32Array, played: readonly number[]): EnvStep {
    const before = outcomeOf(this.#slots, rewards, this.settings.ignore_terminations);
    const done = played.filter((slot) => this.#slots[slot]!.over !== "no");
    if (!this.settings.auto_reset || done.length === 0) return { observation: this.#observe(), ...before };
    const finalObservation = this.#observe();
    this.#begin(done, this.#resetIds.drawSingle(done.length));
    return { observation: this.#observe(), ...before, finalObservation };
  }

  #observe(): Observation {
    return observationOf(this.#slots);
  }
}

const keepIfAny = (state: Tensor | undefined): Tensor | undefined => state && keep(state);
