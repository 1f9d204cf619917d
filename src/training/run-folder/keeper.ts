/**
 * Keeps a run's checkpoints: only policies that are worth it, each with its place in the run, and always one that is known to be good.
 *
 * A policy that is finite may still answer with what are no numbers as soon as it acts. So a checkpoint counts as good when it is
 * written, and if the very next rollout shows otherwise it is taken away again.
 */
import { UserError } from "#registry";
import { isDivergence, type Learned } from "#workers";
import { fillCheckpoint, type WorldState } from "../checkpoint/content.ts";
import {
  keepNewest,
  listCheckpoints,
  markBest,
  pointLatest,
  type Saved,
  writeCheckpoint,
} from "../checkpoint/folder.ts";
import { updateFault, WeightWatch } from "../checkpoint/sanity.ts";
import type { Crew } from "../crew.ts";
import { abandonedFolder, moveAside } from "./abandoned.ts";
import { placesOf } from "./places.ts";
import type { RunFolder } from "./run-folder.ts";
import { goOnCommand } from "./starting-point.ts";

export class CheckpointKeeper {
  readonly #crew: Crew;
  readonly #folder: RunFolder;
  readonly #root: string;
  readonly #watch: WeightWatch;
  #last: Saved | undefined;
  #before: Saved | undefined;

  constructor(crew: Crew, folder: RunFolder) {
    this.#crew = crew;
    this.#folder = folder;
    this.#root = placesOf(crew.checked).checkpoints;
    const { from } = folder.start;
    this.#last = from && { folder: from.folder, step: from.state.step };
    this.#watch = new WeightWatch(crew.actors.first.optimizer.weights);
  }

  /** Steps of the last checkpoint. */
  get savedStep(): number | undefined {
    return this.#last?.step;
  }

  /** Ends the run when a step has ruined its policy. */
  requireSane(step: number, learned: Learned): void {
    const fault = updateFault(learned) ?? this.#weightFault();
    if (fault !== undefined) throw this.#diverged(step, fault);
  }

  async keep(step: number, world: WorldState, isBest: boolean): Promise<void> {
    await this.#crew.makeWhole();
    const fault = this.#weightFault();
    if (fault !== undefined) throw this.#diverged(step - 1, fault);
    const more = { ...this.#folder.identity(this.#last?.step ?? 0), ...world };
    const saved = await writeCheckpoint(this.#root, step, (path) =>
      fillCheckpoint(path, this.#crew, step, more),
    );
    if (isBest) markBest(this.#root, saved);
    this.#before = this.#last;
    this.#last = saved;
    this.#watch.kept(this.#crew.actors.first.optimizer.weights);
    keepNewest(this.#root, this.#crew.checked.config.runner.keep_checkpoints);
  }

  /** Of weights that ranks hold in parts nothing is known until they are gathered, at the latest for the next checkpoint. */
  #weightFault(): string | undefined {
    const { memory, optimizer } = this.#crew.actors.first;
    return memory.isWhole ? this.#watch.fault(optimizer.weights) : undefined;
  }

  /** The error as the user needs it: with the checkpoint that is still good. `acting`: steps done by the weights that acted, if they did. */
  explain(error: unknown, acting: number | undefined): unknown {
    if (!(error instanceof UserError) || error instanceof Diverged) return error;
    if (isDivergence(error) && acting === this.#last?.step && acting !== this.#folder.start.from?.state.step)
      this.#takeBack();
    return new UserError(`${error.message}\n${this.#lastGood()}`);
  }

  /** The weights of the last checkpoint answer with what are no numbers. */
  #takeBack(): void {
    const doomed = this.#last;
    if (!doomed) return;
    const places = placesOf(this.#crew.checked);
    moveAside(places, abandonedFolder(places, doomed.step - 1), Number.POSITIVE_INFINITY, [doomed]);
    const left = listCheckpoints(this.#root).at(-1);
    this.#last = left ?? this.#before; // that one may lie in the folder of the run that this one began from
    if (left) pointLatest(this.#root, left.folder);
  }

  #diverged(step: number, fault: string): Diverged {
    return new Diverged(
      `training step ${step} has ruined the policy: ${fault}. no checkpoint is written; lower actor.optim.lr or actor.optim.clip_grad\n${this.#lastGood()}`,
    );
  }

  #lastGood(): string {
    if (!this.#last) return "there is no checkpoint yet: begin again with another --out";
    return `the last good checkpoint is ${this.#last.folder}; to go on from it: ${goOnCommand(this.#crew.checked)}`;
  }
}

/** Has already said where to go on. */
class Diverged extends UserError {}
