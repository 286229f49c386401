"""SummaryRecord as a training loop uses it."""

import logging
import math
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.proto.graph_pb2 import ModelProto
from mindinsight.proto.summary_pb2 import LossLandscape
from mindinsight.writer import SummaryRecord
from mindinsight.writer import record as variables
from mindinsight.writer.graph import GraphBuilder
from mindinsight.writer.network import graph_of
from mindinsight.writer.record import NetworkGraph

ARRAY = np.arange(6, dtype=np.float32).reshape(1, 1, 2, 3)


def test_values_come_back_with_tag_and_step(tmp_path: Path, reading: Any) -> None:
    with SummaryRecord(str(tmp_path)) as record:
        for step in range(5):
            record.add_value("scalar", "loss", step / 10)
            record.add_value("scalar", "count", step + (1 << 24))
            assert record.record(step) is True
    expected = [
        entry
        for step in range(5)
        for entry in ((step, "loss", float(np.float32(step / 10))), (step, "count", step + (1 << 24)))
    ]
    assert reading.scalars() == expected


int64 = st.integers(-(1 << 63), (1 << 63) - 1)


@given(st.lists(st.tuples(int64, st.floats(), st.text(min_size=1, max_size=9))))
def test_everything_recorded_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, reading_of: Any, points: Any
) -> None:
    directory = tmp_path_factory.mktemp("run")
    with SummaryRecord(directory) as record:
        for step, number, tag in points:
            record.add_value("scalar", tag, number)
            record.record(step)
    scalars = reading_of(directory).scalars()
    assert [(step, tag) for step, tag, _ in scalars] == [(step, tag) for step, _, tag in points]
    with np.errstate(over="ignore"):
        expected = [np.float32(number) for _, number, _ in points]
        np.testing.assert_array_equal([np.float32(number) for _, _, number in scalars], expected)


def test_one_event_holds_all_kinds_of_a_step(tmp_path: Path, reading: Any) -> None:
    with SummaryRecord(str(tmp_path)) as record:
        record.add_value("scalar", "s", 1)
        record.add_value("image", "i", ARRAY)
        record.add_value("tensor", "t", ARRAY)
        record.add_value("histogram", "h", ARRAY)
        record.add_value("landscape", "l", LossLandscape())
        before = time.time()
        record.record(3)
    (event,) = reading.events()
    kinds = [value.WhichOneof("value") for value in event.summary.value]
    assert kinds == ["scalar_value", "image", "tensor", "histogram", "loss_landscape"]
    assert before <= event.wall_time <= time.time()


def test_an_array_is_copied_when_it_is_added(tmp_path: Path, reading: Any) -> None:
    weights = np.zeros(1 << 18, np.float32)
    with SummaryRecord(str(tmp_path)) as record:
        for step in range(4):
            record.add_value("tensor", "w", weights)
            weights += 1
            record.record(step)
    assert [value.tensor.float_data[0] for _, value in reading.values()] == [0, 1, 2, 3]


@pytest.mark.parametrize("number", [True, 3, np.float32(3), np.array([[3]]), np.int8(3), np.float64(3)])
def test_a_scalar_may_be_any_one_number(tmp_path: Path, reading: Any, number: Any) -> None:
    with SummaryRecord(str(tmp_path)) as record:
        record.add_value("scalar", "s", number)
        record.record(1)
    assert reading.scalars() == [(1, "s", float(np.asarray(number).reshape(())))]


@pytest.mark.parametrize(
    ("plugin", "value", "error"),
    [
        ("scalar", np.zeros(2), ValueError),
        ("scalar", 1j, TypeError),
        ("scalar", "1", TypeError),
        ("scalar", 10**400, ValueError),
        ("tensor", 1.0, ValueError),
        ("tensor", np.zeros(2, complex), TypeError),
        ("histogram", 1.0, ValueError),
        ("histogram", [1j], TypeError),
        ("image", np.zeros((2, 2)), ValueError),
        ("image", np.zeros((1, 5, 2, 2)), ValueError),
        ("graph", b"\xff\xff", ValueError),
        ("graph", b"", ValueError),
        ("graph", 5, TypeError),
        ("train_lineage", ModelProto(), TypeError),
        ("landscape", {}, TypeError),
        ("sound", 1.0, ValueError),
        (3, 1.0, ValueError),
    ],
)
def test_what_is_not_of_the_kind_is_refused_and_costs_nothing_else(
    tmp_path: Path, reading: Any, plugin: Any, value: Any, error: Any
) -> None:
    with SummaryRecord(str(tmp_path)) as record:
        record.add_value("scalar", "kept", 1.0)
        with pytest.raises(error):
            record.add_value(plugin, "bad", value)
        record.record(1)
    assert reading.scalars() == [(1, "kept", 1.0)]


