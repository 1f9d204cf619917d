"""Opens an exported dataset with the real lerobot package and compares it with the demonstrations it came from.

usage: check_dataset.py DATASET DEMONSTRATIONS
"""
import os
import sys

os.environ["HF_HUB_OFFLINE"] = "1"
import numpy as np
import torch

try:
    import torchvision  # noqa: F401
except RuntimeError:  # a CUDA build on a machine without CUDA: its Python part is all that lerobot needs here
    for name in [name for name in sys.modules if name.startswith("torchvision")]:
        del sys.modules[name]
    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(name + "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
from lerobot.datasets.lerobot_dataset import LeRobotDataset
from safetensors.numpy import load_file

root, demonstrations = sys.argv[1:3]
dataset = LeRobotDataset("local/check", root=root, delta_timestamps={"action": [step / 20 for step in range(8)]})
shard = load_file(os.path.join(demonstrations, "shard-00000.safetensors"))
index = 0
for episode, (first, length) in enumerate(zip(shard["first_frames"], shard["lengths"])):
    for frame in range(int(length)):
        item, row = dataset[index], int(first) + frame
        picture = (item["observation.images.image"].numpy() * 255).round().astype(np.uint8).transpose(1, 2, 0)
        assert item["episode_index"].item() == episode and item["frame_index"].item() == frame
        assert np.array_equal(picture, shard["main_images"][row]), f"picture of frame {index}"
        assert np.array_equal(item["observation.state"].numpy(), shard["states"][row])
        assert np.array_equal(item["action"][0].numpy(), shard["expert_actions"][row])
        assert np.array_equal(item["executed_action"].numpy(), shard["actions"][row])
        assert item["task"] == list(dataset.meta.tasks.index)[int(shard["tasks"][episode])]
        index += 1
print(f"identical: {index} frames of {len(dataset)}, {dataset.num_episodes} episodes")
