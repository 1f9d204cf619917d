/** Named things that can be looked up and extended, the one kind of error that a user can fix, what a worker is, and how waits end. */
export { Late, within } from "./deadline.ts";
export type { FamilySettings, Footprint } from "./family-settings.ts";
export { nearest } from "./nearest.ts";
export { ownEntry } from "./own-entry.ts";
export { inheritPlugins, loadedPlugins, loadPlugins, type Plugin } from "./plugins.ts";
export { Catalog, Registry } from "./registry.ts";
export { setUpAdvice, setUpFolder } from "./set-up-folder.ts";
export { asUserError, systemRefusal } from "./system-error.ts";
export { UserError } from "./user-error.ts";
export {
  type CallOptions,
  type Launcher,
  type Methods,
  type Patience,
  WorkerLost,
  type WorkerProgram,
  type WorkerRef,
  type WorkerSpec,
} from "./worker.ts";