def test_a_network_that_cannot_be_traced_has_no_graph_and_costs_nothing(tmp_path: Path, reading: Any) -> None:
    with SummaryRecord(str(tmp_path)) as record:
        record.add_value("graph", "net", graph_of(lambda x: x))
        record.add_value("graph", "net", None, step=3)
        record.add_value("scalar", "kept", 1.0)
        record.record(1)
    assert reading.scalars() == [(1, "kept", 1.0)]


@pytest.mark.parametrize("name", ["", None, 3, [], "\ud800"])
def test_a_name_must_be_text(tmp_path: Path, name: Any) -> None:
    with SummaryRecord(str(tmp_path)) as record, pytest.raises(ValueError, match="name"):
        record.add_value("scalar", name, 1.0)


@pytest.mark.parametrize("name", ["loss/auto", "权重 é", "a" * 2000, "a\nb\x00"])
def test_any_text_is_a_tag(tmp_path: Path, reading: Any, name: Any) -> None:
    with SummaryRecord(str(tmp_path)) as record:
        record.add_value("scalar", name, 1.0)
        record.record(1)
    assert reading.scalars() == [(1, name, 1.0)]


def test_the_same_name_twice_keeps_both(tmp_path: Path, reading: Any) -> None:
    with SummaryRecord(str(tmp_path)) as record:
        record.add_value("scalar", "s", 1.0)
        record.add_value("scalar", "s", 2.0)
        record.record(1)
    assert reading.scalars() == [(1, "s", 1.0), (1, "s", 2.0)]


@pytest.mark.parametrize("step", [True, 1.0, "1", None])
def test_a_step_must_be_an_integer(tmp_path: Path, step: Any) -> None:
    with SummaryRecord(str(tmp_path)) as record, pytest.raises(TypeError, match="step"):
        record.record(step)


def test_a_step_must_fit_64_bits(tmp_path: Path) -> None:
    with SummaryRecord(str(tmp_path)) as record, pytest.raises(ValueError, match="step"):
        record.record(1 << 63)


def test_a_numpy_step_will_do(tmp_path: Path, reading: Any) -> None:
    with SummaryRecord(str(tmp_path)) as record:
        record.add_value("scalar", "s", 1.0)
        record.record(np.int64(7))  # type: ignore[arg-type]
    assert reading.scalars() == [(7, "s", 1.0)]


def test_a_plugin_filter_discards(tmp_path: Path, reading: Any) -> None:
    with SummaryRecord(str(tmp_path)) as record:
        record.add_value("scalar", "s", 1.0)
        record.add_value("tensor", "t", ARRAY)
        record.record(1, plugin_filter=lambda plugin: plugin == "tensor")
        record.record(2)
    assert [(step, value.tag) for step, value in reading.values()] == [(1, "t")]


def test_without_values_there_is_no_file(tmp_path: Path, reading: Any) -> None:
    with SummaryRecord(str(tmp_path)) as record:
        record.record(1)
    assert reading.files() == []


def test_graph_and_lineage_go_where_they_belong(tmp_path: Path, reading: Any) -> None:
    model = ModelProto()
    model.graph.name = "net"
    with SummaryRecord(str(tmp_path)) as record:
        record.add_value("graph", "g", model.SerializeToString())
        record.add_value("custom_lineage_data", "c", {"lr": 0.1})
        record.add_value("scalar", "s", 1.0)
        record.record(1)
    graph, scalars = reading.events()
    assert graph.graph_def.name == "net"
    assert not graph.HasField("step")
    assert scalars.summary.value[0].tag == "s"
    (lineage,) = reading.lineage()
    assert dict(lineage.user_defined_info.user_info[0].map_double) == {"lr": 0.1}


