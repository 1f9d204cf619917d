/**
 * Where a configuration's families are found: the one place that joins the configuration with the registries.
 */
import { algorithms } from "#algorithms";
import type { Families } from "#config";
import { environmentSections } from "#envs";
import { policies, policyFootprint } from "#policies";

export const families: Families = {
  environment: (name) => environmentSections.get(name),
  algorithm: (name) => algorithms.get(name),
  policy: async (name) => {
    const { settings } = await policies.get(name);
    return { settings, footprint: (section) => policyFootprint(name, section) };
  },
};
