/** The only door to MuJoCo: models, simulations, and pictures of them. */
export type { ArrayView, DataArrays, ModelArrays } from "./arrays.ts";
export { type Backend, backendNames, listRenderers, type RendererReport } from "./backends.ts";
export type { Assets } from "./fingerprint.ts";
export { type LoadOptions, Model } from "./model.ts";
export type { ObjectKind } from "./object-kinds.ts";
export {
  type Camera,
  type FreeCamera,
  flipRows,
  Renderer,
  type RendererOptions,
  type SceneFlag,
} from "./renderer.ts";
export {
  type Contact,
  mujocoVersion,
  Simulation,
  type SimulationOptions,
  takeWarnings,
} from "./simulation.ts";
export type { StatePart } from "./state-parts.ts";
