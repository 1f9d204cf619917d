"""Prints, as JSON, what the real tools find in a finished run's folder: {"tensorboard": {name: [[step, value]]}, ...}.

Both W&B and SwanLab keep offline runs as protobuf records in LevelDB's log framing; the messages are decoded by
the SDKs' own generated classes.
"""
import glob
import json
import struct
import sys


def read_tensorboard(folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(f"{folder}/tensorboard")
    events.Reload()
    scalars = {tag: [[e.step, e.value] for e in events.Scalars(tag)] for tag in events.Tags()["scalars"]}
    images = {tag: [[e.step, e.width, e.height] for e in events.Images(tag)] for tag in events.Tags()["images"]}
    texts = {tag: events.Tensors(tag)[0].tensor_proto.string_val[0].decode() for tag in events.Tags()["tensors"]}
    return {"scalars": scalars, "images": images, "texts": texts}


def records(path):
    """https://github.com/google/leveldb/blob/main/doc/log_format.md, after a header of 7 bytes."""
    data = open(path, "rb").read()
    at, parts = 7, b""
    while at + 7 <= len(data):
        if 32768 - at % 32768 < 7:
            at += 32768 - at % 32768
            continue
        _, length, kind = struct.unpack("<IHB", data[at : at + 7])
        parts += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # FULL or LAST
            yield parts
            parts = b""


def read_wandb(folder):
    from wandb.proto import wandb_internal_pb2

    series, config, ids = {}, {}, []
    paths = sorted(glob.glob(f"{folder}/wandb/offline-run-*/*.wandb"))
    for message in (message for path in paths for message in records(path)):
        record = wandb_internal_pb2.Record()
        record.ParseFromString(message)
        if record.run.run_id:
            ids.append(record.run.run_id)
        for item in record.run.config.update:
            config[item.key or ".".join(item.nested_key)] = json.loads(item.value_json)
        values = {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in record.history.item}
        for name, value in values.items():
            if not name.startswith("_"):
                series.setdefault(name, []).append([values["_step"], value])
    return {"scalars": series, "config": config, "ids": ids}


def read_swanlab(folder):
    from swanlab.proto.swanlab.record.v1 import record_pb2

    series = {}
    paths = sorted(glob.glob(f"{folder}/swanlab/run-*/*.swanlab"))
    for message in (message for path in paths for message in records(path)):
        record = record_pb2.Record()
        record.ParseFromString(message)
        if record.HasField("scalar"):
            point = [record.scalar.step, record.scalar.value.number]
            series.setdefault(record.scalar.key, []).append(point)
    return {"scalars": series, "ids": [path.split("run-")[-1].removesuffix(".swanlab") for path in paths]}


readers = {"tensorboard": read_tensorboard, "wandb": read_wandb, "swanlab": read_swanlab}
folder, *services = sys.argv[1:]
# JSON has no NaN; the test sees null in its place.
text = json.dumps({service: readers[service](folder) for service in services})
print(json.dumps(json.loads(text, parse_constant=lambda name: None)))
