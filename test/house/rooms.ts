/** Who may import whom: the table that test/house.test.ts holds every import to and scripts/draw-house.ts draws. */

/** Each room, and the rooms it may import. Read from the top: nothing imports what stands below it. */
export const rooms: Readonly<Record<string, readonly string[]>> = {
  registry: [],
  tensor: ["registry"],
  mujoco: ["registry"],
  formats: ["registry", "tensor"],
  data: ["tensor"],
  nn: ["tensor", "registry", "formats"],
  config: ["registry"],
  metrics: ["registry", "formats"],
  algorithms: ["data", "tensor", "registry"],
  policies: ["data", "tensor", "nn", "formats", "registry"],
  worlds: ["data", "tensor", "nn", "formats", "registry"],
  rewards: ["data", "tensor", "nn", "formats", "registry"],
  pictures: ["registry", "formats"],
  envs: ["data", "tensor", "mujoco", "formats", "worlds", "rewards", "nn", "pictures", "registry"],
  cluster: ["data", "tensor", "config", "metrics", "registry"],
  workers: [
    "cluster",
    "algorithms",
    "policies",
    "envs",
    "pictures",
    "data",
    "tensor",
    "config",
    "metrics",
    "registry",
  ],
  training:
    "workers cluster algorithms policies worlds rewards envs pictures metrics config nn data formats mujoco tensor registry".split(
      " ",
    ),
  serve: ["policies", "data", "tensor", "formats", "registry"],
};

/** The command line may open every room. */
export const openToAll = "cli";
