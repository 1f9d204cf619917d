/** An expert for a whole task: its skills one after another, and once more from the start should the goal not hold then. */
import type { SceneSimulation } from "#engine";
import type { Action, GroundTruth, SceneExpert, Skill } from "./expert.ts";
import type { ExpertKit } from "./kit.ts";
import { type Mistakes, noMistakes } from "./mistakes.ts";
import { stay } from "./motion.ts";
import { planSkills } from "./plan.ts";
import { sceneTruth } from "./scene-truth.ts";

export class TaskExpert implements SceneExpert {
  readonly #world: SceneSimulation;
  readonly #truth: GroundTruth;
  readonly #kit: ExpertKit;
  #mistakes = noMistakes;
  #skills: Skill[] = [];

  constructor(world: SceneSimulation, kit: ExpertKit) {
    this.#world = world;
    this.#truth = sceneTruth(world);
    this.#kit = kit;
    this.reset();
  }

  /** To be called when an episode begins. */
  reset(mistakes: Mistakes = noMistakes): void {
    this.#mistakes = mistakes;
    this.#skills = planSkills(this.#world.scene, this.#kit, mistakes);
  }

  /** What to do now. Call it once per control step: a skill notices that fingers stand still from call to call. */
  act(): Action {
    for (;;) {
      const [skill] = this.#skills;
      if (!skill) break;
      const action = skill.act(this.#truth);
      if (action) return action;
      this.#skills.shift();
    }
    this.reset(this.#mistakes);
    return stay(-1);
  }
}
