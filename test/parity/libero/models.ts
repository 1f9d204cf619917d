/** Compares the model compiled from our scene with the one compiled from the recorded XML: every size, name and number. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Model, type ObjectKind } from "#mujoco";
import type { AssetPack } from "../../../src/engine/pack.ts";
import type { ParityCase } from "../main.ts";
import type { Built, Recording } from "./recording.ts";

const named: readonly ObjectKind[] = [
  "body",
  "joint",
  "geom",
  "site",
  "camera",
  "light",
  "mesh",
  "texture",
  "material",
  "equality",
  "tendon",
  "actuator",
  "sensor",
];

export function* compareModels(
  recording: Recording,
  { model }: Built,
  pack: AssetPack,
): Generator<ParityCase> {
  using reference = Model.fromXml(referenceXml(recording, pack), { name: `${recording.folder}/model.xml` });
  yield exact("model: sizes that differ", differingSizes(model, reference));
  yield exact("model: names that differ", differingNames(model, reference));
  yield exact("model: arrays that differ", differingArrays(model, reference));
}

/** Everything that differs, by name. */
export const modelDifferences = (ours: Model, reference: Model): string[] => [
  ...differingSizes(ours, reference),
  ...differingNames(ours, reference),
  ...differingArrays(ours, reference),
];

const exact = (name: string, differing: readonly string[]): ParityCase => ({
  name: differing.length === 0 ? name : `${name} (${differing.slice(0, 4).join(", ")})`,
  ok: differing.length === 0,
  worst: differing.length,
  tolerance: 0,
});

/** Recorded asset paths begin with a prefix that stands for a folder. */
function referenceXml({ folder, meta }: Recording, pack: AssetPack): string {
  let xml = readFileSync(join(folder, "model.xml"), "utf8");
  for (const prefix of Object.values(meta.path_prefixes)) {
    xml = xml.replaceAll(`file="${prefix}/`, `file="${pack.resolve(prefix)}/`);
  }
  return xml;
}

/** Sizes of text tables hold file paths and names of the model itself; they say nothing about the world. */
const notCompared = new Set(["npaths", "nnames", "nbuffer", "nnames_map"]);
const differingSizes = (ours: Model, reference: Model): string[] =>
  Object.keys(reference.sizes).filter(
    (size) => !notCompared.has(size) && ours.sizes[size] !== reference.sizes[size],
  );

const differingNames = (ours: Model, reference: Model): string[] =>
  named.flatMap((kind) => {
    const [a, b] = [ours.names(kind), reference.names(kind)];
    return b.flatMap((name, id) => (a[id] === name ? [] : [`${kind} ${name}`]));
  });

/** Addresses into those text tables are not compared either. */
const isText = (array: string): boolean => /^names|^paths$|^name_|_pathadr$/.test(array);

const differingArrays = (ours: Model, reference: Model): string[] =>
  reference.arrayNames().filter((array) => {
    if (isText(array)) return false;
    const [a, b] = [ours.array(array), reference.array(array)];
    return a.length !== b.length || !Buffer.from(bytesOf(a)).equals(bytesOf(b));
  });

const bytesOf = (view: ArrayBufferView): Buffer => Buffer.from(view.buffer, view.byteOffset, view.byteLength);
