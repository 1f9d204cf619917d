/** One recorded episode of Python LIBERO: what was done, what happened, and the scene to do it in again. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { isNumericArray, type NumericArray, readJsonFile, readNpz } from "#formats";
import type { Model } from "#mujoco";
import { UserError } from "#registry";
import { readBddl } from "../../../src/engine/bddl.ts";
import type { AssetPack, Quaternion, Vector3 } from "../../../src/engine/pack.ts";
import { assembleScene, type Scene } from "../../../src/engine/scene.ts";
import { SceneSimulation } from "../../../src/engine/scene-simulation.ts";

export interface Meta {
  readonly bddl: string;
  readonly seed: number;
  readonly settle_steps: number;
  readonly substeps: number;
  readonly success_step: number;
  readonly fixtures: Readonly<Record<string, { body: string; pos: Vector3; quat: Quaternion }>>;
  readonly predicates_step10: Readonly<Record<string, boolean | string>>;
  readonly predicates_final: Readonly<Record<string, boolean | string>>;
  readonly path_prefixes: Readonly<Record<string, string>>;
}

export interface Frame {
  readonly path: string;
  readonly step: number; // counted from 1
  readonly camera: string;
}

export interface Built extends Disposable {
  readonly scene: Scene;
  readonly model: Model;
  readonly world: SceneSimulation;
}

export interface Recording {
  readonly folder: string;
  readonly meta: Meta;
  readonly steps: number;
  readonly frames: readonly Frame[];
  /** A recorded array, flat. */
  numbers(name: string): Float64Array;
  flags(name: string): Uint8Array;
  /** Row `index` of an array with one row per control step, or per physics step. */
  row(name: string, index: number): Float64Array;
  build(pack: AssetPack): Built;
}

export function readRecording(folder: string): Recording {
  const meta = readJsonFile(join(folder, "meta.json")) as unknown as Meta;
  const arrays = readNpz(join(folder, "trace.npz"));
  const find = (name: string): NumericArray => {
    const array = arrays.get(name);
    if (!array || !isNumericArray(array))
      throw new UserError(`${folder}/trace.npz has no array of numbers "${name}"`);
    return array;
  };
  const numbers = (name: string) => {
    const { data } = find(name);
    if (data instanceof Float64Array) return data;
    throw new UserError(`${folder}/trace.npz: "${name}" is not of double precision`);
  };
  return {
    folder,
    meta,
    steps: find("actions").shape[0] ?? 0,
    frames: framesIn(folder),
    numbers,
    flags: (name) => find(name).data as Uint8Array,
    row: (name, index) => {
      const width = find(name).shape[1] ?? 1;
      return numbers(name).subarray(index * width, (index + 1) * width);
    },
    build: (pack) => build(pack, meta),
  };
}

function build(pack: AssetPack, { bddl }: Meta): Built {
  const scene = assembleScene(pack, readBddl(pack.resolve(`bddl_files/${bddl}`)));
  const model = SceneSimulation.compile(scene);
  const world = new SceneSimulation(scene, model);
  return {
    scene,
    model,
    world,
    [Symbol.dispose]() {
      world.dispose();
      model.dispose();
    },
  };
}

function framesIn(folder: string): Frame[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .flatMap((file) => {
      const [, step = "", camera = ""] = /^step(\d+)_(.+)\.png$/.exec(file) ?? [];
      return step === "" ? [] : [{ path: join(folder, file), step: Number(step), camera }];
    });
}