def test_flush_makes_values_readable(tmp_path: Path, reading: Any) -> None:
    record = SummaryRecord(str(tmp_path), flush_seconds=3600)
    record.add_value("scalar", "s", 1.0)
    record.record(1)
    record.flush()
    assert reading.scalars() == [(1, "s", 1.0)]
    record.close()


def test_log_dir_is_the_summary_file(tmp_path: Path, reading: Any) -> None:
    with SummaryRecord(str(tmp_path), file_prefix="xx_", file_suffix="_yy") as record:
        promised = record.log_dir
        record.add_value("scalar", "s", 1.0)
        record.record(1)
    (path,) = reading.files("_yy")
    assert str(path) == promised
    assert path.name.startswith("xx_.out.events.summary.")


def test_recorders_in_one_directory_have_files_of_their_own(tmp_path: Path, reading: Any) -> None:
    recorders = [SummaryRecord(str(tmp_path)) for _ in range(3)]
    for index, record in enumerate(recorders):
        record.add_value("scalar", f"s{index}", 1.0)
        record.record(1)
        record.close()
    assert len(reading.files()) == 3
    assert sorted(tag for _, tag, _ in reading.scalars()) == ["s0", "s1", "s2"]


def test_a_limit_on_the_file_begins_a_next_one(tmp_path: Path, reading: Any) -> None:
    with SummaryRecord(str(tmp_path), max_file_size=4096) as record:
        for step in range(1000):
            record.add_value("scalar", "loss", step)
            record.record(step)
    assert [number for _, _, number in reading.scalars()] == list(range(1000))
    assert all(path.stat().st_size <= 4096 for path in reading.files())
    assert len(reading.files()) > 5


@pytest.mark.parametrize("size", [0, -1])
def test_a_limit_of_nothing_is_no_limit(
    tmp_path: Path, reading: Any, size: int, caplog: pytest.LogCaptureFixture
) -> None:
    with SummaryRecord(str(tmp_path), max_file_size=size) as record:
        record.add_value("scalar", "s", 1.0)
        record.record(1)
    assert reading.scalars() == [(1, "s", 1.0)]
    assert "not limited" in caplog.text


def test_a_step_larger_than_a_message_is_refused_and_training_goes_on(
    tmp_path: Path, reading: Any, caplog: pytest.LogCaptureFixture
) -> None:
    huge = np.broadcast_to(np.float32(1), (600_000_000,))  # takes four bytes
    with SummaryRecord(str(tmp_path)) as record:
        record.add_value("tensor", "huge", huge)
        record.add_value("scalar", "s", 1.0)
        record.record(1)
    assert reading.scalars() == [(1, "s", 1.0)]
    assert "'huge' of step 1" in caplog.text
    assert "2147483647" in caplog.text


def test_it_is_raised_when_asked_for(tmp_path: Path) -> None:
    huge = np.broadcast_to(np.float32(1), (600_000_000,))
    record = SummaryRecord(str(tmp_path), raise_exception=True)
    with pytest.raises(ValueError, match="2147483647"):
        record.add_value("tensor", "huge", huge)
    record.close()


def test_tensors_are_exported_on_request(tmp_path: Path) -> None:
    with SummaryRecord(str(tmp_path), export_options={"tensor_format": "npy"}) as record:
        record.add_value("tensor", "t", np.arange(3))
        record.record(4)
    (path,) = tmp_path.glob("export_*/tensor/*.npy")
    assert path.name == "t_4.npy"
    np.testing.assert_array_equal(np.load(path), np.arange(3))


def test_a_run_directory_that_cannot_be_written_is_an_error_at_the_next_call(tmp_path: Path) -> None:
    record = SummaryRecord(str(tmp_path / "run"), raise_exception=True)
    (tmp_path / "run").rmdir()
    (tmp_path / "run").write_text("in the way")
    record.add_value("scalar", "s", 1.0)
    record.record(1)
    with pytest.raises(OSError, match="run"):
        record.flush()
    with pytest.raises(OSError, match="run"):
        record.close()


