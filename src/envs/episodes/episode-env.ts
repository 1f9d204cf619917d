/**
 * Plays single episodes side by side, by the rules of all environments: groups share their start, rewards follow from success, flags
 * stand where the shared conventions put them.
 */
import { z } from "zod";
import type { EnvStep, Observation } from "#data";
import { sceneSeed } from "#random";
import { UserError } from "#registry";
import { type EpisodeAccount, enterStep, episodeStats, newAccount } from "#simulators";
import { keep, type Tensor, tensor } from "#tensor";
import type { ResetRequest, VectorEnv } from "../env.ts";
import type { EnvCursor, EnvPlace, EnvSection, OpenedEnv, StartPool } from "../env-family.ts";
import { ChunkBoard } from "../vector/chunk-board.ts";
import { readActions } from "../vector/read-actions.ts";
import { exhausted, locateStart, ResetIds } from "../vector/reset-ids.ts";
import type { Episode, EpisodeEnvDefinition, EpisodeStart } from "./episode.ts";

/** The keys that all environments share and that this one reads. */
const rulesSchema = z.looseObject({
  seed: z.int().default(0),
  group_size: z.int().positive().default(1),
  max_episode_steps: z.int().positive(),
  auto_reset: z.boolean().default(false),
  ignore_terminations: z.boolean().default(false),
  use_rel_reward: z.boolean().default(true),
  use_step_penalty: z.boolean().default(false),
  reward_coef: z.number().default(1),
  use_fixed_reset_state_ids: z.boolean().default(true),
  use_ordered_reset_state_ids: z.boolean().default(false),
  is_eval: z.boolean().default(false),
});
type Rules = z.infer<typeof rulesSchema>;

/** Policies that read no state get this many zeros. */
const blankState = 8;

interface Slot {
  readonly start: EpisodeStart | undefined; // undefined: resting, because all starts are dealt
  readonly episode: Episode | undefined;
  readonly actions: number[][];
  readonly account: EpisodeAccount;
  over: boolean;
}

const savedSchema = z.object({
  resetIds: z.string(),
  slots: z
    .array(
      z.object({
        start: z.object({ task: z.int(), trial: z.int(), seed: z.int() }).optional(),
        actions: z.array(z.array(z.number())),
      }),
    )
    .optional(),
});

export function openEpisodes<S extends z.ZodType>(
  definition: EpisodeEnvDefinition<S>,
  section: EnvSection<S>,
  place: EnvPlace,
): OpenedEnv {
  const rules = rulesSchema.parse(section);
  const { save_video: films, save_replays: replays } = (section.video_cfg ?? {}) as Record<string, unknown>;
  if (films === true || replays === true)
    place.say?.(`env_type ${section.env_type} makes no films and no replays: video_cfg has no effect`);
  const env = new EpisodeEnv(
    definition,
    { ...rules, seed: rules.seed + place.seedOffset },
    (start) => definition.begin(start, section),
    place,
  );
  return {
    env,
    pool: env.pool,
    save: (running) => env.save(running),
    load: async (cursor) => env.load(cursor),
  };
}

class EpisodeEnv<S extends z.ZodType> implements VectorEnv {
  readonly size: number;
  readonly actionSize: number;
  readonly pool: StartPool;
  readonly #definition: EpisodeEnvDefinition<S>;
  readonly #rules: Rules;
  readonly #begin: (start: EpisodeStart) => Episode;
  readonly #trials: readonly number[];
  readonly #resetIds: ResetIds;
  readonly #slots: Slot[];

