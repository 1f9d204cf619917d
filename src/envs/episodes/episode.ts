/**
 * The short way to an environment of one's own: say how one episode begins, acts and looks, and `episodeEnv` plays many side by side.
 *
 * An episode must be a function of its start and its actions: then a checkpoint need only hold those, and a resumed run plays them again.
 */
import type { z } from "zod";
import { UserError } from "#registry";
import { defineEnv, type EnvSection, type PlayableEnv } from "../env-family.ts";

/** One episode that is played. */
export interface Episode {
  /** Plays one action and says whether the goal holds now. */
  act(action: Float32Array): boolean;
  /** Draws what the policy sees: RGB bytes, rows from the top, into a black picture. */
  draw(picture: Uint8Array): void;
  /** Numbers of the robot's state, for policies that read them. */
  state?(): ArrayLike<number>;
}

/** From what an episode begins. Equal starts are equal scenes: the episodes of a group share theirs. */
export interface EpisodeStart {
  /** Its task, by number. */
  readonly task: number;
  /** Which of the task's starts. */
  readonly trial: number;
  /** A number of its own for each start and each `seed` of the section, from which to draw the scene. */
  readonly seed: number;
}

export interface EpisodeEnvDefinition<S extends z.ZodType> {
  /** The env's own keys in `env.train` and `env.eval`: a strict object. */
  readonly settings: S;
  /** Numbers in an action. */
  readonly actionSize: number;
  /** Pixels. */
  readonly picture: { readonly height: number; readonly width: number };
  /** Numbers of `Episode.state`; 0 where there are none. */
  readonly stateSize?: number;
  /** The sentences that a policy is told, one per task. */
  readonly tasks: readonly string[];
  /** How many different starts each task has; evaluations play every one once. */
  readonly startsPerTask: number;
  begin(start: EpisodeStart, section: EnvSection<S>): Episode;
}

/** An environment made of single episodes, simulated in the run's own process. */
export function episodeEnv<S extends z.ZodType>(definition: EpisodeEnvDefinition<S>): PlayableEnv<S> {
  const { tasks, settings, actionSize, startsPerTask } = definition;
  if (tasks.length === 0 || startsPerTask < 1)
    throw new UserError("an environment needs at least one task and one start of each");
  return defineEnv({
    settings,
    actions: () => ({ size: actionSize, gripper: "as_is" }),
    sentences: async () => tasks,
    open: async (section, place) =>
      (await import("./episode-env.ts")).openEpisodes(definition, section, place),
  });
}
