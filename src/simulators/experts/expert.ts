/**
 * What a scripted expert is: a program that solves a task by looking at the truth.
 *
 * It reads positions that no policy sees and answers each control step with one action of the env's own kind. It decides
 * from what is, not from how many steps went by, so that it also says what to do from a state that noise or a policy led
 * to: its answers are labels (DAgger, Ross et al. 2011, https://arxiv.org/abs/1011.0686).
 */
import type { Mistakes } from "./mistakes.ts";

export type Point = readonly [x: number, y: number, z: number];

/** The truth about a scene, in the world's frame and meters. Names are those of the compiled model. */
export interface GroundTruth {
  /** The grip site, between the fingertips. */
  gripPosition(): Point;
  /** The distance between the fingers. */
  gripperOpening(): number;
  /** How far the line between the fingers is turned from the y axis, about z: radians in [-π/2, π/2). */
  gripperTurn(): number;
  bodyPosition(name: string): Point;
  sitePosition(name: string): Point;
  /** A site's axes as the columns of a row-major matrix. */
  siteAxes(name: string): Float64Array;
  /** Meters of a slide or radians of a hinge. */
  jointPosition(name: string): number;
}

/** For each hand three translations, three rotations, gripper (-1 open, +1 closed), each in [-1, 1]. */
export type Action = Float64Array;

/** An expert for a whole task, in one world. */
export interface SceneExpert {
  /** To be called when an episode begins. */
  reset(mistakes?: Mistakes): void;
  /** What to do now. Call it once per control step. */
  act(): Action;
}

/** One thing that an expert can do, such as moving an object somewhere. */
export interface Skill {
  /** The next action, or undefined once the skill's aim is reached. */
  act(truth: GroundTruth): Action | undefined;
}

/** How a robot answers to actions: what differs between asset packs. */
export interface Handling {
  /** Action per meter of distance. */
  readonly gain: number;
  /** A joint's dry friction swallows smaller actions: while not there yet, it is at least this. */
  readonly leastAction: number;
  /** Distances that count as there, in meters: on the way, and where fingers must fit. */
  readonly near: number;
  readonly exact: number;
  /** Fingers that stood still for so many steps have closed on something, or are wide open. */
  readonly stillSteps: number;
}
