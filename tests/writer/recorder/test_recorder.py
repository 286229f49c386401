"""What is left of a run that fails."""

import json
from pathlib import Path

import pytest

from mindinsight.proto import graph_pb2
from mindinsight.server.formats import dumps
from mindinsight.writer.callbacks import CallbackList, RunArguments, RunContext
from mindinsight.writer.collector import SummaryCollector
from mindinsight.writer.record import SummaryRecord
from mindinsight.writer.recorder import RecorderSettings, RunningDataRecorder
from tests.writer.recorder.failing_training import ON, graph, left, train


def test_a_failed_run_leaves_everything_and_the_error_goes_on(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        train(tmp_path, 3, network=graph(), arguments={"lr": 0.1})
    files = left(tmp_path)
    assert sorted(files) == ["RUN.settings", "RUN.traceback", "SESSION.graph_build.0", "SUMMARY.last_values"]
    assert "ZeroDivisionError: the loop's own" in files["RUN.traceback"].read_text()
    content = files["SESSION.graph_build.0"].read_bytes()
    assert graph_pb2.ModelProto.FromString(content).graph.node[0].op_type == "ReLU"
    assert {path.stat().st_mode & 0o777 for path in files.values()} == {0o400}


def test_a_run_that_ends_well_leaves_something_in_mode_2_only(tmp_path: Path) -> None:
    train(tmp_path / "one", 1, fails=False)
    assert not (tmp_path / "one" / "rank_0").exists()
    train(tmp_path / "two", 1, fails=False, settings=RecorderSettings(enable=True, mode=2))
    assert sorted(left(tmp_path / "two")) == ["RUN.settings", "SUMMARY.last_values"]


def test_a_recorder_that_is_off_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        train(tmp_path, 1, settings=RecorderSettings())
    assert not (tmp_path / "rank_0").exists()


def test_the_path_of_the_settings_and_the_rank_decide_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK_ID", "3")
    monkeypatch.setenv("RANK_SIZE", "4")
    with pytest.raises(ZeroDivisionError):
        train(tmp_path / "run", 1, settings=RecorderSettings(enable=True, path=tmp_path / "rdr"))
    assert len(list((tmp_path / "rdr" / "rank_3" / "rdr").iterdir())) == 3


def test_without_a_path_it_is_left_in_the_ranks_own_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK_ID", "3")
    monkeypatch.setenv("RANK_SIZE", "4")
    with pytest.raises(ZeroDivisionError):
        train(tmp_path, 1)
    assert len(list((tmp_path / "rank_3" / "rdr").iterdir())) == 3


def test_the_debugger_lists_what_was_left(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        train(tmp_path, 1, network=graph())
    logs = dumps.open_dump(tmp_path).logs
    assert {(log.rank, log.module, log.name, log.kind) for log in logs} == {
        (0, "RUN", "settings", "json"),
        (0, "RUN", "traceback", "text"),
        (0, "SESSION", "graph_build", "pb"),
        (0, "SUMMARY", "last_values", "json"),
    }


def test_without_a_network_the_graph_that_was_recorded_is_left(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), SummaryRecord(tmp_path, network=graph()) as record:
        record.add_value("scalar", "loss", 0.5)
        record.record(1)
        with RunningDataRecorder(record, settings=ON):
            _ = 1 / 0
    content = left(tmp_path)["SESSION.graph_build.0"].read_bytes()
    assert graph_pb2.ModelProto.FromString(content).graph.node[0].op_type == "ReLU"


def test_as_a_callback_it_learns_network_and_arguments_from_the_loop(tmp_path: Path) -> None:
    with SummaryRecord(tmp_path) as record:
        record.add_value("scalar", "loss", 0.5)
        record.record(1)
    run = RunContext(RunArguments(mode="train", network=graph(), epoch_num=7))
    recorder = RunningDataRecorder(tmp_path, settings=ON)
    with pytest.raises(ZeroDivisionError), CallbackList([recorder]) as callbacks:
        callbacks.on_train_begin(run)
        _ = 1 / 0
    files = left(tmp_path)
    assert "SESSION.graph_build.0" in files
    assert json.loads(files["RUN.settings"].read_text())["arguments"]["epoch_num"] == 7
    assert json.loads(files["SUMMARY.last_values"].read_text())["scalar"]["loss"]["value"] == 0.5


def test_a_place_that_cannot_be_written_does_not_hide_the_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ZeroDivisionError):
        train(tmp_path / "run", 1, settings=RecorderSettings(enable=True, path=tmp_path / "file"))
    assert "cannot leave RUN.traceback" in caplog.text


def test_the_variables_alone_make_a_summary_record_leave_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MS_RDR_ENABLE", "1")
    with pytest.raises(ZeroDivisionError), SummaryRecord(tmp_path, network=graph()) as record:
        record.add_value("scalar", "loss", 0.5)
        record.record(1)
        _ = 1 / 0
    assert sorted(left(tmp_path)) == [
        "RUN.settings",
        "RUN.traceback",
        "SESSION.graph_build.0",
        "SUMMARY.last_values",
    ]


def test_a_mistake_in_a_variable_does_not_hide_the_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MS_RDR_ENABLE", "yes")
    with pytest.raises(ZeroDivisionError), SummaryRecord(tmp_path):
        _ = 1 / 0
    assert "leaves nothing: MS_RDR_ENABLE is 0 or 1" in caplog.text


def test_the_variables_make_a_collector_leave_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MS_RDR_ENABLE", "1")
    run = RunContext(RunArguments(mode="train", network=graph(), cur_step_num=1, epoch_num=1, batch_num=2))
    with pytest.raises(ZeroDivisionError), CallbackList([SummaryCollector(str(tmp_path))]) as callbacks:
        callbacks.on_train_begin(run)
        run.original_args().net_outputs = 0.25
        callbacks.on_train_step_end(run)
        _ = 1 / 0
    values = json.loads(left(tmp_path)["SUMMARY.last_values"].read_text())
    assert values["scalar"]["loss/auto"]["value"] == 0.25
