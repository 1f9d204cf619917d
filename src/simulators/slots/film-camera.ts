/**
 * Pictures of a simulated episode for people: larger than what a policy sees, and, where wanted, from a second camera beside it.
 *
 * What helps only policies is left out: the pack says which groups of geoms people see. Renderers are made when the first
 * picture is taken.
 */
import { type Model, Renderer, type Simulation } from "#mujoco";
import { beside } from "#pictures";
import type { FilmLook } from "../engine/pack.ts";
import { turnPicture } from "../engine/turned-picture.ts";

/** Of films; where an overview stands beside the policy's camera, the pictures are twice as wide. */
export interface FilmView {
  /** Of each camera's picture, in pixels. */
  readonly width: number;
  readonly height: number;
  readonly overview: boolean;
}

export class FilmCamera {
  readonly #renderer: Renderer;
  readonly #look: FilmLook;
  readonly #view: FilmView;

  constructor(model: Model, look: FilmLook, view: FilmView) {
    const { width, height } = view;
    this.#renderer = new Renderer(model, { width, height, geomGroups: look.geomGroups });
    this.#look = look;
    this.#view = view;
  }

  /** [height, width, 3], or [height, 2·width, 3] with the overview on the right. */
  shoot(simulation: Simulation): Uint8Array {
    const { width, height, overview } = this.#view;
    const cameras = ["agentview", ...(overview ? [this.#look.overview] : [])];
    // All are turned as policies see theirs, so that left is left in both.
    const pictures = cameras.map((name) => turnPicture(this.#renderer.render(simulation, name)));
    return beside(pictures.map((data) => ({ width, height, data }))).data;
  }

  dispose(): void {
    this.#renderer.dispose();
  }
}
