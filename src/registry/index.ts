/** Named things that can be looked up and extended, and the one kind of error that a user can fix. */
export type { FamilySettings, Footprint } from "./family-settings.ts";
export { nearest } from "./nearest.ts";
export { ownEntry } from "./own-entry.ts";
export { Registry } from "./registry.ts";
export { asUserError, systemRefusal } from "./system-error.ts";
export { UserError } from "./user-error.ts";
