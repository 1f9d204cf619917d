/** Draws what the policies of a pack see: one picture of its main camera, and one of each wrist's. */
import { type Model, Renderer, type Simulation } from "#mujoco";
import type { Sights } from "./pack.ts";
import { turnFor } from "./turned-picture.ts";

export class PackCamera implements Disposable {
  readonly #renderer: Renderer;
  readonly #sights: Sights;

  constructor(model: Model, sights: Sights, size: { readonly width: number; readonly height: number }) {
    const flags = sights.shadows ? {} : { shadows: false, reflections: false };
    const { width, height } = size;
    this.#renderer = new Renderer(model, { width, height, geomGroups: sights.geomGroups, flags });
    this.#sights = sights;
  }

  /** [H, W, 3] */
  main(simulation: Simulation): Uint8Array {
    return this.#draw(simulation, this.#sights.main);
  }

  /** [K, H, W, 3]: the wrists one after another. */
  wrists(simulation: Simulation): Uint8Array {
    const pictures = this.#sights.wrists.map((name) => this.#draw(simulation, name));
    const [only] = pictures;
    if (only && pictures.length === 1) return only;
    const all = new Uint8Array(pictures.reduce((sum, { length }) => sum + length, 0));
    for (const [i, picture] of pictures.entries()) all.set(picture, i * picture.length);
    return all;
  }

  dispose(): void {
    this.#renderer.dispose();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  #draw(simulation: Simulation, camera: string): Uint8Array {
    const { width, height } = this.#renderer;
    return turnFor(this.#sights, this.#renderer.render(simulation, camera), width, height);
  }
}
