"""Torch's SummaryWriter and ours with equal calls: TensorBoard reads equal values from both.

Run with a Python that has torch, tensorboard, pillow and matplotlib. ``--record FILE`` keeps what it read of
torch's files, for the tests that have no torch.
"""

import io
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np
import torch
from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.custom_scalar.layout_pb2 import Layout
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData
from tensorboard.util import tensor_util
from torch import nn
from torch.utils.tensorboard import SummaryWriter as TorchWriter

from mindinsight.writer import SummaryWriter
from tests.writer.plain_values import digest, layout_charts, number, pixels
from tests.writer.summary_writer.calls import WALL, calls, record_tensors

EVERYTHING = dict.fromkeys(("scalars", "images", "histograms", "tensors", "audio"), 0)


def accumulator(directory):
    loaded = EventAccumulator(str(directory), size_guidance=EVERYTHING, purge_orphaned_data=False)
    loaded.Reload()
    return loaded


def read(directory):
    """What TensorBoard reads, in the form of tests/writer/tensorboard_messages.py."""
    folders = sorted({path.parent for path in directory.rglob("*tfevents*")})
    return {folder.relative_to(directory).as_posix(): run(accumulator(folder)) for folder in folders}


def run(loaded):
    tags = {}
    for tag in loaded.Tags()["scalars"]:
        tags[tag] = [[event.step, "scalar", number(event.value)] for event in loaded.Scalars(tag)]
    for tag in loaded.Tags()["images"]:
        tags[tag] = [[event.step, "image", *image(event)] for event in loaded.Images(tag)]
    for tag in loaded.Tags()["histograms"]:
        events = loaded.Histograms(tag)
        tags[tag] = [[event.step, "histogram", *histogram(event.histogram_value)] for event in events]
    for tag in loaded.Tags()["audio"]:
        tags[tag] = [[event.step, "audio", *audio(event)] for event in loaded.Audio(tag)]
    for tag in loaded.Tags()["tensors"]:
        events = loaded.Tensors(tag)
        tags[tag] = [[event.step, *tensor(loaded, tag, event.tensor_proto)] for event in events]
    for tag, content in contents_of_hparams(loaded).items():
        tags[tag] = [[5, "hparams", hparams(content)]]
    return tags


def contents_of_hparams(loaded):
    try:
        return loaded.PluginTagToContent("hparams")
    except KeyError:
        return {}


def image(event):
    encoded = event.encoded_image_string
    with Image.open(io.BytesIO(encoded)) as picture:
        return event.width, event.height, len(picture.getbands()), pixels(encoded)


def audio(event):
    return event.sample_rate, event.length_frames, event.content_type, digest(event.encoded_audio_string)


def histogram(value):
    sums = map(number, (value.min, value.max, value.num, value.sum, value.sum_squares))
    return *sums, list(value.bucket_limit), list(value.bucket)


def tensor(loaded, tag, proto):
    plugin = loaded.SummaryMetadata(tag).plugin_data.plugin_name
    if plugin == "custom_scalars":
        return "layout", layout_charts(Layout.FromString(proto.string_val[0]))
    array = tensor_util.make_ndarray(proto)
    if array.dtype.kind in "SO":
        return plugin, [text.decode() for text in array.reshape(-1).tolist()]
    return plugin, list(array.shape), [number(item) for item in array.reshape(-1).tolist()]


def hparams(content):
    message = HParamsPluginData.FromString(content)
    declared = {
        info.name: [info.type, [plain(choice) for choice in info.domain_discrete.values]]
        for info in message.experiment.hparam_infos
    }
    values = {key: plain(value) for key, value in message.session_start_info.hparams.items()}
    metrics = [info.name.tag for info in message.experiment.metric_infos]
    return [declared, metrics, values, message.session_end_info.status]


def plain(value):
    return getattr(value, value.WhichOneof("kind")) if value.WhichOneof("kind") else None


def check_equal_calls(base, copy):
    with TorchWriter(base / "torch") as theirs, SummaryWriter(base / "ours", format="tensorboard") as ours:
        for writer in (theirs, ours):
            calls(writer, torch.from_numpy)
            record_tensors(writer, torch.from_numpy)
    expected, written = read(base / "torch"), read(base / "ours")
    for name in sorted(expected):
        for tag in sorted(expected[name]):
            theirs, ours = expected[name][tag], written[name].get(tag)
            assert theirs == ours, f"{name} {tag}: torch {theirs}, ours {ours}"
        assert set(written[name]) == set(expected[name]), name
    assert written == expected
    if copy:
        Path(copy).write_text(json.dumps(expected, ensure_ascii=False, separators=(",", ":")) + "\n")
    return sum(len(tags) for tags in expected.values())


