/**
 * Turns an object's MJCF file into one named instance in a scene.
 *
 * The file holds `worldbody/body/body[name=object]`, the thing itself, beside three sites that only placement reads: its
 * lowest point, its highest point and its horizontal radius. A movable instance gets a free joint; a fixture none.
 */
import { UserError } from "#registry";
import type { ObjectCategory } from "./pack.ts";
import { addPrefix, collides, jointsOf, loadPart, type ScenePart, vectorOf } from "./scene-part.ts";
import { XmlElement } from "./xml.ts";

/** What the rest of the engine needs to know of an instance. Names are those of the compiled model. */
export interface SceneObject {
  readonly name: string;
  readonly category: string;
  readonly definition: ObjectCategory;
  readonly fixture: boolean;
  readonly rootBody: string;
  /** In document order; a movable object's free joint is the last. */
  readonly joints: readonly string[];
  readonly contactGeoms: readonly string[];
  /** Heights of the lowest and highest point relative to the root body, and the horizontal radius, in meters. */
  readonly bottom: number;
  readonly top: number;
  readonly radius: number;
}

export interface LoadedObject {
  readonly info: SceneObject;
  /** Merged into the scene: the instance's body and the assets of its file. */
  readonly body: XmlElement;
  readonly part: ScenePart;
}

export interface ObjectRequest {
  readonly name: string;
  readonly category: string;
  readonly definition: ObjectCategory;
  readonly fixture: boolean;
  /** Absolute path of the object's MJCF. */
  readonly path: string;
}

const originMark = { pos: "0 0 0", size: "0.002 0.002 0.002", rgba: "1 0 0 0", type: "sphere", group: "0" };

export function loadObject({ name, category, definition, fixture, path }: ObjectRequest): LoadedObject {
  const part = loadPart(path);
  const outer = part.worldbody.children.filter((child) => child.tag === "body");
  const body = outer
    .map((child) => child.child("body", "object"))
    .find((child) => child)
    ?.clone();
  if (!body) throw new UserError(`${path}: expected worldbody/body/body[name=object]`);
  body.set("name", "main");
  nameAndFilterGeoms(body);
  if (!fixture)
    body.children.push(new XmlElement("joint", { type: "free", damping: "0.0005", name: "joint0" }));
  body.children.push(new XmlElement("site", { ...originMark, name: "default_site" }));

  const prefix = `${name}_`;
  const height = (site: string) => siteVector(outer, site, path)[2] ?? 0;
  const [bottom, top] = [height("bottom_site"), height("top_site")];
  const radius = siteVector(outer, "horizontal_radius_site", path)[0] ?? 0;
  addPrefix(body, prefix);
  addPrefix(part.root, prefix);
  const named = (elements: XmlElement[]) => elements.map((element) => element.get("name") ?? "");
  const info: SceneObject = {
    name,
    category,
    definition,
    fixture,
    rootBody: `${prefix}main`,
    joints: named(jointsOf(body)),
    contactGeoms: named([...body.walk()].filter(collides)),
    bottom,
    top,
    radius,
  };
  return { info, body, part };
}

/** Drops geoms that neither collide nor show, and names the nameless by their place among all geoms. */
function nameAndFilterGeoms(body: XmlElement): void {
  let index = 0;
  const visit = (parent: XmlElement): void => {
    for (const child of [...parent.children]) {
      if (child.tag === "geom") {
        const kept = ["0", "1"].includes(child.get("group") ?? "0");
        if (!kept) parent.children.splice(parent.children.indexOf(child), 1);
        else if (child.get("name") === undefined) child.set("name", `g${index}`);
        index++;
      }
      visit(child);
    }
  };
  visit(body);
}

function siteVector(outer: readonly XmlElement[], name: string, path: string): number[] {
  const site = outer.map((body) => body.child("site", name)).find((found) => found);
  if (!site)
    throw new UserError(`${path}: there is no site "${name}" beside the object, which placement needs`);
  return vectorOf(site, "pos");
}
