/**
 * Pictures of a simulated episode for people: larger than what a policy sees, and, where wanted, from a second camera beside it.
 *
 * What helps only policies is left out: the pack says which groups of geoms people see. Renderers are made when the first
 * picture is taken.
 */
import { flipRows, type Model, Renderer, type Simulation } from "#mujoco";
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
    const own = turnPicture(this.#renderer.render(simulation, "agentview"));
    if (!overview) return own;
    const other = flipRows(this.#renderer.render(simulation, this.#look.overview), width, height);
    return beside([
      { width, height, data: own },
      { width, height, data: other },
    ]).data;
  }

  dispose(): void {
    this.#renderer.dispose();
  }
}
