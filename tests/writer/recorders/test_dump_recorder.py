"""The recorder of dumps, with arrays of NumPy in place of PyTorch: what it chooses, and how it fails.

``tests/interop/recording_in_torch.py`` is the same with real networks.
"""

import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import mindinsight
from mindinsight.server.formats.dumps import open_dump
from mindinsight.writer import recorders
from mindinsight.writer.arrays import to_numpy
from mindinsight.writer.recorders.capture import OperatorCall, TensorFacts
from mindinsight.writer.recorders.dump_recorder import DumpRecorder

WEIGHT = np.full((4, 3), 0.5, np.float32)


class Tensor(np.ndarray):
    """An array with the attributes the recorder looks at."""

    device = SimpleNamespace(type="cpu")  # type: ignore[assignment]


class Network:
    """A network of one layer, whose operators ``train_step`` runs."""

    def __init__(self) -> None:
        self.weight = WEIGHT.copy().view(Tensor)

    def named_modules(self, prefix: str = "") -> Iterator[Any]:
        yield prefix, self

    def named_parameters(self, prefix: str = "") -> Iterator[Any]:
        yield f"{prefix}.weight" if prefix else "weight", self.weight


class Capture:
    """A capture whose operators are run by hand."""

    def __init__(self, models: Any, observer: Any, on_error: Any) -> None:
        self.observer, self.on_error, self.running = observer, on_error, False

    def start(self) -> None:
        self.running = True

    def stop(self) -> None:
        self.running = False

    def run(self, kind: Any, inputs: Any, outputs: Any) -> None:
        if not self.running:
            return
        try:
            finish = self.observer(OperatorCall(kind, "Default/fc-Linear", inputs))
            if finish is not None:
                finish(outputs)
        except Exception as error:
            self.on_error(error)


def host_copy(tensor: Any) -> Any:
    host = to_numpy(tensor)
    return host._replace(values=np.array(host.values))


@pytest.fixture(autouse=True)
def backend(monkeypatch: pytest.MonkeyPatch) -> None:
    """The module for PyTorch, without PyTorch."""

    def facts_of(tensor: Any) -> TensorFacts:
        return TensorFacts(id(tensor), tensor.shape, str(tensor.dtype))

    def named_parameters(models: Any) -> Iterator[Any]:
        for name, model in models.items():
            yield from model.named_parameters(prefix=name)

    module = SimpleNamespace(
        make_capture=Capture,
        facts_of=facts_of,
        host_copy=host_copy,
        named_parameters=named_parameters,
        unseen_regions=lambda models: list(models)[1:],
        NUMBERS_PER_SCOPE=False,
    )
    monkeypatch.setitem(sys.modules, "mindinsight.writer.recorders.torch_operators", module)
    monkeypatch.setattr(recorders, "torch_operators", module, raising=False)


def train_step(recorder: Any, network: Any, x: Any) -> None:
    hidden = (x @ network.weight).view(Tensor)
    recorder._capture.run("mm", [x, network.weight], [hidden])
    with np.errstate(all="ignore"):
        result = np.log(hidden).view(Tensor)
    recorder._capture.run("log", [hidden], [result])
    network.weight -= np.float32(0.25)
    recorder.step()


def recorded(path: Any, steps: int = 3, x: Any = None, **config: Any) -> Any:
    network = Network()
    x = np.ones((2, 4), np.float32).view(Tensor) if x is None else x
    with DumpRecorder(network, {"net_name": "Net", **config}, path=path) as recorder:
        for _ in range(steps):
            train_step(recorder, network, x)
    return mindinsight.dump(path)


def slots(dump: Any, step: Any = None) -> list[Any]:
    return [f"{entry.type}.{entry.direction}.{entry.slot}" for entry in dump.tensors(step)]


