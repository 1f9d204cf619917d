/**
 * How each environment's section of a configuration looks, by `env_type`: its own keys, strict, and what it
 * needs of the machine.
 *
 * Apart from the environments themselves, so that a configuration can be checked without loading a simulator
 * or a world model.
 */
import { type FamilySettings, Registry } from "#registry";

export const environmentSections = new Registry<FamilySettings>("environment (env_type)", {
  libero: async () => (await import("./libero.ts")).liberoSection,
  opensora_wm: async () => (await import("./opensora.ts")).openSoraSection,
  wan_wm: async () => (await import("./wan.ts")).wanSection,
  evac_wm: async () => (await import("./evac.ts")).evacSection,
  behavior: async () => (await import("./behavior.ts")).behaviorSection,
  maniskill: async () => (await import("./maniskill.ts")).maniskillSection,
});
