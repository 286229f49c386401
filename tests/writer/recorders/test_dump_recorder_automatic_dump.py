"""Dumps that a loop records because a variable asks for one, with networks of NumPy in place of PyTorch."""

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mindinsight
from mindinsight.writer import CallbackList, SummaryCollector
from mindinsight.writer.arrays import HostArray, to_numpy
from mindinsight.writer.callbacks import RunContext
from mindinsight.writer.recorders.capture import OperatorCall, TensorFacts


class Network:
    """A network whose one operator is run by hand."""

    def named_modules(self) -> list[tuple[str, object]]:
        return [("", self)]


class Backend:
    """A capture module of a framework, and its capture."""

    NUMBERS_PER_SCOPE = False

    def __init__(self) -> None:
        self.running = False
        self.observer: Callable[[OperatorCall], Any] | None = None

    def make_capture(self, models: object, observer: Callable[[OperatorCall], Any], on_error: object) -> Any:
        self.observer = observer
        return self

    def start(self) -> None:
        self.running = True

    def stop(self) -> None:
        self.running = False

    def run(self) -> None:
        if self.running and self.observer is not None:
            finish = self.observer(OperatorCall("log", "Default", [np.ones(2)]))
            if finish is not None:
                finish([np.zeros(2)])

    def facts_of(self, array: Any) -> TensorFacts:
        return TensorFacts(id(array), array.shape, "float64")

    def host_copy(self, array: Any) -> HostArray:
        return to_numpy(array)

    def named_parameters(self, models: object) -> list[tuple[str, object]]:
        return []

    def unseen_regions(self, models: object) -> list[str]:
        return []


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> Backend:
    module = Backend()
    monkeypatch.setattr("mindinsight.writer.recorders.capture.backend_of", lambda models: module)
    return module


@pytest.fixture
def dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the variable wants its dump."""
    file = tmp_path / "data_dump.json"
    settings = {"path": str(tmp_path / "dump"), "net_name": "Net", "iteration": "1-2"}
    file.write_text(json.dumps({"common_dump_settings": settings}))
    monkeypatch.setenv("MINDSPORE_DUMP_CONFIG", str(file))
    return tmp_path / "dump"


def train(backend: Backend, callbacks: list[Any], steps: int = 4, network: object = None) -> None:
    arguments: dict[str, Any] = {"mode": "train", "network": network or Network(), "epoch_num": 1}
    context = RunContext(arguments)
    with CallbackList(callbacks) as hooks:
        hooks.on_train_begin(context)
        for step in range(1, steps + 1):
            context.original_args()["cur_step_num"] = step
            hooks.on_train_step_begin(context)
            backend.run()
            hooks.on_train_step_end(context)
            backend.run()  # between two steps
        hooks.on_train_end(context)


def test_a_loop_records_the_dump_that_the_variable_asks_for(backend: Backend, dump: Path) -> None:
    train(backend, [])
    assert mindinsight.dump(dump).steps == (1, 2)
    names = [entry.operator for entry in mindinsight.dump(dump).tensors(1) if entry.direction == "output"]
    assert names == ["Default/log-op0"]
    assert not backend.running


def test_a_collector_records_it_too_and_two_of_them_record_one(
    backend: Backend, dump: Path, tmp_path: Path
) -> None:
    collector = SummaryCollector(tmp_path / "run")
    context = RunContext({"mode": "train", "network": Network(), "epoch_num": 1, "cur_step_num": 1})
    with collector:
        collector.begin(context)
        for _ in range(3):
            backend.run()
            collector.step_end(context)
        collector.end(context)
    assert mindinsight.dump(dump).steps == (1, 2)
    train(backend, [SummaryCollector(tmp_path / "other")])
    assert len(list(dump.glob("rank_0/Net/0/1/*output*"))) == 2  # one of each training


def test_an_exception_in_the_loop_ends_the_dump(backend: Backend, dump: Path) -> None:
    with pytest.raises(KeyboardInterrupt), CallbackList([]) as hooks:
        hooks.on_train_begin(RunContext({"mode": "train", "network": Network()}))
        assert not backend.running  # iteration 0 is not selected
        hooks.on_train_step_end(RunContext({"mode": "train", "network": Network()}))
        assert backend.running
        backend.run()
        raise KeyboardInterrupt
    assert not backend.running
    assert mindinsight.dump(dump).steps == (1,)


def test_without_the_variable_or_a_network_nothing_is_recorded(
    backend: Backend, dump: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    train(backend, [], network={"weights": np.ones(2)})
    assert "no dump is recorded, the training continues: TypeError: a model is a" in caplog.text
    monkeypatch.delenv("MINDSPORE_DUMP_CONFIG")
    train(backend, [])
    assert not dump.exists()


def test_a_wrong_configuration_is_logged_once_and_the_training_goes_on(
    backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MINDSPORE_DUMP_CONFIG", str(tmp_path / "missing.json"))
    train(backend, [])
    errors = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert len(errors) == 1
    assert "missing.json" in errors[0]


def test_graph_mode_is_left_to_mindspore(
    backend: Backend, dump: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Backend, "delegates", lambda self: True, raising=False)
    train(backend, [])
    assert backend.observer is None
    assert not dump.exists()
