/** What a plugin may add, and how it is put among what the house has. */
export { definePlugin, type PluginParts } from "./define-plugin.ts";
