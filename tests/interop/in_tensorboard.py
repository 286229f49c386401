"""Event files as torch, tensorboardX and tensorboard's own summaries write them, and what TensorBoard reads.

    python in_tensorboard.py DIR

needs torch, tensorboardX and tensorboard. Writes runs below ``DIR/runs``, and into ``DIR/expected.json`` what
``EventAccumulator`` reads in them without a limit. ``tests/data/tfevents`` was made so.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import sys
import warnings
from pathlib import Path

import numpy as np

DTYPES = ("float16", "bfloat16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64", "bool")
WALL = 1_700_000_000.0
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
warnings.filterwarnings("ignore")


def png(rng, mode="RGB", size=(5, 4)):
    from PIL import Image

    pixels = rng.integers(0, 255, (size[1], size[0], len(mode)), dtype=np.uint8)
    sink = io.BytesIO()
    Image.fromarray(pixels.squeeze(), mode).save(sink, "PNG")
    return sink.getvalue()


def by_torch(folder, rng):
    import torch
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(folder / "torch") as writer:
        for step in range(20):
            writer.add_scalar("loss/train", 1 / (step + 1), step, walltime=WALL + step)
            writer.add_scalar("new", step / 20, step, walltime=WALL + step, new_style=True)
            writer.add_scalar(
                "exact", step / 3, step, walltime=WALL + step, new_style=True, double_precision=True
            )
        for step, number in enumerate([float("nan"), float("inf"), -float("inf"), 0.0, -1e-45, 3e38]):
            writer.add_scalar("odd", number, step, walltime=WALL)
        for step in (-5, 0, 2**53 + 1, 2**62):
            writer.add_scalar("steps", float(step), step, walltime=WALL)
        for step in range(2):
            writer.add_histogram("weights", rng.standard_normal(50), step, walltime=WALL + step)
            writer.add_histogram("few", rng.standard_normal(50), step, bins="sqrt", walltime=WALL + step)
            writer.add_image("picture", rng.integers(0, 255, (3, 4, 5), dtype=np.uint8), step, walltime=WALL)
            writer.add_text("note", f"# Step {step}\n\na **bold** `word`", step, walltime=WALL + step)
        writer.add_pr_curve("pr", rng.integers(0, 2, 50), rng.random(50), 1, num_thresholds=7, walltime=WALL)
        for name in DTYPES:
            tensor = (torch.arange(6).reshape(2, 3) / 2).to(getattr(torch, name))
            writer.add_tensor(f"tensor/{name}", tensor, 3, walltime=WALL)
        writer.add_audio("sound", torch.sin(torch.arange(80) / 5.0)[None], 0, sample_rate=8000, walltime=WALL)
        writer.add_scalars("groups/accuracy", {"a": 1, "b": 2}, 1, walltime=WALL)
        hparams = {"lr": 0.1, "layers": 3, "name": "adam", "flag": True}
        writer.add_hparams(hparams, {"hparam/accuracy": 0.9, "hparam/loss": 0.1}, run_name="trial")
        writer.add_custom_scalars({"Loss": {"both": ["Multiline", ["loss/.*", "new"]]}})
        writer.add_mesh("mesh", torch.rand(1, 4, 3), global_step=0, walltime=WALL)
    with SummaryWriter(folder / "graph") as writer:
        writer.add_graph(torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU()), torch.rand(1, 3))
    _purged(folder / "purged", SummaryWriter)


def _purged(folder, writer_class):
    for first, kwargs in ((0, {}), (5, {"purge_step": 5})):
        with writer_class(folder, filename_suffix=f".{first}", **kwargs) as writer:
            for step in range(first, 10 - first // 2):
                writer.add_scalar("loss", 100 * first + step, step, walltime=WALL + first + step)


def by_tensorboardx(folder, rng):
    from tensorboardX import SummaryWriter

    with SummaryWriter(str(folder / "x")) as writer:
        for step in range(12):
            writer.add_scalar("loss", 1 / (step + 1), step, walltime=WALL + step)
        writer.add_histogram("weights", rng.standard_normal(50), 1, walltime=WALL)
        writer.add_image("picture", rng.integers(0, 255, (3, 4, 5), dtype=np.uint8), 1, walltime=WALL)
        writer.add_text("note", "hello *world*", 1, walltime=WALL)
        writer.add_hparams({"lr": 0.1, "layers": 3, "flag": True}, {"accuracy": 0.9}, name="trial")
        writer.add_scalars("groups/accuracy", {"a": 1, "b": 2}, 1, walltime=WALL)


def by_tensorboard(folder, rng):
    """TensorFlow-style tensors: metadata on the first event of a tag only."""
    from tensorboard.compat.proto import event_pb2, summary_pb2
    from tensorboard.plugins.audio import metadata as audio
    from tensorboard.plugins.histogram.summary_v2 import histogram_pb
    from tensorboard.plugins.image import metadata as image
    from tensorboard.plugins.scalar.summary_v2 import scalar_pb
    from tensorboard.plugins.text.summary_v2 import text_pb
    from tensorboard.summary.writer.event_file_writer import EventFileWriter
    from tensorboard.util.tensor_util import make_tensor_proto

    writer = EventFileWriter(str(folder / "tensors" / "train"))
    session = event_pb2.SessionLog(status=event_pb2.SessionLog.START)

    def add(step, summary, keep):
        for value in summary.value:
            if not keep:
                value.ClearField("metadata")
        writer.add_event(event_pb2.Event(wall_time=WALL + step, step=step, summary=summary))

    def tensor_of(tag, data, metadata):
        value = summary_pb2.Summary.Value(tag=tag, tensor=make_tensor_proto(data), metadata=metadata)
        return summary_pb2.Summary(value=[value])

    pictures = image.create_summary_metadata("", "")
    sounds = audio.create_summary_metadata("", "", audio.Encoding.Value("WAV"))
    wave = b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x40\x1f\0\0\1\0\x08\0data\0\0\0\0"
    for step in range(6):
        first = step == 0
        add(step, scalar_pb("loss", 0.5**step), first)
        add(step, histogram_pb("weights", rng.standard_normal(40), buckets=4), first)
        add(step, text_pb("note", f"step {step}"), first)
        add(step, tensor_of("one", [b"5", b"4", png(rng)], pictures), first)
        add(step, tensor_of("two", [b"5", b"4", png(rng), png(rng)], pictures), first)
        add(step, tensor_of("sound", [[wave, b"label"]], sounds), first)
        add(step, tensor_of("plain", rng.standard_normal((2, 2)).astype(np.float32), None), first)
        add(
            step, tensor_of("table", [[b"a", b"b|c"], [b"1", b"2"]], text_pb("", "").value[0].metadata), first
        )
    writer.add_event(event_pb2.Event(wall_time=WALL + 9, step=3, session_log=session))
    for step in range(3, 5):
        add(step, scalar_pb("loss", 100.0 + step), False)
    edges = [-1.7976931348623157e308, -1.0, 0.0, 1.0, 1.7976931348623157e308]
    histo = summary_pb2.HistogramProto(
        min=-2.5, max=3.5, num=9, sum=1, sum_squares=9, bucket_limit=edges, bucket=[0, 2, 3, 4, 0]
    )
    value = summary_pb2.Summary.Value(tag="legacy", histo=histo)
    add(1, summary_pb2.Summary(value=[value]), True)
    writer.close()


def accumulated(folder):
    """What EventAccumulator reads of a run, as JSON."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util.tensor_util import make_ndarray

    kinds = ["scalars", "images", "histograms", "compressedHistograms", "tensors", "audio"]
    run = EventAccumulator(str(folder), dict.fromkeys(kinds, 0)).Reload()
    tags = run.Tags()

    def plugin(tag):
        known = tag in run.summary_metadata
        return run.SummaryMetadata(tag).plugin_data.plugin_name if known else ""

    def histogram(value):
        facts = [repr(getattr(value, name)) for name in ("min", "max", "num", "sum")]
        return [*facts, list(map(repr, value.bucket_limit)), list(value.bucket)]

    def tensor(event):
        proto = event.tensor_proto
        if proto.dtype == 7:
            return [digest(text) for text in proto.string_val]
        if proto.half_val and max(proto.half_val) > 0xFFFF:  # torch puts the bits of float32 there
            return np.array(proto.half_val, np.uint32).view(np.float32).tolist()
        field = proto.uint32_val if proto.uint32_val else None
        return list(field) if field else make_ndarray(proto).astype(np.float64).ravel().tolist()

    return {
        "scalars": {
            tag: [[e.step, e.wall_time, repr(e.value)] for e in run.Scalars(tag)] for tag in tags["scalars"]
        },
        "images": {
            tag: [[e.step, e.width, e.height, digest(e.encoded_image_string)] for e in run.Images(tag)]
            for tag in tags["images"]
        },
        "audio": {
            tag: [[e.step, digest(e.encoded_audio_string)] for e in run.Audio(tag)] for tag in tags["audio"]
        },
        "histograms": {
            tag: [[e.step, *histogram(e.histogram_value)] for e in run.Histograms(tag)]
            for tag in tags["histograms"]
        },
        "tensors": {
            tag: {
                "plugin": plugin(tag),
                "values": [
                    [e.step, [d.size for d in e.tensor_proto.tensor_shape.dim], list(map(str, tensor(e)))]
                    for e in run.Tensors(tag)
                ],
            }
            for tag in tags["tensors"]
        },
        "graph": [[n.name, n.op, list(n.input)] for n in graph_of(run)] if tags["graph"] else [],
    }


def graph_of(run):
    from tensorboard.compat.proto.graph_pb2 import GraphDef

    return (run.Graph() if run.Graph() else GraphDef()).node


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def main(target):
    runs = target / "runs"
    rng = np.random.default_rng(22)
    for write in (by_torch, by_tensorboardx, by_tensorboard):
        write(runs, rng)
    for number, path in enumerate(sorted(runs.rglob("*tfevents*"))):  # names without this machine
        suffix = path.name.rpartition(".")[2]
        path.rename(path.with_name(f"events.out.tfevents.{int(WALL)}.host.{number}.{suffix}"))
    folders = sorted({path.parent for path in runs.rglob("*tfevents*")})
    expected = {str(folder.relative_to(runs)): accumulated(folder) for folder in folders}
    (target / "expected.json").write_text(json.dumps(expected, separators=(",", ":"), sort_keys=True) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