def test_a_dump_has_operators_parameters_and_their_values(tmp_path: Path) -> None:
    dump = recorded(tmp_path)
    assert dump.steps == (0, 1, 2)
    assert slots(dump, 1) == [
        "mm.input.0",
        "mm.input.1",
        "mm.output.0",
        "log.input.0",
        "log.output.0",
        "Parameter.parameter.0",
    ]
    before = dump.tensor("Default/fc-Linear/mm-op0", step=1, slot=1, direction="input")
    np.testing.assert_array_equal(before, WEIGHT - 0.25)
    after = dump.tensor("weight", step=1, direction="parameter")
    np.testing.assert_array_equal(after, WEIGHT - 0.5)
    assert [operator.name for operator in dump.operators(1)][:2] == [
        "Default/fc-Linear/mm-op0",
        "Default/fc-Linear/log-op0",
    ]


def test_only_chosen_iterations_operators_and_sides_are_recorded(tmp_path: Path) -> None:
    dump = recorded(tmp_path / "a", iteration="1", dump_mode=1, kernels=["log"], input_output=1)
    assert (dump.steps, slots(dump)) == ((1,), ["log.input.0"])
    dump = recorded(
        tmp_path / "b", input_output=2, dump_mode=1, kernels=["mm", "weight"], initial_iteration=10
    )
    assert dump.steps == (10, 11, 12)
    assert slots(dump) == ["mm.output.0", "Parameter.parameter.0"]
    dump = recorded(tmp_path / "c", dump_mode=1, kernels=["name-regex(weight)"])
    assert slots(dump) == ["Parameter.parameter.0"]


def test_statistics_alone_have_no_files_of_tensors(tmp_path: Path) -> None:
    recorded(tmp_path, saved_data="statistic", statistic_category=["nan count", "max"])
    assert list(tmp_path.rglob("*.npy")) == []
    (table,) = (tmp_path / "rank_0" / "Net" / "0" / "0").glob("statistic.csv")
    assert table.read_text().splitlines()[0].endswith(",Shape,NaN Count,Max Value")


def test_overflow_modes_keep_the_operators_that_overflowed(tmp_path: Path) -> None:
    zeros = np.zeros((2, 4), np.float32).view(Tensor)
    dump = recorded(tmp_path / "3", x=zeros, op_debug_mode=3, overflow_number=2)
    assert dump.steps == (0, 1)
    assert [slots(dump, step) for step in dump.steps] == [["log.input.0", "log.output.0"]] * 2
    dump = recorded(tmp_path / "4", steps=1, x=zeros, op_debug_mode=4)
    assert slots(dump) == ["log.input.0"]
    fine = np.ones((2, 4), np.float32).view(Tensor)
    assert recorded(tmp_path / "fine", steps=1, x=fine, op_debug_mode=3).steps == ()