def our_writer(path, **options):
    return SummaryWriter(path, format="tensorboard", **options)


def check_walls_and_order(base):
    for folder in ("torch", "ours"):
        walls = [event.wall_time for event in accumulator(base / folder).Scalars("loss")]
        assert walls == [WALL, WALL + 1, WALL + 2], walls


def check_what_torch_loses(base):
    """Types whose bits torch puts where readers do not look, booleans, and values outside of all buckets."""
    with SummaryWriter(base / "better", format="tensorboard") as writer:
        for dtype in (torch.float16, torch.bfloat16, torch.uint8):
            writer.add_tensor(str(dtype), torch.arange(4).to(dtype), 1)
        writer.add_histogram("large", torch.tensor([1.0, 1e30, -1e30, float("inf")]), 1)
        writer.add_hparams({"shuffle": True}, {"m": 1.0}, run_name="trial")
    loaded = accumulator(base / "better")
    for dtype in (torch.float16, torch.uint8):
        values = tensor_util.make_ndarray(loaded.Tensors(str(dtype))[0].tensor_proto)
        assert values.tolist() == [0, 1, 2, 3], (dtype, values)
    proto = loaded.Tensors("torch.bfloat16")[0].tensor_proto
    bits = np.frombuffer(proto.tensor_content, "<u2").astype("<u4") << 16
    assert bits.view("<f4").tolist() == [0, 1, 2, 3]
    assert sum(loaded.Histograms("large")[0].histogram_value.bucket) == 4
    trial = accumulator(base / "better" / "trial").PluginTagToContent("hparams")
    assert hparams(trial["_hparams_/session_start_info"])[2] == {"shuffle": True}


def check_figures(base):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    read_pixels = []
    for name, make in (
        ("torch-figure", TorchWriter),
        ("our-figure", our_writer),
    ):
        with make(base / name) as writer:
            figures = [pyplot.figure(figsize=(2, 1)) for _ in range(2)]
            for figure in figures:
                figure.gca().plot([1, 3, 2])
            writer.add_figure("one", figures[0], 1, close=False)
            writer.add_figure("both", figures, 1)
            assert not pyplot.get_fignums()
        read_pixels.append(read(base / name))
    assert read_pixels[0] == read_pixels[1]


def check_graph(base):
    network = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
    with SummaryWriter(base / "graph", format="tensorboard") as writer:
        writer.add_graph(network, torch.zeros(1, 3))
    graph = accumulator(base / "graph").Graph()
    nodes = {node.name: node for node in graph.node}
    linear = next(node for name, node in nodes.items() if "0-Linear" in name)
    assert [dim.size for dim in linear.attr["_output_shapes"].list.shape[0].dim] == [1, 4]
    assert all(source in nodes for node in graph.node for source in node.input), "inputs are nodes"


def check_purge(base):
    """A restart hides, for EventAccumulator, the same points whichever writer marked it."""
    steps = []
    for name, make in (
        ("torch-purge", TorchWriter),
        ("our-purge", our_writer),
    ):
        with make(base / name) as writer:
            for step in range(6):
                writer.add_scalar("loss", step, step)
        time.sleep(1.1)  # torch names its files by the second
        with make(base / name, purge_step=3) as writer:
            writer.add_scalar("loss", 30, 3)
        loaded = EventAccumulator(str(base / name), size_guidance=EVERYTHING)
        loaded.Reload()
        steps.append([(event.step, event.value) for event in loaded.Scalars("loss")])
    assert steps[0] == steps[1] == [(0, 0), (1, 1), (2, 2), (3, 30)], steps


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        count = check_equal_calls(base, sys.argv[2] if sys.argv[1:2] == ["--record"] else None)
        check_walls_and_order(base)
        check_what_torch_loses(base)
        check_figures(base)
        check_graph(base)
        check_purge(base)
    print(f"SummaryWriter beside torch {torch.__version__}: {count} tags, figures, graph, restart: equal")
