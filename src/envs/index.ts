/** Environments: simulated benchmarks and their engine. */
export type { AssetPack, InitStates, TaskEntry } from "./engine/pack.ts";
export * from "./learned/index.ts";
export { liberoFolder } from "./libero/folder.ts";
export { liberoPack } from "./libero/pack.ts";
export { type Prepared, type PrepareOptions, prepareLibero } from "./libero/prepare/prepare.ts";
export { environmentSections } from "./sections/index.ts";
