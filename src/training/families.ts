/**
 * Where a configuration's families are found: the one place that joins the configuration with the registries.
 */
import { algorithms } from "#algorithms";
import type { Families } from "#config";
import { environmentSections, environments, unplayableText } from "#envs";
import { policies, policyFootprint } from "#policies";

export const families: Families = {
  environment: async (name) => {
    const section = await environmentSections.get(name);
    return environments.has(name) ? section : { ...section, unplayable: unplayableText(name) };
  },
  algorithm: (name) => algorithms.get(name),
  policy: async (name) => {
    const { settings } = await policies.get(name);
    return { settings, footprint: (section) => policyFootprint(name, section) };
  },
};
