/** `cluster`: how many machines, and which component runs on which accelerators. */
import { z } from "zod";

/** "all", "0-3", "0,2,5", "0-3:0-1" (resources, then process ranks), or a single number. */
const placementText = z.union([z.string(), z.int().min(0)]);

const placement = z.union([
  placementText,
  z.strictObject({
    node_group: z.string().describe("label of a node group, or several separated by commas"),
    placement: placementText,
  }),
]);

export const clusterFrame = z.strictObject({
  num_nodes: z.int().min(0).describe("machines to wait for; 0 takes all that are connected"),
  component_placement: z
    .record(z.string(), placement)
    .describe(
      "which accelerators the actor, rollout and env components use: all, 0-3, 0,2, or a node group with a placement; see Placement",
    ),
  simulated_devices: z
    .int()
    .positive()
    .nullish()
    .describe("pretend that the cluster has this many accelerators: plan or train a large placement on CPU"),
  launcher: z.enum(["local", "ray"]).default("local").describe("who starts the workers"),
  node_groups: z
    .array(z.looseObject({ label: z.string() }))
    .nullish()
    .describe("named groups of machines for placements: label and node_ranks"),
  profiling: z.looseObject({}).nullish().describe("no effect here: not available"),
  tracer: z.looseObject({}).nullish().describe("no effect here: not available"),
  net_emulation: z.looseObject({}).nullish().describe("no effect here: not available"),
  auto_scheduler: z.boolean().nullish().describe("no effect here: not available"),
});
