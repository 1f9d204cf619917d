/**
 * Pictures of a simulated episode for people: larger than what a policy sees, and, where wanted, from a second camera beside it.
 *
 * What helps only policies is left out: the pack says which groups of geoms people see. Renderers are made when the first
 * picture is taken.
 */
import { type AssetPack, turnFor } from "#engine";
import { type Model, Renderer, type Simulation } from "#mujoco";
import { beside } from "#pictures";

/** Of films; where an overview stands beside the policy's camera, the pictures are twice as wide. */
export interface FilmView {
  /** Of each camera's picture, in pixels. */
  readonly width: number;
  readonly height: number;
  readonly overview: boolean;
}

export class FilmCamera {
  readonly #renderer: Renderer;
  readonly #pack: Pick<AssetPack, "film" | "sights">;
  readonly #view: FilmView;

  constructor(model: Model, pack: Pick<AssetPack, "film" | "sights">, view: FilmView) {
    const { width, height } = view;
    this.#renderer = new Renderer(model, { width, height, geomGroups: pack.film.geomGroups });
    this.#pack = pack;
    this.#view = view;
  }

  /** [height, width, 3], or [height, 2·width, 3] with the overview on the right. */
  shoot(simulation: Simulation): Uint8Array {
    const { width, height, overview } = this.#view;
    const { film, sights } = this.#pack;
    const cameras = [sights.main, ...(overview ? [film.overview] : [])];
    // All are turned as policies see theirs, so that left is left in both.
    const pictures = cameras.map((name) =>
      turnFor(sights, this.#renderer.render(simulation, name), width, height),
    );
    return beside(pictures.map((data) => ({ width, height, data }))).data;
  }

  dispose(): void {
    this.#renderer.dispose();
  }
}
