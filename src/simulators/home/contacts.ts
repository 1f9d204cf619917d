/** Who touches whom in a home: things by name, the robot's hands and their pads, and the rest. */
import { type Scene, type Side, sides } from "#engine";
import type { Simulation } from "#mujoco";

const rest = -1; // the counter, the backsplash
const handOf: Readonly<Record<Side, number>> = { left: -2, right: -3 };

export class Contacts {
  readonly #simulation: Simulation;
  readonly #index: ReadonlyMap<string, number>;
  readonly #owner: Int32Array; // geom -> index of the scene's object, or a hand, or the rest
  readonly #pads: Readonly<Record<Side, readonly number[]>>;
  readonly #fixed: ReadonlySet<number>;

  constructor({ objects }: Scene, simulation: Simulation) {
    const { model } = simulation;
    this.#simulation = simulation;
    this.#index = new Map(objects.map(({ name }, index) => [name, index]));
    this.#fixed = new Set([rest, ...objects.flatMap(({ fixture }, index) => (fixture ? [index] : []))]);
    const roots = new Map(objects.map(({ rootBody }, index) => [model.id("body", rootBody), index]));
    const [parents, names] = [model.array("body_parentid"), model.names("body")];
    const ownerOf = (body: number): number => {
      const hand = sides.find((side) => names[body]!.startsWith(`robot0_${side}_`));
      if (hand) return handOf[hand];
      return roots.get(body) ?? (body === 0 ? rest : ownerOf(parents[body]!));
    };
    this.#owner = Int32Array.from(model.array("geom_bodyid"), ownerOf);
    const pads = (side: Side) => [1, 2].map((pad) => model.id("geom", `robot0_${side}_pad${pad}`));
    this.#pads = { left: pads("left"), right: pads("right") };
  }

  touching(a: string, b: string): boolean {
    const other = this.#index.get(b);
    return this.#any(a, (owner) => owner === other);
  }

  /** Whether no hand touches it. */
  free(name: string): boolean {
    return !this.#any(name, (owner) => owner === handOf.left || owner === handOf.right);
  }

  /** Both pads of the hand touch it, and nothing but that hand does. */
  inHand(name: string, side: Side): boolean {
    return this.#bothPads(name, side) && !this.#any(name, (owner) => owner !== handOf[side]);
  }

  /** Both pads of the hand touch it, and neither the counter nor a fixture does: for what carries other things. */
  carried(name: string, side: Side): boolean {
    return this.#bothPads(name, side) && !this.#any(name, (owner) => this.#fixed.has(owner));
  }

  #bothPads(name: string, side: Side): boolean {
    return this.#pads[side].every((pad) => this.#any(name, (_, geom) => geom === pad));
  }

  /** Whether something that it touches is such. */
  #any(name: string, such: (owner: number, geom: number) => boolean): boolean {
    const own = this.#index.get(name);
    const pairs = this.#simulation.contactPairs();
    for (let i = 0; i < pairs.length; i += 2) {
      const [a, b] = [pairs[i]!, pairs[i + 1]!];
      if (this.#owner[a] === own && such(this.#owner[b]!, b)) return true;
      if (this.#owner[b] === own && such(this.#owner[a]!, a)) return true;
    }
    return false;
  }
}