  constructor(
    definition: EpisodeEnvDefinition<S>,
    rules: Rules,
    begin: (start: EpisodeStart) => Episode,
    { size, firstSlot, slots }: EnvPlace,
  ) {
    if (size % rules.group_size !== 0)
      throw new UserError(
        `${size} envs cannot be split into groups of ${rules.group_size}: change total_num_envs or group_size`,
      );
    this.size = size;
    this.actionSize = definition.actionSize;
    this.#definition = definition;
    this.#rules = rules;
    this.#begin = begin;
    this.#trials = definition.tasks.map(() => definition.startsPerTask);
    this.#resetIds = new ResetIds({
      trials: this.#trials,
      groups: size / rules.group_size,
      groupSize: rules.group_size,
      seed: rules.seed,
      instances: slots / size,
      instance: firstSlot / size,
      ordered: rules.use_ordered_reset_state_ids,
      evaluation: rules.is_eval,
    });
    this.#slots = Array.from({ length: size }, () => slotOf(undefined, undefined));
    this.pool = {
      tasks: definition.tasks,
      starts: this.#trials.reduce((sum, count) => sum + count, 0),
      trials: this.#trials,
      restart: () => this.#resetIds.restart(),
      startOf: (slot) => this.#slots[slot]?.start,
    };
  }

  get resetIds(): readonly number[] {
    return this.#resetIds.current;
  }

  updateResetIds(): void {
    this.#resetIds.advance();
  }

  async reset({ slots, ids }: ResetRequest = {}): Promise<Observation> {
    const { use_fixed_reset_state_ids: fixed, is_eval: evaluation } = this.#rules;
    const chosen = slots ?? this.#slots.map((_, slot) => slot);
    const scheduled = (fixed || evaluation) && !slots;
    this.#restart(chosen, ids ?? (scheduled ? this.resetIds : this.#resetIds.drawFor(chosen)));
    return this.#observation();
  }

  async step(actions: Tensor): Promise<EnvStep> {
    const { chunk, rows } = readActions(actions, this.size, this.actionSize);
    const board = new ChunkBoard(this.size, chunk);
    const { auto_reset: restarts, ignore_terminations: ignores } = this.#rules;
    for (const [number, slot] of this.#slots.entries()) {
      if (!slot.episode || (slot.over && !restarts && !ignores)) continue;
      for (let step = 0; step < chunk; step++) {
        const action = rows[number]!.slice(step * this.actionSize, (step + 1) * this.actionSize);
        slot.actions.push([...action]);
        board.write(number, step, enterStep(slot.account, slot.episode.act(action), this.#rules));
      }
      slot.over ||= board.isDone(number);
    }
    return this.#answer(board);
  }

  async close(): Promise<void> {}

  save(running: boolean): EnvCursor {
    const slots = this.#slots.map(({ start, actions }) => ({ start, actions }));
    return { plain: { resetIds: this.#resetIds.save(), ...(running && { slots }) }, tensors: new Map() };
  }

  load({ plain }: EnvCursor): void {
    const { resetIds, slots = [] } = savedSchema.parse(plain);
    this.#resetIds.restore(resetIds);
    for (const [number, { start, actions }] of slots.entries()) {
      const slot = slotOf(start, start && this.#begin(start));
      this.#slots[number] = slot;
      for (const action of actions) {
        slot.actions.push(action);
        const success = slot.episode!.act(Float32Array.from(action));
        const { terminated, truncated } = enterStep(slot.account, success, this.#rules);
        slot.over ||= terminated || truncated;
      }
    }
  }

  #restart(slots: readonly number[], ids: readonly number[]): void {
    for (const [i, slot] of slots.entries()) {
      const id = ids[i] ?? exhausted;
      const start =
        id === exhausted
          ? undefined
          : { ...locateStart(id, this.#trials), seed: sceneSeed(this.#rules.seed, id) };
      this.#slots[slot] = slotOf(start, start && this.#begin(start));
    }
  }

  #answer(board: ChunkBoard): EnvStep {
    const { auto_reset: restarts, ignore_terminations: ignores, is_eval: evaluation } = this.#rules;
    const done = this.#slots.flatMap((_, slot) => (board.isDone(slot) ? [slot] : []));
    if (restarts || ignores) board.gatherFlags();
    const accounts = this.#slots.map(({ account }) => account);
    const before = { ...board.tensors(), episode: episodeStats(accounts, this.#rules) };
    const observation = this.#observation();
    if (!restarts || done.length === 0) return { observation, ...before };
    this.#restart(done, evaluation ? this.#resetIds.take(done.length) : this.#resetIds.drawFor(done));
    return { observation: this.#observation(), ...before, finalObservation: observation };
  }

  #observation(): Observation {
    const { picture, tasks, stateSize = 0 } = this.#definition;
    const bytes = picture.height * picture.width * 3;
    const pictures = new Uint8Array(this.size * bytes);
    const width = stateSize > 0 ? stateSize : blankState;
    const states = new Float32Array(this.size * width);
    for (const [number, { episode }] of this.#slots.entries()) {
      episode?.draw(pictures.subarray(number * bytes, (number + 1) * bytes));
      if (stateSize > 0) states.set(Array.from(episode?.state?.() ?? []).slice(0, width), number * width);
    }
    return {
      mainImages: keep(tensor(pictures, { shape: [this.size, picture.height, picture.width, 3] })),
      states: keep(tensor(states, { shape: [this.size, width] })),
      taskDescriptions: this.#slots.map(({ start }) => tasks[start?.task ?? 0]!),
    };
  }
}

const slotOf = (start: EpisodeStart | undefined, episode: Episode | undefined): Slot => ({
  start,
  episode,
  actions: [],
  account: newAccount(),
  over: false,
});