def test_several_networks_have_names_of_their_own(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    networks = {"generator": Network(), "discriminator": Network()}
    with DumpRecorder(networks, {"net_name": "GAN"}, path=tmp_path) as recorder:
        recorder.step()
    names = {entry.operator for entry in mindinsight.dump(tmp_path).tensors(0)}
    assert names == {"generator.weight", "discriminator.weight"}
    assert "compiled regions: discriminator" in caplog.text


def test_what_is_compiled_or_beyond_the_limit_is_noted_in_the_dump(tmp_path: Path) -> None:
    networks = {"g": Network(), "d": Network()}
    x = np.ones((2, 4), np.float32).view(Tensor)
    with DumpRecorder(networks, {}, path=tmp_path, limit=WEIGHT.nbytes) as recorder:
        train_step(recorder, networks["g"], x)
    compiled, limit = open_dump(tmp_path).not_recorded
    assert (compiled.kind, compiled.names, compiled.steps) == ("compiled", ("d",), ())
    assert (limit.kind, limit.count > 0, limit.steps) == ("limit", True, (0,))


def test_a_complete_dump_says_nothing_of_what_is_missing(tmp_path: Path) -> None:
    recorded(tmp_path / "whole")
    recorded(tmp_path / "chosen", dump_mode=1, kernels=["no such operator", "weight"])
    assert open_dump(tmp_path / "whole").not_recorded == ()
    assert open_dump(tmp_path / "chosen").not_recorded == ()


def test_two_recordings_in_one_folder_are_noted_with_the_steps_of_both(tmp_path: Path) -> None:
    recorded(tmp_path, steps=2)
    recorded(tmp_path, steps=3)
    (mixed,) = open_dump(tmp_path).not_recorded
    assert (mixed.kind, mixed.steps) == ("mixed", (0, 1))


def test_steps_whose_operators_ran_in_another_thread_are_noted(tmp_path: Path) -> None:
    network = Network()
    with DumpRecorder(network, {}, path=tmp_path) as recorder:
        recorder.step()
        train_step(recorder, network, np.ones((2, 4), np.float32).view(Tensor))
    (thread,) = open_dump(tmp_path).not_recorded
    assert (thread.kind, thread.steps) == ("thread", (0,))


def test_what_has_no_effect_and_what_fits_nothing_is_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    recorded(tmp_path, dump_mode=1, kernels=["Conv2D"], sample_mode=1, file_format="bin")
    warnings = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert len(warnings) == 2
    assert "no effect: sample_mode, file_format" in warnings[0]
    assert "no operator matches these kernels: Conv2D" in warnings[1]


def test_a_write_that_fails_ends_the_dump_and_not_the_training(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("mindinsight.writer.recorders.dump._save", fail)
    network = Network()
    with DumpRecorder(network, {}, path=tmp_path) as recorder:
        for _ in range(3):
            train_step(recorder, network, np.ones((2, 4), np.float32).view(Tensor))
    np.testing.assert_array_equal(network.weight, WEIGHT - 0.75)
    errors = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert len(errors) == 2
    assert "the training continues: OSError: No space left on device" in errors[0]
    assert "tensors are missing from the dump" in errors[1]


def test_an_error_of_ours_ends_the_dump_and_not_the_training(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DumpRecorder, "_copied", lambda *_: 1 / 0)
    network = Network()
    with DumpRecorder(network, {}, path=tmp_path) as recorder:
        for _ in range(3):
            train_step(recorder, network, np.ones((2, 4), np.float32).view(Tensor))
    np.testing.assert_array_equal(network.weight, WEIGHT - 0.75)
    assert caplog.text.count("the training continues: ZeroDivisionError") == 1
    (ended,) = open_dump(tmp_path).not_recorded
    assert (ended.kind, ended.detail) == ("ended", "ZeroDivisionError: division by zero")


def test_a_folder_that_cannot_be_written_is_an_error_before_the_training(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        DumpRecorder(Network(), {}, path=tmp_path / "file")


def test_wrong_use_is_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MINDSPORE_DUMP_CONFIG", raising=False)
    with pytest.raises(ValueError, match="give a path or an object, or set MINDSPORE_DUMP_CONFIG"):
        DumpRecorder(Network())
    with pytest.raises(
        TypeError, match=r"a model is a torch.nn.Module or a mindspore.nn.Cell, got builtins.int"
    ):
        DumpRecorder(3, {}, path=tmp_path)
    with pytest.raises(TypeError, match="there is no model"):
        DumpRecorder({}, {}, path=tmp_path)
    recorder = DumpRecorder(Network(), {}, path=tmp_path)
    with pytest.raises(RuntimeError, match="step"):
        recorder.step()
    with recorder, pytest.raises(RuntimeError, match="has been started already"):
        recorder.start()


def test_the_variable_names_the_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "data_dump.json"
    file.write_text('{"common_dump_settings": {"path": "/nowhere", "net_name": "Named"}}')
    monkeypatch.setenv("MINDSPORE_DUMP_CONFIG", str(file))
    with DumpRecorder(Network(), path=tmp_path / "dump") as recorder:
        recorder.step()
    assert (tmp_path / "dump" / "rank_0" / "Named" / "0" / "0").is_dir()
    text = (tmp_path / "dump" / "rank_0" / ".dump_metadata" / "data_dump.json").read_text()
    assert text == file.read_text()
