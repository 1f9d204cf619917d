/** `meta/info.json` of a LeRobot dataset: what its tables hold. */
import type { Demonstrations } from "../demonstrations/reader.ts";

const robotTypes: Readonly<Record<string, string>> = {
  libero: "panda",
  tabletop: "tabletop_arm",
  home: "home_dual_arm",
};

/** Of the main camera, then of each wrist. */
export const cameraNames = ({ wrist, hands = 1 }: Demonstrations["info"]): string[] => [
  "observation.images.image",
  ...Array.from({ length: wrist ? hands : 0 }, (_, hand) => `observation.images.image${hand + 2}`),
];

export function describeDataset({ info, episodes }: Demonstrations): object {
  return {
    codebase_version: "v3.0",
    robot_type: robotTypes[info.pack] ?? info.pack,
    total_episodes: episodes.length,
    total_frames: episodes.reduce((sum, { length }) => sum + length, 0),
    total_tasks: info.tasks.length,
    chunks_size: 1000,
    data_files_size_in_mb: 100,
    video_files_size_in_mb: 200,
    fps: info.fps,
    splits: { train: `0:${episodes.length}` },
    data_path: "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet",
    video_path: null,
    features: features(info),
  };
}

function features(info: Demonstrations["info"]): object {
  const { width, height, hands = 1 } = info;
  const picture = { dtype: "image", shape: [height, width, 3], names: ["height", "width", "channel"] };
  const scalar = (dtype: string) => ({ dtype, shape: [1], names: null });
  const ofHands = (names: string[]) =>
    hands === 1 ? names : ["left", "right"].flatMap((hand) => names.map((name) => `${hand}_${name}`));
  const motion = ofHands(["x", "y", "z", "roll", "pitch", "yaw", "gripper"]);
  const pose = ofHands(["x", "y", "z", "axis_angle1", "axis_angle2", "axis_angle3", "finger1", "finger2"]);
  return {
    ...Object.fromEntries(cameraNames(info).map((name) => [name, picture])),
    "observation.state": { dtype: "float32", shape: [pose.length], names: pose },
    action: { dtype: "float32", shape: [motion.length], names: motion },
    executed_action: { dtype: "float32", shape: [motion.length], names: motion },
    "next.success": scalar("bool"),
    timestamp: scalar("float32"),
    frame_index: scalar("int64"),
    episode_index: scalar("int64"),
    index: scalar("int64"),
    task_index: scalar("int64"),
  };
}
