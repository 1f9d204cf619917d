import assert from "node:assert/strict";
import { test } from "node:test";
import { clusterFrame } from "./frame/cluster.ts";
import { type ClusterShape, clusterShape, placeComponents } from "./placement.ts";

const shape = (devices: number, nodes = 1): ClusterShape => ({ nodes, devices, simulated: true });
const place = (
  component_placement: Record<string, unknown>,
  on: ClusterShape,
  more: Record<string, unknown> = {},
) => {
  const cluster = clusterFrame.parse({ num_nodes: on.nodes, component_placement, ...more });
  return Object.fromEntries(
    [...placeComponents(cluster, on)].map(([name, processes]) => [
      name,
      processes.map((each) => each.devices.join("+")).join(" "),
    ]),
  );
};

test("shared, hybrid and separated placements of the seeds are understood", () => {
  assert.deepEqual(place({ "env,rollout, actor": "all" }, shape(2)), {
    env: "0 1",
    rollout: "0 1",
    actor: "0 1",
  });
  assert.deepEqual(place({ env: "0-1", rollout: "2-3", actor: "0-3" }, shape(4, 2)), {
    env: "0 1",
    rollout: "2 3",
    actor: "0 1 2 3",
  });
  assert.deepEqual(place({ env: 0, rollout: "1", actor: "2,3" }, shape(4)), {
    env: "0",
    rollout: "1",
    actor: "2 3",
  });
});

test("fewer processes than resources hold several each, more processes share them", () => {
  assert.deepEqual(place({ actor: "0-3:0-1" }, shape(4)), { actor: "0+1 2+3" });
  assert.deepEqual(place({ env: "0-1:0-3" }, shape(4)), { env: "0 0 1 1" });
});

test("a part without process ranks goes on from the part before", () => {
  assert.deepEqual(place({ env: "0-1:0-3,2-3,4-5:6-6" }, shape(8)), { env: "0 0 1 1 2 3 4+5" });
});

test("without accelerators the nodes are the resources", () => {
  const placed = placeComponents(
    clusterFrame.parse({ num_nodes: 2, component_placement: { env: "all" } }),
    shape(0, 2),
  );
  assert.deepEqual(placed.get("env"), [
    { rank: 0, node: 0, devices: [] },
    { rank: 1, node: 1, devices: [] },
  ]);
});

test("a node group counts its own accelerators", () => {
  const groups = { node_groups: [{ label: "big", node_ranks: "1" }] };
  assert.deepEqual(place({ actor: { node_group: "big", placement: "0-1" } }, shape(4, 2), groups), {
    actor: "2 3",
  });
});

test("impossible placements are refused with the reason", () => {
  const refuse = (spec: string, reason: RegExp, on = shape(4)) =>
    assert.throws(() => place({ actor: spec }, on), reason);
  refuse("0-7", /needs number 7, but the cluster has 4 accelerators.*cluster\.simulated_devices=8/);
  refuse("0-1", /one node and no accelerator/, shape(0));
  refuse("3-1", /expected "all", "3" or "0-3"/);
  refuse("0,0", /numbers must rise/);
  refuse("0-1:1-2", /must go on from 0/);
  refuse("0-2:0-1", /do not divide one another/);
  refuse("0-3:0", /would span 2 nodes/, shape(4, 2));
  assert.throws(() => place({ "env,actor": "all", actor: "0" }, shape(2)), /names actor twice/);
});

test("simulated accelerators must fill the nodes evenly", () => {
  const cluster = (devices: number, nodes: number) =>
    clusterFrame.parse({ num_nodes: nodes, component_placement: {}, simulated_devices: devices });
  assert.deepEqual(clusterShape(cluster(16, 2), 0), { nodes: 2, devices: 16, simulated: true });
  assert.throws(() => clusterShape(cluster(15, 2), 0), /cannot share evenly/);
});
