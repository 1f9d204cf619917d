/** An expert for a whole task: its skills one after another, and once more from the start should the goal not hold then. */
import type { Scene } from "../engine/scene.ts";
import type { Action, GroundTruth, Skill } from "./expert.ts";
import type { ExpertKit } from "./kit.ts";
import { type Mistakes, noMistakes } from "./mistakes.ts";
import { stay } from "./motion.ts";
import { planSkills } from "./plan.ts";

export class TaskExpert {
  readonly #scene: Scene;
  readonly #kit: ExpertKit;
  #mistakes = noMistakes;
  #skills: Skill[] = [];

  constructor(scene: Scene, kit: ExpertKit) {
    this.#scene = scene;
    this.#kit = kit;
    this.reset();
  }

  /** To be called when an episode begins. */
  reset(mistakes: Mistakes = noMistakes): void {
    this.#mistakes = mistakes;
    this.#skills = planSkills(this.#scene, this.#kit, mistakes);
  }

  /** What to do now. Call it once per control step: a skill notices that fingers stand still from call to call. */
  act(truth: GroundTruth): Action {
    for (;;) {
      const [skill] = this.#skills;
      if (!skill) break;
      const action = skill.act(truth);
      if (action) return action;
      this.#skills.shift();
    }
    this.reset(this.#mistakes);
    return stay(-1);
  }
}