def test_it_is_only_logged_unless_asked_for(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    record = SummaryRecord(str(tmp_path / "run"))
    (tmp_path / "run").rmdir()
    (tmp_path / "run").write_text("in the way")
    record.add_value("scalar", "s", 1.0)
    record.record(1)
    record.flush()
    record.close()
    assert "'s' of step 1" in caplog.text
    assert any(entry.levelno == logging.ERROR for entry in caplog.records)


def test_values_that_are_not_finite_are_values(tmp_path: Path, reading: Any) -> None:
    with SummaryRecord(str(tmp_path)) as record:
        for step, number in enumerate((math.nan, math.inf, -math.inf)):
            record.add_value("scalar", "s", number)
            record.record(step)
    numbers = [number for _, _, number in reading.scalars()]
    np.testing.assert_array_equal(numbers, [math.nan, math.inf, -math.inf])


def test_a_mode_is_train_or_eval(tmp_path: Path) -> None:
    with SummaryRecord(str(tmp_path)) as record, pytest.raises(ValueError, match="mode"):
        record.set_mode("test")


class Network:
    """Of no framework that shows a graph."""


@pytest.fixture
def builder() -> GraphBuilder:
    return GraphBuilder("Net")


def test_a_graph_is_taken_once(builder: GraphBuilder) -> None:
    graph = NetworkGraph(builder)
    assert graph.is_wanted()
    assert graph.take() == builder.serialised()
    assert not graph.is_wanted()


def test_without_a_network_none_is_wanted_until_a_step_names_one(builder: GraphBuilder) -> None:
    graph = NetworkGraph()
    assert not graph.is_wanted()
    assert graph.is_wanted(builder)
    assert graph.take(builder) == builder.serialised()


def test_a_network_that_shows_none_is_asked_three_times_and_the_steps_network_instead(
    builder: GraphBuilder,
) -> None:
    graph = NetworkGraph(Network())
    assert [graph.take(), graph.take()] == [None, None]
    assert graph.is_wanted()
    assert graph.take(builder) == builder.serialised()
    empty = NetworkGraph(Network())
    assert [empty.take() for _ in range(3)] == [None, None, None]
    assert not empty.is_wanted()
    assert empty.reason() == "the network shows none"


def test_nothing_is_loaded_without_a_variable(tmp_path: Path) -> None:
    program = """
import sys
from mindinsight.writer import SummaryRecord
with SummaryRecord(sys.argv[1]) as record:
    record.add_value("scalar", "loss", 0.5)
    record.record(1)
optional = ("log", "recorder", "graph", "operators")
print([name for name in optional if f"mindinsight.writer.{name}" in sys.modules])
"""
    shown = subprocess.run(
        [sys.executable, "-c", program, tmp_path],
        check=True,
        capture_output=True,
        text=True,
        env={"PATH": ""},
    )
    assert shown.stdout == "[]\n"


def test_a_wrong_value_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("GLOG_v", "loud")
    with caplog.at_level(logging.WARNING):
        variables.configure_logging()
    assert "GLOG_v must be a number, 0 to 4, got 'loud'" in caplog.text


def test_the_data_recorder_runs_when_its_variable_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    monkeypatch.setattr(
        "mindinsight.writer.recorders.running_data_recorder.leave_if_asked",
        lambda run, error: calls.append(error),
    )
    monkeypatch.delenv("MS_RDR_ENABLE", raising=False)
    error = ValueError("nan")
    variables.run_data_recorder(object(), error)  # type: ignore[arg-type]
    monkeypatch.setenv("MS_RDR_ENABLE", "1")
    variables.run_data_recorder(object(), error)  # type: ignore[arg-type]
    assert calls == [error]


def test_values_without_a_step_are_named_when_the_recorder_closes(
    tmp_path: Path, reading: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with SummaryRecord(tmp_path / "a") as record:
        record.add_value("scalar", "recorded", 1.0)
        record.record(1)
        for number in range(6):
            record.add_value("scalar", f"late{number}", 2.0)
        record.add_value("tensor", "weights", np.zeros(2))
    assert "values of 7 tags are not recorded" in caplog.text
    assert "'late0', 'late1', 'late2', 'late3', 'late4', ..." in caplog.text
    assert "'recorded'" not in caplog.text


def test_nothing_is_said_where_a_step_follows_each_value(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with SummaryRecord(tmp_path / "a") as record:
        record.add_value("scalar", "loss", 1.0)
        record.record(1)
        record.add_value("scalar", "loss", 2.0, step=2)
    assert "not recorded" not in caplog.text
