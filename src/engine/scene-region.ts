/** Finds the site that a region of an object stands for, and the joints that move it. */
import type { LoadedObject } from "./scene-object.ts";
import { vectorOf } from "./scene-part.ts";
import type { XmlElement } from "./xml.ts";

export interface SceneRegion {
  /** The site's name in the compiled model. */
  readonly name: string;
  /** The object that carries the site; none for a zone on the workspace. */
  readonly parent: string | undefined;
  /** The joints of the body that encloses the site: a drawer's slide, a door's hinge. */
  readonly joints: readonly string[];
  /** Half extents. */
  readonly size: readonly [number, number, number];
}

/**
 * The innermost body that contains the site gives the joints. As in LIBERO, the search through an object's bodies stops
 * at the first body without any site, so a site behind such a body is not found.
 */
export function bindRegion(name: string, objects: readonly LoadedObject[]): SceneRegion | undefined {
  let found: SceneRegion | undefined;
  for (const { info, part } of objects) {
    const outer = part.worldbody.child("body");
    for (const body of outer?.walk() ?? []) {
      if (body === outer || body.tag !== "body") continue;
      const sites = [...body.walk()].filter(({ tag }) => tag === "site");
      if (sites.length === 0) break;
      const site = sites.findLast((candidate) => candidate.get("name") === name);
      if (site) found = describe(site, info.name, body);
    }
  }
  return found;
}

function describe(site: XmlElement, parent: string, body: XmlElement): SceneRegion {
  const [x = 0, y = 0, z = 0] = vectorOf(site, "size");
  const joints = body.children.filter(({ tag }) => tag === "joint").map((joint) => joint.get("name") ?? "");
  return { name: site.get("name") ?? "", parent, joints, size: [x, y, z] };
}
