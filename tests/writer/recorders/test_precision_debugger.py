"""The recorder without PyTorch: models it refuses, steps it leaves out, and the callback that drives it."""

import importlib.util
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mindinsight.writer import MsprobeStep, PrecisionDebugger, seed_all
from mindinsight.writer.callbacks import RunArguments, RunContext
from mindinsight.writer.recorders.precision_debugger import PROBES


def debugger_of(tmp_path: Any, **keys: Any) -> PrecisionDebugger:
    return PrecisionDebugger(dump_path=str(tmp_path / "dump"), **keys)


@pytest.mark.parametrize("module", PROBES.values())
def test_each_framework_has_a_probe(module: str) -> None:
    assert importlib.util.find_spec(module)


def test_a_probe_that_cannot_be_made_leaves_nothing_to_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, PROBES["torch"], None)
    debugger = debugger_of(tmp_path)
    with pytest.raises(ImportError):
        debugger.start()
    debugger.close()


def test_modules_need_a_model(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"level mix records modules: call start\(model\)"):
        debugger_of(tmp_path, level="mix").start()


def test_a_model_that_is_not_pytorchs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"a mindspore\.nn\.Cell, got builtins\.object"):
        debugger_of(tmp_path).start(object())


CELL = type("Cell", (), {"__module__": "mindspore.nn.cell", "cells_and_names": lambda self: []})


def test_models_of_two_frameworks_are_refused(tmp_path: Path) -> None:
    module = type("Module", (), {"__module__": "torch.nn", "named_modules": lambda self: []})
    with pytest.raises(TypeError, match="the models are of two frameworks"):
        debugger_of(tmp_path, level="L0").start([CELL(), module()])


def test_kernels_outside_of_graph_mode_are_recorded_as_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    graph_mode = SimpleNamespace(delegates=lambda: False)
    monkeypatch.setitem(sys.modules, "mindinsight.writer.recorders.mindspore_operators", graph_mode)
    levels = []
    probe = SimpleNamespace(start=lambda *_: None, stop=lambda: None)
    module = SimpleNamespace(make_probe=lambda config, *_: levels.append(config.level) or probe)
    monkeypatch.setitem(sys.modules, "mindinsight.writer.recorders.mindspore_probe", module)
    debugger = debugger_of(tmp_path, level="L2")
    for _ in range(2):
        debugger.start(CELL())
        debugger.stop()
        debugger.step()
    assert levels == ["L1"]
    assert caplog.text.count("level L2 records calls, as L1") == 1


@pytest.mark.parametrize("level", ["L1", "L2"])
def test_in_graph_mode_mindspore_writes_its_own_dump(
    level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph_mode = SimpleNamespace(delegates=lambda: True, has_compiled=lambda: False, device=lambda: "CPU")
    monkeypatch.setitem(sys.modules, "mindinsight.writer.recorders.mindspore_operators", graph_mode)
    monkeypatch.setenv("MINDSPORE_DUMP_CONFIG", "")
    path = Path("/tmp") / f"delegated-{os.getpid()}"
    keys: dict[str, Any] = {"step": [0, "2-3"], "list": ["MatMul"], "data_mode": ["output"]}
    debugger = PrecisionDebugger(dump_path=str(path), task="tensor", level=level, **keys)
    try:
        for _ in range(2):
            debugger.start(CELL())
            debugger.stop()
            debugger.step()
        common = json.loads((path / "data_dump.json").read_text())["common_dump_settings"]
    finally:
        shutil.rmtree(path, ignore_errors=True)
    assert (common["iteration"], common["kernels"], common["dump_mode"]) == ("0|2|3", ["MatMul"], 1)
    assert (common["input_output"], common["saved_data"], common["path"]) == (2, "tensor", str(path))
    assert os.environ["MINDSPORE_DUMP_CONFIG"] == str(path / "data_dump.json")


KILLED = """
import os, signal, sys
from mindinsight.writer import PrecisionDebugger

debugger = PrecisionDebugger(dump_path=sys.argv[1])
for step in range(3):
    debugger._step_files().add(f"Torch.add.{step}.forward", {"output": []})
    if step < 2:
        debugger.step()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_loses_no_step_that_has_ended(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    for step in range(2):
        (file,) = tmp_path.glob(f"step{step}/*/dump.json")
        assert list(json.loads(file.read_text())["data"]) == [f"Torch.add.{step}.forward"]
    assert not list(tmp_path.rglob("*.unfinished"))


def test_steps_and_ranks_that_are_not_selected_leave_no_trace(tmp_path: Path) -> None:
    for keys in ({"step": [3]}, {"rank": ["1-3"]}):
        debugger = debugger_of(tmp_path, **keys)
        debugger.start()
        debugger.stop()
        debugger.step()
        debugger.close()
    assert not (tmp_path / "dump").exists()


def test_keys_without_effect_are_named_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    debugger_of(tmp_path, async_dump=True, precision="high")
    assert [record.message for record in caplog.records] == [
        "these keys of the configuration have no effect: async_dump, precision"
    ]


@pytest.mark.parametrize("name", ["", "a/b", 3])
def test_a_variable_needs_a_name_that_is_a_file(tmp_path: Path, name: Any) -> None:
    with pytest.raises(ValueError, match="name is text without '/'"):
        debugger_of(tmp_path).save(1, name)


def test_the_callback_starts_and_ends_the_steps_of_a_training(tmp_path: Path) -> None:
    calls = []

    class Recorder(PrecisionDebugger):
        def start(self, model: Any = None) -> None:
            calls.append(("start", model))

        def step(self) -> None:
            calls.append(("step", None))

    callback = MsprobeStep(Recorder(dump_path=str(tmp_path)))
    context = RunContext(RunArguments(network="net"))
    callback.on_train_step_begin(context)
    callback.on_train_step_end(context)
    callback.on_eval_step_begin(context)
    callback.on_eval_step_end(context)
    assert calls == [("start", "net"), ("step", None)]
    debugger: Any = "config.json"
    with pytest.raises(TypeError, match="debugger is a PrecisionDebugger, got str"):
        MsprobeStep(debugger)


def test_seeds_repeat_what_is_random() -> None:
    seed_all(7)
    first = random.random(), np.random.rand()
    seed_all(7)
    assert (random.random(), np.random.rand()) == first


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [((1.5,), TypeError), ((True,), TypeError), ((-1,), ValueError), ((1, "on"), TypeError)],
)
def test_a_seed_is_an_integer_of_32_bits(arguments: Any, kind: Any) -> None:
    with pytest.raises(kind):
        seed_all(*arguments)


def numbers() -> tuple[float, float]:
    return random.random(), float(np.random.random())


def test_equal_seeds_give_equal_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "0")  # put back afterwards
    seed_all(7)
    first = numbers()
    assert numbers() != first
    seed_all(7)
    assert numbers() == first


@pytest.mark.parametrize(
    ("seed", "mode", "error"),
    [
        (1.5, False, TypeError),
        (True, False, TypeError),
        (-1, False, ValueError),
        (1 << 32, False, ValueError),
        (1, 1, TypeError),
    ],
)
def test_what_is_no_seed_changes_nothing(seed: Any, mode: Any, error: type[Exception]) -> None:
    state = random.getstate()
    with pytest.raises(error):
        seed_all(seed, mode)
    assert random.getstate() == state
