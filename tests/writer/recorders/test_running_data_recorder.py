"""What is left of a run that fails."""

import json
from pathlib import Path
from typing import Any

import pytest

from mindinsight.proto import graph_pb2
from mindinsight.server.formats import dumps
from mindinsight.writer.callbacks import CallbackList, RunArguments, RunContext
from mindinsight.writer.collector import SummaryCollector
from mindinsight.writer.record import SummaryRecord
from mindinsight.writer.recorders.running_data_recorder import (
    RecorderSettings,
    RunningDataRecorder,
    last_values,
)
from tests.writer.failing_training import ON, graph, left, train


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
    assert "cannot write RUN.traceback" in caplog.text


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
    assert "wrote nothing: MS_RDR_ENABLE is 0 or 1" in caplog.text


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


def test_the_newest_value_of_every_tag_is_left(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        train(tmp_path, 4)
    values = json.loads(left(tmp_path)["SUMMARY.last_values"].read_text())
    assert values["scalar"]["loss"]["value"] == 0.25
    assert values["scalar"]["loss"]["step"] == 4
    assert values["scalar"]["rare"]["value"] == "nan"
    assert values["scalar"]["rare"]["step"] == 1
    assert values["image"]["input"]["width"] == 5
    tensor = values["tensor"]["w"]
    assert (tensor["shape"], tensor["not_finite"], tensor["max"]) == ([2, 2], 1, 4)
    assert tensor["values"] == [1, "inf", 4, 0]
    assert values["histogram"]["h"]["sum"] == 45


def test_only_the_end_of_a_large_file_is_read_and_a_torn_record_ends_it(tmp_path: Path) -> None:
    with SummaryRecord(tmp_path) as record:
        record.add_value("scalar", "early", 1.0)
        record.record(0)
        for step in range(1, 500):
            record.add_value("scalar", "loss", float(step))
            record.record(step)
    path = next(tmp_path.iterdir())
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:-40])  # the closing record and a piece of the last step
    assert last_values([path])["scalar"]["early"]["value"] == 1
    values = last_values([path], tail=1000)["scalar"]
    assert set(values) == {"loss"}
    assert values["loss"]["step"] == 498


def test_the_settings_tell_arguments_and_versions_but_no_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MS_ENABLE_X", "1")
    monkeypatch.setenv("MY_TOKEN", "secret")
    with pytest.raises(ZeroDivisionError):
        train(tmp_path, 1, arguments={"lr": 0.1, "loss": float("nan"), "net": object(), "steps": (1, [2])})
    text = left(tmp_path)["RUN.settings"].read_text()
    settings = json.loads(text)
    assert settings["arguments"] == {"lr": 0.1, "loss": "nan", "net": "builtins.object", "steps": [1, [2]]}
    assert settings["environment"]["MS_ENABLE_X"] == "1"
    assert "secret" not in text
    assert {"python", "numpy", "protobuf"} <= set(settings["versions"])


def test_it_is_off_by_default() -> None:
    assert RecorderSettings.of({}) == RecorderSettings(False, 1, None)


def test_the_variables() -> None:
    environment = {"MS_RDR_ENABLE": "1", "MS_RDR_MODE": "2", "MS_RDR_PATH": "/var/rdr"}
    assert RecorderSettings.of(environment) == RecorderSettings(True, 2, Path("/var/rdr"))


def test_the_file_wins_over_the_variables(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"rdr": {"enable": False, "path": "/file"}, "sys": {"mem_reuse": True}}))
    settings = RecorderSettings.of({"MS_RDR_ENABLE": "1", "MS_RDR_MODE": "2"}, path)
    assert settings == RecorderSettings(False, 1, Path("/file"))


def test_a_file_about_other_things_leaves_the_variables(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"sys": {"mem_reuse": true}}')
    assert RecorderSettings.of({"MS_RDR_ENABLE": "1"}, path).enable


@pytest.mark.parametrize(
    "environment",
    [
        {"MS_RDR_ENABLE": "yes"},
        {"MS_RDR_ENABLE": "1", "MS_RDR_MODE": "3"},
        {"MS_RDR_ENABLE": "1", "MS_RDR_PATH": "relative"},
    ],
)
def test_variables_that_cannot_be_used_are_refused(environment: Any) -> None:
    with pytest.raises(ValueError, match=r"MS_RDR_ENABLE|absolute"):
        RecorderSettings.of(environment)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not JSON"),
        ('{"rdr": 1}', "is an object, got 1"),
        ('{"rdr": {"enable": 1}}', "true or false, got 1"),
        ('{"rdr": {"enable": true, "mode": "1"}}', "1 or 2, got '1'"),
        ('{"rdr": {"enable": true, "path": "here"}}', "absolute, got 'here'"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "config.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        RecorderSettings.of({}, path)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        RecorderSettings.of({}, tmp_path / "config.json")


def test_a_configuration_file_that_is_gone_ends_no_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    home = "mindinsight.writer.recorders.running_data_recorder"
    monkeypatch.setattr(f"{home}._context_path", lambda: str(tmp_path / "gone.json"))
    monkeypatch.setenv("MS_RDR_ENABLE", "1")
    with SummaryRecord(str(tmp_path / "run")) as record:
        record.add_value("scalar", "loss", 1.0)
        record.record(1)
    assert "wrote nothing" in caplog.text and "gone.json" in caplog.text
    with pytest.raises(ZeroDivisionError), SummaryRecord(str(tmp_path / "failed")):
        _ = 1 / 0
