"""Runs with every kind of value, and what a reader must find in them."""

import math
from pathlib import Path

import numpy as np

from mindinsight.writer import SummaryRecord
from mindinsight.writer.graph import GraphBuilder
from mindinsight.writer.landscape import loss_landscape

SCALARS = {
    "loss/auto": [0.5, 0.25, 0.125],
    "large": [float((1 << 24) + 1), 1e300, 1e-300],
    "odd 权重": [math.nan, math.inf, -math.inf],
    "system/gpu.0/percent": [50.0, 60.0, 70.0],  # of the machine, which others show as any scalar
}
TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
         "float32", "float64", "bfloat16"]  # fmt: skip
PIXELS = np.arange(2 * 3 * 4 * 5, dtype=np.uint8).reshape(2, 3, 4, 5)
LANDSCAPE = [[0.0, 0.25, 0.5], [1.0, 1.25, 1.5], [2.0, 2.25, 2.5]]
OURS = {  # kinds that MindInsight has not: fields it must pass over
    "text": "**passed** over",
    "audio": (np.zeros(8, np.float32), 8000),
    "pr_curve": (np.array([0, 1, 1]), np.array([0.1, 0.4, 0.9])),
    "layout": {"losses": {"both": ["Multiline", ["loss"]]}},
    "code": {"command": ["python", "train.py"], "packages": {"numpy": "2.0"}},
}
ROLLED = [step / 4 for step in range(900)]


class Bfloat16:
    """A tensor as MindSpore and PyTorch give it; NumPy has no such type."""

    dtype = "bfloat16"

    def float(self):
        return self

    def asnumpy(self):
        return np.array([[1.5, -2.0]], np.float32)


def tensor(dtype):
    return Bfloat16() if dtype == "bfloat16" else np.array([[0, 1, 2]]).astype(dtype)


def write(base):
    """Write the runs ``kinds``, ``types_*`` and ``rolled`` below ``base``."""
    write_kinds(base / "kinds")
    for start in range(0, len(TYPES), 6):  # MindInsight keeps six tensor tags of a run
        with SummaryRecord(base / f"types_{start // 6}") as record:
            for dtype in TYPES[start : start + 6]:
                record.add_value("tensor", dtype, tensor(dtype))
                record.add_value("histogram", dtype, tensor(dtype))
            record.record(1)
    with SummaryRecord(base / "rolled", max_file_size=8192) as record:
        for step, number in enumerate(ROLLED):
            record.add_value("scalar", "loss", number)
            record.record(step)


def write_kinds(directory):
    with SummaryRecord(directory) as record:
        console = directory / "console.1790000000.7.0000.log"  # another file beside the event files
        console.write_text("# mindinsight console 1 0\n1790000000.000 b printed\n", encoding="utf-8")
        record.add_value("graph", "graph", graph())
        for kind, facts in LINEAGE.items():
            record.add_value(kind, kind, facts)
        record.add_value("landscape", "landscape_[1, 5]", landscape())
        for step in range(3):
            for tag, numbers in SCALARS.items():
                record.add_value("scalar", tag, numbers[step])
            record.add_value("image", "picture", PIXELS + np.uint8(step))
            record.add_value("image", "gray", PIXELS[:1, :1])
            record.add_value("histogram", "weights", np.arange(100.0) + step)
            for kind, value in OURS.items():
                record.add_value(kind, f"{kind} of ours", value)
            record.alert(f"passed over by others {step}", "all of it", "error", step)
            record.record(step)


LINEAGE = {
    "dataset_graph": {"op_type": "Batch", "children": [{"op_type": "MnistDataset"}]},
    "custom_lineage_data": {"trial": 3, "rate": 0.25, "kind": "b", "large": 1 << 40},
    "train_lineage": {"optimizer": "Adam", "learning_rate": 0.5, "epoch": 2, "network": "LeNet",
                      "loss": 0.125, "batch_size": 8, "train_dataset_size": 40, "device_num": 1,
                      "loss_function": "CE"},
    "eval_lineage": {"metrics": {"Accuracy": 0.75}, "valid_dataset_size": 10},
}  # fmt: skip


def graph():
    builder = GraphBuilder("LeNet")
    inputs = builder.parameter("x", (32, 4))
    with builder.scope("fc1-Dense"):
        product = builder.node("MatMul", [inputs, builder.parameter("fc1.weight", (4, 8))], shape=(32, 8))
        builder.node("ReLU", [product], shape=(32, 8))
    builder.output(product)
    return builder


def landscape():
    side = [0.0, 0.5, 1.0]
    return loss_landscape(
        side, side, LANDSCAPE, path=(side, side, [0.5, 0.25, 0.125]), intervals=[1, 3, 5],
        convergence=(0.0, 0.0, 0.125), unit="step", step_per_epoch=10,
    )  # fmt: skip


def numbers_shown(tag):
    """What a reader of float32 shows: its nearest, nothing for what is not finite."""
    with np.errstate(over="ignore"):
        narrow = [float(np.float32(number)) for number in SCALARS[tag]]
    return [number if math.isfinite(number) else None for number in narrow]


def picture_shown(step):
    """The pixels of both pictures side by side, height, width, channels."""
    return np.concatenate(list((PIXELS + np.uint8(step)).transpose(0, 2, 3, 1)), axis=1)


def files_of(base):
    """The event files."""
    return [path for path in sorted(Path(base).rglob("*.summary.*")) if path.is_file()]
