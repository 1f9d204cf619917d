/**
 * What the home's goals say: `on`, `in`, `stacked`, `nextto`, `apart`, `inlefthand`, `inrighthand`, `lifted`; open, close and
 * turnon are the engine's.
 *
 * What is placed must be let go: no hand touches it. Positions are those of a thing's origin in the frame of the region's site.
 * (The engine's own `on` and `in` keep LIBERO's peculiarities, which its results depend on; nothing here does.)
 */
import type {
  CompilePredicate,
  Condition,
  PackPredicates,
  Scene,
  SceneObject,
  SceneRegion,
  Side,
} from "#engine";
import type { Simulation } from "#mujoco";
import { Contacts } from "./contacts.ts";
import { counterHeight } from "./robot.ts";

const upright = 0.95; // cosine of the tilt that still counts
const inTheAir = counterHeight + 0.1;
/** Meters along y: beyond them a thing lies on the left or on the right of the counter. */
const onTheLeft = 0.22;
const onTheRight = -0.34;

export const homePredicates: PackPredicates = (scene, simulation) => {
  const judge = new HomeJudge(scene, simulation);
  return (predicate, fail) => judge.compile(predicate, fail);
};

class HomeJudge {
  readonly #scene: Scene;
  readonly #simulation: Simulation;
  readonly #contacts: Contacts;

  constructor(scene: Scene, simulation: Simulation) {
    this.#scene = scene;
    this.#simulation = simulation;
    this.#contacts = new Contacts(scene, simulation);
  }

  readonly compile: CompilePredicate = ({ name, args: [first = "", second = ""] }, fail) => {
    const object = (it: string) =>
      this.#scene.objects.find((one) => one.name === it) ?? fail(`there is no ${it}`);
    const region = () => this.#scene.regions.get(second) ?? fail(`"${second}" is not a region`);
    switch (name) {
      case "on":
        return this.#on(object(first), region());
      case "in":
        return this.#in(object(first), region());
      case "stacked":
        return this.#stacked(object(first), object(second));
      case "nextto":
        return this.#nextTo(object(first), object(second));
      case "apart":
        return this.#apart(object(first), object(second));
      case "inlefthand":
        return this.#inHand(object(first), "left");
      case "inrighthand":
        return this.#inHand(object(first), "right");
      case "lifted":
        return this.#lifted(object(first));
      default:
        return undefined;
    }
  };

  #on(thing: SceneObject, region: SceneRegion): Condition {
    const within = this.#placeIn(thing, region);
    const { parent, size } = region;
    // Where the origin is the bottom, contacts sink it by a millimeter or two. A zone's surface is the counter's.
    const [lowest, highest] = thing.bottom === 0 ? [-0.006, 0.03] : [0, 0.1];
    const surface = parent === undefined ? 0 : size[2];
    return () => {
      const [x, y, z] = within();
      return (
        Math.abs(x) < size[0] &&
        Math.abs(y) < size[1] &&
        surface + lowest < z &&
        z < surface + highest &&
        (parent === undefined || this.#contacts.touching(thing.name, parent)) &&
        this.#contacts.free(thing.name)
      );
    };
  }

  #in(thing: SceneObject, region: SceneRegion): Condition {
    const within = this.#placeIn(thing, region);
    const [halfX, halfY, halfZ] = region.size;
    return () => {
      const [x, y, z] = within();
      const inside = Math.abs(x) < halfX && Math.abs(y) < halfY && -halfZ - 0.01 < z && z < halfZ;
      return inside && this.#contacts.free(thing.name);
    };
  }

  #stacked(upper: SceneObject, lower: SceneObject): Condition {
    const [a, b] = [this.#pose(upper), this.#pose(lower)];
    return () =>
      a.at[2]! > b.at[2]! + 0.02 &&
      flatDistance(a.at, b.at) < 0.03 &&
      a.turn[8]! > upright &&
      this.#contacts.touching(upper.name, lower.name) &&
      this.#contacts.free(upper.name);
  }

  #nextTo(thing: SceneObject, other: SceneObject): Condition {
    const [a, b] = [this.#pose(thing), this.#pose(other)];
    return () => {
      const distance = flatDistance(a.at, b.at);
      const standing = a.turn[8]! > upright && a.at[2]! < counterHeight + 0.06;
      return distance > 0.1 && distance < 0.2 && standing && this.#contacts.free(thing.name);
    };
  }

  /** One on either side of the counter. */
  #apart(one: SceneObject, other: SceneObject): Condition {
    const [a, b] = [this.#pose(one), this.#pose(other)];
    return () =>
      Math.max(a.at[1]!, b.at[1]!) > onTheLeft &&
      Math.min(a.at[1]!, b.at[1]!) < onTheRight &&
      Math.max(a.at[2]!, b.at[2]!) < counterHeight + 0.03 &&
      this.#contacts.free(one.name) &&
      this.#contacts.free(other.name);
  }

  #inHand(thing: SceneObject, side: Side): Condition {
    const { at } = this.#pose(thing);
    return () => at[2]! > inTheAir && this.#contacts.inHand(thing.name, side);
  }

  #lifted(thing: SceneObject): Condition {
    const { at, turn } = this.#pose(thing);
    return () =>
      at[2]! > inTheAir &&
      turn[8]! > 0.97 &&
      this.#contacts.carried(thing.name, "left") &&
      this.#contacts.carried(thing.name, "right");
  }

  /** Views of a thing's position [3] and rotation [9]. */
  #pose({ rootBody }: SceneObject): { readonly at: Float64Array; readonly turn: Float64Array } {
    const id = this.#simulation.model.id("body", rootBody);
    const at = this.#simulation.array("xpos").subarray(3 * id, 3 * id + 3);
    return { at, turn: this.#simulation.array("xmat").subarray(9 * id, 9 * id + 9) };
  }

  /** Where a thing's origin is in the frame of a region's site. */
  #placeIn(thing: SceneObject, region: SceneRegion): () => readonly [number, number, number] {
    const site = this.#simulation.model.id("site", region.name);
    const place = this.#simulation.array("site_xpos").subarray(3 * site, 3 * site + 3);
    const axes = this.#simulation.array("site_xmat").subarray(9 * site, 9 * site + 9);
    const { at } = this.#pose(thing);
    return () => {
      const [x, y, z] = [at[0]! - place[0]!, at[1]! - place[1]!, at[2]! - place[2]!];
      const along = (axis: number) => axes[axis]! * x + axes[3 + axis]! * y + axes[6 + axis]! * z;
      return [along(0), along(1), along(2)];
    };
  }
}

const flatDistance = (a: Float64Array, b: Float64Array): number => Math.hypot(a[0]! - b[0]!, a[1]! - b[1]!);
