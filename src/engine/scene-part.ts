/**
 * One MJCF file as a part of a scene: defaults written out, files absolute, ready to be prefixed and merged.
 *
 * Follows robosuite 1.4.1's merging rules, because the order of elements decides the order of qpos and the numbering of
 * geoms in stored states: bodies, actuators, sensors, tendons, equalities and contacts are appended; an asset is taken
 * only if no asset with its tag and name is there yet; compiler, option, size and visual settings of parts are dropped.
 */
import { dirname, isAbsolute, resolve } from "node:path";
import { UserError } from "#registry";
import { readXml, XmlElement } from "./xml.ts";

const sections = ["worldbody", "actuator", "sensor", "asset", "tendon", "equality", "contact"] as const;
type Section = (typeof sections)[number];
const appended: readonly Section[] = ["actuator", "sensor", "tendon", "equality", "contact"];

/** Attributes that name something or refer to a name, and so carry the prefix of the instance. */
const naming = new Set(
  (
    "class childclass name objname material texture joint joint1 joint2 jointinparent geom geom1 geom2 mesh fixed " +
    "actuator tendon tendon1 tendon2 slidesite cranksite body body1 body2 hfield target prefix site"
  ).split(" "),
);

export interface ScenePart extends Readonly<Record<Section, XmlElement>> {
  readonly path: string;
  readonly root: XmlElement;
}

export function loadPart(path: string): ScenePart {
  const root = readXml(path);
  if (root.tag !== "mujoco") throw new UserError(`${path}: expected a <mujoco> file, found <${root.tag}>`);
  const found = Object.fromEntries(sections.map((name) => [name, section(root, name)]));
  inlineDefaults(root, path);
  for (const asset of found.asset?.children ?? []) makeFileAbsolute(asset, dirname(path));
  return { path, root, ...(found as Record<Section, XmlElement>) };
}

function section(root: XmlElement, name: Section): XmlElement {
  const found = root.child(name);
  if (found) return found;
  const created = new XmlElement(name);
  root.children.push(created);
  return created;
}

/** Gives every element that names a class the class's attributes that it lacks, and removes the classes. */
function inlineDefaults(root: XmlElement, path: string): void {
  const index = root.children.findIndex((child) => child.tag === "default");
  const [defaults] = index < 0 ? [] : root.children.splice(index, 1);
  const classes = new Map(defaults?.children.map((child) => [child.get("class"), child]));
  for (const element of root.walk()) {
    const name = element.get("class");
    if (name === undefined) continue;
    element.attributes.delete("class");
    const values = classes.get(name) ?? missingClass(path, name);
    for (const [key, value] of values.child(element.tag)?.attributes ?? [])
      if (element.get(key) === undefined) element.set(key, value);
  }
}

const missingClass = (path: string, name: string): never => {
  throw new UserError(`${path}: class "${name}" has no <default class="${name}">`);
};

function makeFileAbsolute(asset: XmlElement, folder: string): void {
  const file = asset.get("file");
  if (file !== undefined && !isAbsolute(file)) asset.set("file", resolve(folder, file));
}

/** Prefixes every name and reference that does not have the prefix yet. */
export function addPrefix(root: XmlElement, prefix: string): void {
  for (const element of root.walk())
    for (const [key, value] of element.attributes)
      if (naming.has(key) && !value.startsWith(prefix)) element.set(key, prefix + value);
}

/** Appends a part; its bodies go into the body of that name, or into the world. */
export function mergePart(into: ScenePart, part: ScenePart, bodyName?: string): void {
  const host = bodyName === undefined ? into.worldbody : into.worldbody.find("body", bodyName);
  if (!host) throw new UserError(`${into.path}: there is no body "${bodyName}" to attach ${part.path} to`);
  host.children.push(...part.worldbody.children);
  mergeAssets(into, part);
  for (const name of appended) into[name].children.push(...part[name].children);
}

/** Of assets with the same identity, the first is kept. */
export const assetIdentity = (asset: XmlElement): string => JSON.stringify([asset.tag, asset.get("name")]);

export function mergeAssets(into: ScenePart, part: ScenePart): void {
  const present = new Set(into.asset.children.map(assetIdentity));
  for (const asset of part.asset.children) {
    if (present.has(assetIdentity(asset))) continue;
    present.add(assetIdentity(asset));
    into.asset.children.push(asset);
  }
}

/** Group 0 (or none) is what collides; group 1 is what is seen. */
export const collides = (geom: XmlElement): boolean =>
  geom.tag === "geom" && (geom.get("group") ?? "0") === "0";

export function colorCollisionGeoms(root: XmlElement, rgba: string, except?: string): void {
  for (const geom of root.walk()) {
    if (!collides(geom) || (except !== undefined && geom.get("name") === except)) continue;
    geom.set("rgba", rgba);
    geom.attributes.delete("material");
  }
}

/** Joints of the tree: not the joint references inside tendons and equalities. */
export const jointsOf = (root: XmlElement): XmlElement[] =>
  [...root.walk()].filter(
    (e) => e.tag === "joint" && e.get("joint") === undefined && e.get("joint1") === undefined,
  );

/** As MJCF writes vectors; JavaScript's shortest form of a double reads back as the same double. */
export const vectorText = (values: readonly number[]): string => values.join(" ");

export function vectorOf(element: XmlElement, attribute: string, fallback?: string): number[] {
  const text = element.get(attribute) ?? fallback;
  const values = text?.trim().split(/\s+/).map(Number) ?? [];
  if (values.length === 0 || values.some((value) => !Number.isFinite(value)))
    throw new UserError(
      `<${element.tag} name="${element.get("name")}">: ${attribute}="${text}" is not numbers`,
    );
  return values;
}
