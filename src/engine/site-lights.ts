/**
 * Which marker sites are drawn. LIBERO hides all markers of robot and objects by negating their alpha, and
 * lights a few while something is on: a stove's burner. The negative and over-full alphas are its own.
 */
import type { Simulation } from "#mujoco";
import type { Condition, Predicates } from "./predicates.ts";
import type { Scene } from "./scene.ts";

export class SiteLights {
  readonly #colors: Float32Array; // [nsite, 4]
  readonly #initial: Float32Array;
  readonly #hidden: readonly number[];
  readonly #glowing: readonly { readonly alpha: number; readonly isOn: Condition }[];

  constructor(scene: Scene, simulation: Simulation, predicates: Predicates) {
    const { model } = simulation;
    this.#colors = simulation.modelArray("site_rgba");
    this.#initial = model.array("site_rgba");
    const prefixes = ["robot0_", "gripper0_", "mount0_", ...scene.objects.map(({ name }) => `${name}_`)];
    this.#hidden = model
      .names("site")
      .flatMap((name, site) => (prefixes.some((prefix) => name.startsWith(prefix)) ? [4 * site + 3] : []));
    this.#glowing = scene.objects.flatMap(({ name, definition: { glowSite } }) => {
      if (glowSite === undefined) return [];
      const isOn = predicates.compile({ name: "turnon", args: [name], line: 0 }, scene.task.file);
      return [{ alpha: 4 * model.id("site", `${name}_${glowSite}`) + 3, isOn }];
    });
  }

  reset(): void {
    this.#colors.set(this.#initial);
    for (const alpha of this.#hidden) this.#colors[alpha] = -Math.abs(this.#colors[alpha]!);
  }

  update(): void {
    for (const { alpha, isOn } of this.#glowing) {
      const current = this.#colors[alpha]!;
      if (isOn() !== current > 0) this.#colors[alpha] = 1 - current;
    }
  }
}
