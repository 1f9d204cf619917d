/** The only door to MuJoCo: models, simulations, and pictures of them. */
export { listRenderers, type RendererReport } from "./backends.ts";
export { Model } from "./model.ts";
export type { ObjectKind } from "./object-kinds.ts";
export { flipRows, Renderer } from "./renderer.ts";
export { mujocoVersion, Simulation } from "./simulation.ts";
