/**
 * Which process of which component runs on which accelerators (`cluster.component_placement`).
 *
 *   spec  := part ("," part)*          part := resources [":" process ranks]
 *   resources, ranks := "all" | n | n-m
 *
 * A part without process ranks gets one process per resource, numbered on from the part before. With ranks,
 * the two counts must divide one another: fewer processes hold several resources each, more processes share
 * them. Nothing is reserved: components that name the same accelerator share it.
 */
import { UserError } from "#registry";
import type { RunConfig } from "./frame/index.ts";

export interface ClusterShape {
  readonly nodes: number;
  /**
   * Accelerators over all nodes, numbered in node order; 0 on machines without any: then the nodes are the
   * resources.
   */
  readonly devices: number;
  readonly simulated: boolean;
}

export interface Process {
  readonly rank: number;
  readonly node: number;
  readonly devices: readonly number[]; // global numbers; empty without accelerators
}

export type Placement = ReadonlyMap<string, readonly Process[]>;

/** The machine's shape, unless the configuration asks to simulate another. */
export function clusterShape(cluster: RunConfig["cluster"], devicesHere: number): ClusterShape {
  const nodes = Math.max(1, cluster.num_nodes);
  const { simulated_devices: simulated } = cluster;
  if (simulated === undefined || simulated === null) return { nodes, devices: devicesHere, simulated: false };
  if (simulated % nodes !== 0) {
    throw new UserError(
      `cluster.simulated_devices is ${simulated}, which ${nodes} nodes cannot share evenly`,
    );
  }
  return { nodes, devices: simulated, simulated: true };
}

export function placeComponents(cluster: RunConfig["cluster"], shape: ClusterShape): Placement {
  const placement = new Map<string, readonly Process[]>();
  for (const [names, spec] of Object.entries(cluster.component_placement)) {
    const pool = resourcePool(spec, cluster, shape);
    const text = typeof spec === "object" ? spec.placement : spec;
    for (const name of names.split(",").map((each) => each.trim())) {
      if (placement.has(name)) throw new UserError(`component_placement names ${name} twice`);
      placement.set(name, placeComponent(String(text).trim(), name, pool, shape));
    }
  }
  return placement;
}

/** What "0", "1", … mean for a component: accelerators of the cluster or of a node group, or nodes. */
interface Pool {
  readonly kind: "devices" | "nodes";
  readonly ids: readonly number[];
}

function resourcePool(spec: unknown, cluster: RunConfig["cluster"], shape: ClusterShape): Pool {
  const label =
    typeof spec === "object" && spec !== null ? (spec as { node_group: string }).node_group : "cluster";
  const nodes = Array.from({ length: shape.nodes }, (_, node) => node);
  if (label === "node" || (label === "cluster" && shape.devices === 0)) return { kind: "nodes", ids: nodes };
  const chosen = label === "cluster" ? nodes : groupNodes(label, cluster);
  const each = shape.devices / shape.nodes;
  const ids = chosen.flatMap((node) => Array.from({ length: each }, (_, i) => node * each + i));
  return shape.devices === 0 ? { kind: "nodes", ids: chosen } : { kind: "devices", ids };
}

function groupNodes(labels: string, cluster: RunConfig["cluster"]): number[] {
  return labels.split(",").flatMap((label) => {
    const group = cluster.node_groups?.find((each) => each.label === label.trim());
    if (!group)
      throw new UserError(
        `component_placement names the node group "${label}", which cluster.node_groups lacks`,
      );
    return rangeList(String(group.node_ranks ?? ""), "node_ranks");
  });
}

function rangeList(text: string, what: string): number[] {
  return text.split(",").flatMap((part) => range(part.trim(), what));
}

function range(text: string, what: string): number[] {
  const [, from, to = from] = /^(\d+)(?:-(\d+))?$/.exec(text) ?? [];
  const [first, last] = [Number(from), Number(to)];
  if (from === undefined || last < first)
    throw new UserError(`${what}: expected "all", "3" or "0-3", found "${text}"`);
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

function placeComponent(text: string, name: string, pool: Pool, shape: ClusterShape): Process[] {
  const taken: number[] = [];
  const processes: Process[] = [];
  for (const part of text.split(",").map((each) => each.trim())) {
    const [resourceText = "", rankText, ...extra] = part.split(":");
    if (extra.length > 0) throw new UserError(`component_placement.${name}: "${part}" has more than one ":"`);
    const resources =
      resourceText === "all" ? pool.ids.map((_, i) => i) : range(resourceText, `component_placement.${name}`);
    const ranks =
      rankText === undefined
        ? resources.map((_, i) => processes.length + i)
        : range(rankText, `component_placement.${name}`);
    checkPart(name, part, resources, ranks, taken, processes.length, pool);
    taken.push(...resources);
    processes.push(...spread(name, resources, ranks, pool, shape));
  }
  return processes;
}

function checkPart(
  name: string,
  part: string,
  resources: readonly number[],
  ranks: readonly number[],
  taken: readonly number[],
  nextRank: number,
  pool: Pool,
): void {
  const where = `component_placement.${name}: "${part}"`;
  const [first = 0] = resources;
  const last = resources.at(-1) ?? 0;
  if (last >= pool.ids.length) {
    const have =
      pool.kind === "devices"
        ? `${pool.ids.length} accelerators`
        : `${pool.ids.length === 1 ? "one node" : `${pool.ids.length} nodes`} and no accelerator`;
    throw new UserError(
      `${where} needs number ${last}, but the cluster has ${have}; use "all", or cluster.simulated_devices=${last + 1} to plan for a larger one`,
    );
  }
  if (first <= (taken.at(-1) ?? -1)) throw new UserError(`${where}: numbers must rise, each named once`);
  if (ranks[0] !== nextRank) throw new UserError(`${where}: process ranks must go on from ${nextRank}`);
  if (resources.length % ranks.length !== 0 && ranks.length % resources.length !== 0) {
    throw new UserError(
      `${where}: ${ranks.length} processes and ${resources.length} resources do not divide one another`,
    );
  }
}

function spread(
  name: string,
  resources: readonly number[],
  ranks: readonly number[],
  pool: Pool,
  shape: ClusterShape,
): Process[] {
  const perProcess = Math.max(1, resources.length / ranks.length);
  const sharing = Math.max(1, ranks.length / resources.length);
  const devicesPerNode = shape.devices / shape.nodes;
  return ranks.map((rank, i) => {
    const from = Math.floor(i / sharing) * perProcess;
    const ids = resources.slice(from, from + perProcess).map((resource) => pool.ids[resource] ?? 0);
    if (pool.kind === "nodes") return { rank, node: ids[0] ?? 0, devices: [] };
    const nodes = [...new Set(ids.map((device) => Math.floor(device / devicesPerNode)))];
    if (nodes.length > 1)
      throw new UserError(`component_placement.${name}: process ${rank} would span ${nodes.length} nodes`);
    return { rank, node: nodes[0] ?? 0, devices: ids };
  });
}
