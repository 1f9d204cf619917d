/** The scripted expert of a home: works through the jobs of its task's goal, and plans again should the goal not hold then. */
import { type SceneSimulation, type Side, sides } from "#engine";
import type { Action, Point, SceneExpert } from "../../experts/expert.ts";
import { type Mistakes, noMistakes } from "../../experts/mistakes.ts";
import type { Duet, HandActions } from "./both-hands.ts";
import type { Grip, Rotation } from "./hand.ts";
import { HomeTruth } from "./home-truth.ts";
import { perform } from "./jobs.ts";
import { planJobs } from "./plan.ts";

interface Pose {
  readonly place: Point;
  readonly rotation: Rotation;
}

export class HomeExpert implements SceneExpert {
  readonly #truth: HomeTruth;
  #duet: Duet | undefined;
  /** A hand without work pulls back to where it was: else noise makes it wander. */
  readonly #rest: Partial<Record<Side, Pose>> = {};
  readonly #grip: Record<Side, Grip> = { left: -1, right: -1 };

  constructor(world: SceneSimulation) {
    this.#truth = new HomeTruth(world);
    planJobs(this.#truth); // refuses a goal that nobody can reach
  }

  reset(mistakes: Mistakes = noMistakes): void {
    this.#truth.mistakes = mistakes;
    this.#duet = undefined;
    for (const side of sides) {
      delete this.#rest[side];
      this.#grip[side] = -1;
    }
  }

  act(): Action {
    this.#duet ??= this.#work();
    const actions = (this.#duet.next().value ?? {}) as HandActions;
    const action = new Float64Array(7 * sides.length);
    for (const [i, side] of sides.entries()) action.set(this.#actionOf(side, actions), 7 * i);
    return action;
  }

  *#work(): Duet {
    for (;;) {
      yield* perform(planJobs(this.#truth));
      yield {};
    }
  }

  #actionOf(side: Side, actions: HandActions): Float64Array {
    const given = actions[side];
    if (given) {
      delete this.#rest[side];
      this.#grip[side] = given[6]! > 0 ? 1 : -1;
      return given;
    }
    const hand = this.#truth.hands[side];
    const { place, rotation } = (this.#rest[side] ??= { place: hand.aim, rotation: hand.aimRotation });
    return hand.towards(place, rotation, this.#grip[side]);
  }
}
