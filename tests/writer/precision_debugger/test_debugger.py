"""The recorder without PyTorch: models it refuses, steps it leaves out, and the callback that drives it."""

import random
from typing import Any

import numpy as np
import pytest

from mindinsight.writer import MsprobeStep, PrecisionDebugger, seed_all
from mindinsight.writer.callbacks import RunArguments, RunContext


def debugger_of(tmp_path, **keys):
    return PrecisionDebugger(dump_path=str(tmp_path / "dump"), **keys)


def test_modules_need_a_model(tmp_path):
    with pytest.raises(ValueError, match=r"level mix records modules: call start\(model\)"):
        debugger_of(tmp_path, level="mix").start()


def test_a_model_that_is_not_pytorchs_is_refused(tmp_path):
    with pytest.raises(TypeError, match=r"a torch\.nn\.Module or a list of them, got object"):
        debugger_of(tmp_path).start(object())


def test_a_cell_of_mindspore_is_sent_to_its_own_dump(tmp_path):
    cell = type("Cell", (), {"__module__": "mindspore.nn.cell"})
    with pytest.raises(TypeError, match="MINDSPORE_DUMP_CONFIG"):
        debugger_of(tmp_path, level="L0").start(cell())


def test_steps_and_ranks_that_are_not_selected_leave_no_trace(tmp_path):
    for keys in ({"step": [3]}, {"rank": ["1-3"]}):
        debugger = debugger_of(tmp_path, **keys)
        debugger.start()
        debugger.stop()
        debugger.step()
        debugger.close()
    assert not (tmp_path / "dump").exists()


def test_keys_without_effect_are_named_once(tmp_path, caplog):
    debugger_of(tmp_path, async_dump=True, precision="high")
    assert [record.message for record in caplog.records] == [
        "these keys of the configuration have no effect here: async_dump, precision"
    ]


@pytest.mark.parametrize("name", ["", "a/b", 3])
def test_a_variable_needs_a_name_that_is_a_file(tmp_path, name):
    with pytest.raises(ValueError, match="name is text without '/'"):
        debugger_of(tmp_path).save(1, name)


def test_the_callback_starts_and_ends_the_steps_of_a_training(tmp_path):
    calls = []

    class Recorder(PrecisionDebugger):
        def start(self, model=None):
            calls.append(("start", model))

        def step(self):
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


def test_seeds_repeat_what_is_random():
    seed_all(7)
    first = random.random(), np.random.rand()
    seed_all(7)
    assert (random.random(), np.random.rand()) == first


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [((1.5,), TypeError), ((True,), TypeError), ((-1,), ValueError), ((1, "on"), TypeError)],
)
def test_a_seed_is_an_integer_of_32_bits(arguments, kind):
    with pytest.raises(kind):
        seed_all(*arguments)
