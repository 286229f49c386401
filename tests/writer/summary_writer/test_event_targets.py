"""SummaryWriter in our own format: what a summary file and a lineage file hold."""

import io
import json
import math
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.proto.graph_pb2 import GraphProto
from mindinsight.server.client.reader import Summary
from mindinsight.writer import GraphBuilder, SummaryWriter
from tests.writer.conftest import Reading


def values_of(reading: Reading, tag: str) -> Any:
    return [(step, value) for step, value in reading.values() if value.tag == tag]


def test_scalars_are_exact_and_have_their_times(reading: Reading) -> None:
    with SummaryWriter(reading.directory) as writer:
        writer.add_scalar("loss", 0.5, 1, walltime=123.5)
        writer.add_scalar("odd", float("nan"), 2, new_style=True)
        writer.add_scalar("small", 1e-300, 2, double_precision=True)
        writer.add_scalars("acc", {"train": 0.75, "test": 0.25}, 3)
    numbers = {(step, tag): number for step, tag, number in reading.scalars()}
    assert numbers[1, "loss"] == 0.5
    assert math.isnan(numbers[2, "odd"])
    assert numbers[2, "small"] == 1e-300
    assert (numbers[3, "acc/train"], numbers[3, "acc/test"]) == (0.75, 0.25)
    assert reading.events()[0].wall_time == 123.5


def test_pictures_are_stored_as_their_bytes(reading: Reading) -> None:
    with SummaryWriter(reading.directory) as writer:
        writer.add_image("bright", np.full((3, 4, 5), 1.0), 1)
        writer.add_images("batch", np.zeros((10, 1, 4, 5), np.uint8), 1)
    ((_, bright),), ((_, batch),) = values_of(reading, "bright"), values_of(reading, "batch")
    assert (bright.image.width, bright.image.height, bright.image.colorspace) == (5, 4, 3)
    assert (batch.image.width, batch.image.height, batch.image.colorspace) == (8 * 5, 2 * 4, 1)


def test_tensors_keep_shape_and_type(reading: Reading) -> None:
    with SummaryWriter(reading.directory) as writer:
        writer.add_tensor("matrix", np.arange(6, dtype=np.float32).reshape(2, 3), 1)
        writer.add_tensor("number", np.float32(3), 1)
    ((_, matrix),), ((_, number),) = values_of(reading, "matrix"), values_of(reading, "number")
    assert list(matrix.tensor.dims) == [2, 3]
    assert list(number.tensor.float_data) == [3.0]


def test_histograms_have_mindspores_buckets_or_the_ones_asked_for(reading: Reading) -> None:
    numbers = np.array([0.0, 1.0, 2.0, np.nan])
    with SummaryWriter(reading.directory) as writer:
        writer.add_histogram("default", numbers, 1)
        writer.add_histogram("edges", numbers, 1, bins=[0.0, 0.5, 1.5])
        writer.add_histogram_raw("raw", 0.25, 3, 4, 6, 14, [1, 2, 3], [1, 2, 1], 1)
        writer.add_histogram("nothing", np.array([np.nan]), 1, max_bins=5)
    histograms = {
        tag: values_of(reading, tag)[0][1].histogram for tag in ("default", "edges", "raw", "nothing")
    }
    assert (histograms["default"].count, histograms["default"].nan_count) == (4, 1)
    edges = [
        (bucket.left, bucket.left + bucket.width, bucket.count) for bucket in histograms["edges"].buckets
    ]
    assert edges == [(0.0, 0.5, 1), (0.5, 1.5, 1)]
    assert (histograms["edges"].count, histograms["edges"].nan_count) == (4, 1)
    assert (histograms["edges"].min, histograms["edges"].max, histograms["edges"].sum) == (0.0, 2.0, 3.0)
    raw = [(bucket.left, bucket.left + bucket.width, bucket.count) for bucket in histograms["raw"].buckets]
    assert raw == [(0.25, 1.0, 1), (1.0, 2.0, 2), (2.0, 3.0, 1)]
    assert (
        histograms["nothing"].count,
        histograms["nothing"].nan_count,
        len(histograms["nothing"].buckets),
    ) == (1, 1, 0)


def test_texts_are_texts(reading: Reading) -> None:
    with SummaryWriter(reading.directory) as writer:
        writer.add_text("notes", "**bold** 注意", 3)
    ((step, value),) = values_of(reading, "notes")
    assert (step, value.text.content) == (3, "**bold** 注意")


