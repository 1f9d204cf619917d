/**
 * The MuJoCo addon as TypeScript sees it: free functions over opaque handles.
 *
 * Only this file opens it. What people use are the classes `Model`, `Simulation` and `Renderer`.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { setUpAdvice, setUpFolder, UserError } from "#registry";

declare const brand: unique symbol;
type Handle<Kind extends string> = { readonly [brand]: Kind };
export type ModelHandle = Handle<"model">;
export type SimulationHandle = Handle<"simulation">;
export type RendererHandle = Handle<"renderer">;

/** Where an array lies in its buffer: element type, byte offset, rows, columns. */
export type FieldPlace = readonly [
  type: "d" | "f" | "i" | "b",
  offset: number,
  rows: number,
  columns: number,
];
export type FieldTable = Readonly<Record<string, FieldPlace>>;

export interface MujocoAddon {
  version(): string;
  takeWarnings(): string[];

  loadModel(key: string, xml: string | null, path: string | null, assets: unknown[] | null): ModelHandle;
  loadBinary(key: string, path: string): ModelHandle;
  saveModel(model: ModelHandle, path: string): void;
  modelIsCached(key: string): boolean;
  modelSizes(model: ModelHandle): Record<string, number>;
  modelMemory(model: ModelHandle): { buffer: ArrayBuffer; fields: FieldTable };
  nameToId(model: ModelHandle, kind: number, name: string): number;
  idToName(model: ModelHandle, kind: number, id: number): string | undefined;
  disposeModel(model: ModelHandle): void;

  createSimulation(model: ModelHandle, owned: readonly string[]): SimulationHandle;
  simulationMemory(simulation: SimulationHandle): {
    buffer: ArrayBuffer;
    fields: FieldTable;
    ownedBuffer: ArrayBuffer;
    ownedFields: FieldTable;
  };
  disposeSimulation(simulation: SimulationHandle): void;
  step(simulation: SimulationHandle, count: number): void;
  step1(simulation: SimulationHandle): void;
  step2(simulation: SimulationHandle): void;
  forward(simulation: SimulationHandle): void;
  kinematics(simulation: SimulationHandle): void;
  reset(simulation: SimulationHandle): void;
  resetToKeyframe(simulation: SimulationHandle, key: number): void;
  getTime(simulation: SimulationHandle): number;
  setTime(simulation: SimulationHandle, time: number): void;
  jacobianOfBody: JacobianFunction;
  jacobianOfCentreOfMass: JacobianFunction;
  jacobianOfGeom: JacobianFunction;
  jacobianOfSite: JacobianFunction;
  fullMassMatrix(simulation: SimulationHandle, out: Float64Array): void;
  contactPairs(simulation: SimulationHandle, out: Int32Array): number;
  contactAt(simulation: SimulationHandle, index: number, out: Float64Array): void;
  stateSize(simulation: SimulationHandle, parts: number): number;
  getState(simulation: SimulationHandle, parts: number, out: Float64Array): void;
  setState(simulation: SimulationHandle, parts: number, state: Float64Array): void;
  getOptions(simulation: SimulationHandle): Record<string, number>;
  setOption(simulation: SimulationHandle, name: string, value: number): void;
  setGravity(simulation: SimulationHandle, x: number, y: number, z: number): void;

  createRenderer(
    model: ModelHandle,
    backend: string,
    device: number,
    width: number,
    height: number,
    samples: number,
    maxGeoms: number,
  ): RendererHandle;
  describeRenderer(renderer: RendererHandle): { backend: string; description: string; samples: number };
  setGroup(renderer: RendererHandle, kind: "geom" | "site", group: number, shown: boolean): void;
  setSceneFlag(renderer: RendererHandle, flag: number, on: boolean): void;
  setVisualFlag(renderer: RendererHandle, flag: number, on: boolean): void;
  setFreeCamera(
    renderer: RendererHandle,
    x: number,
    y: number,
    z: number,
    distance: number,
    azimuth: number,
    elevation: number,
  ): void;
  render(
    renderer: RendererHandle,
    simulation: SimulationHandle,
    camera: number,
    color: Uint8Array | null,
    depth: Float32Array | null,
  ): void;
  segment(renderer: RendererHandle, simulation: SimulationHandle, camera: number, out: Int32Array): void;
  disposeRenderer(renderer: RendererHandle): void;
  probeRenderer(backend: string, device: number): string;
  countDevices(): number;
}

type JacobianFunction = (
  simulation: SimulationHandle,
  id: number,
  translation: Float64Array,
  rotation: Float64Array,
) => void;

let opened: MujocoAddon | undefined;

/** Opens the addon on first use, so that a program that never simulates does not need it. */
export function addon(): MujocoAddon {
  opened ??= open();
  return opened;
}

function open(): MujocoAddon {
  try {
    return createRequire(import.meta.url)(join(setUpFolder(), "build", "mujoco.node")) as MujocoAddon;
  } catch (error) {
    throw new UserError(
      `the MuJoCo addon does not load: ${(error as Error).message.split("\n")[0]}; build it with \`${setUpAdvice()}\``,
    );
  }
}

/** The addon's errors carry a code: MODEL, GL, DISPOSED, ARGUMENT or ENGINE. */
export const hasCode = (error: unknown, code: string): error is Error & { code: string } =>
  error instanceof Error && (error as { code?: string }).code === code;
