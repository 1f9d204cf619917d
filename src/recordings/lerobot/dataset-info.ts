/** `meta/info.json` of a LeRobot dataset: what its tables hold. */
import type { Demonstrations } from "../demonstrations/reader.ts";

export function describeDataset({ info, episodes }: Demonstrations): object {
  return {
    codebase_version: "v3.0",
    robot_type: info.pack === "libero" ? "panda" : "tabletop_arm",
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

function features({ width, height, wrist }: Demonstrations["info"]): object {
  const picture = { dtype: "image", shape: [height, width, 3], names: ["height", "width", "channel"] };
  const scalar = (dtype: string) => ({ dtype, shape: [1], names: null });
  const motion = ["x", "y", "z", "roll", "pitch", "yaw", "gripper"];
  const pose = ["x", "y", "z", "axis_angle1", "axis_angle2", "axis_angle3", "finger1", "finger2"];
  return {
    "observation.images.image": picture,
    ...(wrist && { "observation.images.image2": picture }),
    "observation.state": { dtype: "float32", shape: [8], names: pose },
    action: { dtype: "float32", shape: [7], names: motion },
    executed_action: { dtype: "float32", shape: [7], names: motion },
    "next.success": scalar("bool"),
    timestamp: scalar("float32"),
    frame_index: scalar("int64"),
    episode_index: scalar("int64"),
    index: scalar("int64"),
    task_index: scalar("int64"),
  };
}
