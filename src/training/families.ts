/**
 * Where a configuration's families are found: the one place that joins the configuration with the registries.
 */
import { algorithms } from "#algorithms";
import type { Families } from "#config";
import { environmentSection } from "#envs";
import { loggers } from "#metrics";
import { policies, weightsFootprint } from "#policies";

export const families: Families = {
  environment: environmentSection,
  logger: (name) => loggers.find(name),
  algorithm: (name) => algorithms.get(name),
  policy: async (name) => ({ footprint: weightsFootprint, ...(await policies.get(name)) }),
};
