/**
 * The published policies and worlds that the guides and our configurations name, and how to get one of them.
 *
 * `docs/checkpoints.md` shows this list as a table; a test holds the two together. Sizes are those of the weights, computed from
 * the published key lists (bf16 has 2 bytes for a number, fp32 has 4); a repository may hold more.
 */

export interface PublishedFiles {
  /** As `reverie fetch` takes it. */
  readonly name: string;
  readonly what: string;
  readonly gigabytes: number;
}

const oft = (name: string, what: string): PublishedFiles => ({
  name,
  what: `OpenVLA-OFT, ${what}`,
  gigabytes: 15.1,
});
const adapters = (name: string, what: string): PublishedFiles => ({ ...oft(name, what), gigabytes: 0.2 });
const pi0 = (name: string, what: string): PublishedFiles => ({ name, what, gigabytes: 8.1 });
const world = (name: string, what: string, gigabytes: number): PublishedFiles => ({ name, what, gigabytes });

export const published: readonly PublishedFiles[] = [
  ...["libero-spatial", "libero-object", "libero-goal"].map((suite) =>
    oft(`Haozhan72/Openvla-oft-SFT-${suite}-traj1`, `one demonstration per task of ${suite}`),
  ),
  oft("Haozhan72/Openvla-oft-SFT-libero10-traj1", "one demonstration per task of libero-10"),
  oft("RLinf/RLinf-OpenVLAOFT-LIBERO-90-Base-Lora", "before RL, 90 tasks"),
  oft("RLinf/RLinf-OpenVLAOFT-LIBERO-130-Base-Lora", "before RL, 130 tasks"),
  oft("RLinf/RLinf-OpenVLAOFT-LIBERO-130", "after GRPO, 130 tasks"),
  oft("RLinf/RLinf-OpenVLAOFT-ManiSkill-Base-Main", "before RL, ManiSkill"),
  adapters("RLinf/RLinf-OpenVLAOFT-ManiSkill-Base-Lora", "adapters over the line above"),
  oft("RLinf/RLinf-OpenVLAOFT-Behavior", "before RL, BEHAVIOR"),
  ...["spatial", "goal", "object", "long"].map((suite) =>
    oft(
      `RLinf/RLinf-OpenVLAOFT-GRPO-Behavior-${suite}`,
      `after GRPO, named by the BEHAVIOR guide (${suite})`,
    ),
  ),
  { name: "openvla/openvla-7b", what: "OpenVLA", gigabytes: 15.1 },
  pi0("RLinf/RLinf-Pi0-LIBERO-Spatial-Object-Goal-SFT", "π0, three LIBERO suites"),
  pi0("RLinf/RLinf-Pi0-LIBERO-Long-SFT", "π0, libero-10"),
  { name: "RLinf/RLinf-Pi05-LIBERO-SFT", what: "π0.5, LIBERO", gigabytes: 8.3 },
  pi0("RLinf/RLinf-Pi0-Behavior", "π0, BEHAVIOR"),
  ...["Spatial", "Object"].map((suite) =>
    world(
      `RLinf/RLinf-OpenSora-LIBERO-${suite}`,
      `OpenSora world with reward model and starts, LIBERO-${suite}`,
      2.6,
    ),
  ),
  ...["Spatial", "Object", "Goal"].map((suite) =>
    world(`RLinf/RLinf-Wan-LIBERO-${suite}`, `Wan world with reward model and starts, LIBERO-${suite}`, 11.5),
  ),
  world(
    "datasets/jzndd/evac_for_rlinf",
    "EVAC world with reward model, action predictor and starts, LIBERO-Spatial",
    9.3,
  ),
  world(
    "laion/CLIP-ViT-H-14-laion2B-s32B-b79K",
    "CLIP; not needed here: EVAC's file holds these weights",
    3.9,
  ),
];

/** The published files that a path of a configuration means: a part of it has their name. */
export function publishedAt(path: string): PublishedFiles | undefined {
  const parts = path.split("/");
  const named = ({ name }: PublishedFiles): boolean => parts.includes(name.slice(name.lastIndexOf("/") + 1));
  return published.find(named);
}

/** What to do about a file that is not there: the command, if it is published. */
export function whereToGet(path: string): string | undefined {
  const found = publishedAt(path);
  if (found)
    return `get it with: reverie fetch ${found.name} (about ${found.gigabytes} GB), and set this to the folder that it prints`;
  if (/^\/?path[/_]?to\//i.test(path))
    return "this path only holds a place: docs/checkpoints.md lists what is published; reverie fetch OWNER/NAME brings it and prints the folder";
  return undefined;
}