def test_fractions_of_counts_are_refused_in_words(reading: Reading) -> None:
    with SummaryWriter(reading.directory) as writer, pytest.raises(ValueError, match="format='tensorboard'"):
        writer.add_histogram_raw("raw", 0, 1, 1, 1, 1, [1.0], [0.5])


def test_hyper_parameters_are_lineage(reading: Reading) -> None:
    with SummaryWriter(reading.directory) as writer:
        writer.add_hparams({"lr": 0.1, "batch_size": 32, "shuffle": True}, {"accuracy": 0.75}, global_step=9)
    events = {event.WhichOneof("what"): event for event in reading.lineage()}
    train = events["train_lineage"].train_lineage
    assert (train.hyper_parameters.learning_rate, train.hyper_parameters.batch_size) == (np.float32(0.1), 32)
    assert json.loads(events["evaluation_lineage"].evaluation_lineage.metric) == {"accuracy": 0.75}


def test_metrics_of_hyper_parameters_leave_the_curve_of_their_name(tmp_path: Path) -> None:
    def train(writer: SummaryWriter) -> None:
        for step in range(4):
            writer.add_scalar("accuracy", step / 4, step)

    with SummaryWriter(tmp_path / "one") as writer:
        train(writer)
        writer.add_hparams({"lr": 0.1}, {"accuracy": 0.99, "f1": 0.5})
    with SummaryWriter(tmp_path / "two") as writer:
        train(writer)
    with SummaryWriter(tmp_path / "two") as writer:
        writer.add_hparams({"lr": 0.1}, {"accuracy": 0.99, "f1": 0.5})
    summary = Summary(tmp_path)
    for run in map(summary.run, summary.runs):
        line = run.scalars["accuracy"].line()
        assert (line.steps.tolist(), line.values.tolist()) == ([0, 1, 2, 3], [0.0, 0.25, 0.5, 0.75])
        assert list(run.scalars) == ["accuracy"]
        assert run.lineage is not None and run.lineage.metrics == {"accuracy": 0.99, "f1": 0.5}


def test_a_named_trial_is_a_run_below(reading: Reading, reading_of: Any) -> None:
    with SummaryWriter(reading.directory) as writer:
        writer.add_hparams({"lr": 0.1}, {"accuracy": 0.75}, run_name="trial")
    assert not reading.lineage()
    assert len(reading_of(reading.directory / "trial").lineage()) == 3


def test_a_graph_is_a_graph(reading: Reading) -> None:
    builder = GraphBuilder("net")
    builder.output(builder.node("Relu", [builder.parameter("x", [2], "float32")], [2], "float32"))
    with SummaryWriter(reading.directory) as writer:
        writer.add_graph(builder)
    (graph,) = [event.graph_def for event in reading.events() if event.HasField("graph_def")]
    assert isinstance(graph, GraphProto) and graph.node[0].op_type == "Relu"


def test_sounds_curves_and_layouts_are_in_our_files(reading: Reading) -> None:
    with SummaryWriter(reading.directory) as writer:
        writer.add_scalar("loss", 0.5, 1)
        writer.add_audio("sound", np.zeros(8), 1, sample_rate=4)
        writer.add_pr_curve("pr", [0, 1], [0.25, 0.75], 1, num_thresholds=3)
        writer.add_custom_scalars_multilinechart(["loss"], "all", "losses")
        writer.flush()
    values = {value.tag: value for _, value in reading.values()}
    with wave.open(io.BytesIO(values["sound"].audio.encoded)) as sound:
        assert (sound.getframerate(), sound.getnframes()) == (4, 8)
    assert list(values["pr"].pr_curve.dims) == [6, 3]
    (category,) = values["custom_scalars__config__"].layout.category
    assert (category.title, list(category.chart[0].multiline.tag)) == ("all", ["loss"])
    assert values["loss"].scalar_value == 0.5


def test_the_files_say_how_the_training_ended(reading: Reading, records_of: Any) -> None:
    from mindinsight.proto.summary_pb2 import Event

    with pytest.raises(RuntimeError), SummaryWriter(reading.directory) as writer:
        writer.add_scalar("loss", 0.5, 1)
        raise RuntimeError("out of memory")
    (path,) = reading.files()
    assert Event.FromString(records_of(path)[0][-1]).closing.error == "RuntimeError: out of memory"
