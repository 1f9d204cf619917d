/** Named things that can be looked up and extended, and the one kind of error that a user can fix. */
export type { FamilySettings, Footprint } from "./family-settings.ts";
export { Registry } from "./registry.ts";
export { UserError } from "./user-error.ts";
