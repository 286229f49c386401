"""Hooks reach their old forms, and MindSpore's own isinstance check takes our callbacks."""

import copy
import sys
from types import ModuleType
from typing import Any

import pytest

from mindinsight.writer.callbacks import Callback, RunContext
from mindinsight.writer.callbacks.loop import CallbackList

SHORT = ["begin", "epoch_begin", "step_begin", "step_end", "epoch_end", "end"]
RUN = RunContext({})


class Old(Callback):
    """Written with the old forms only."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def __getattribute__(self, name: Any) -> Any:
        if name in SHORT:
            self.calls.append(name)
        return super().__getattribute__(name)


@pytest.fixture
def mindspore_callback(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The class MindSpore checks against, as if the program had imported it after us."""
    module: Any = ModuleType("mindspore.train.callback")
    module.Callback = type("Callback", (), {"on_train_begin": lambda self, run: "theirs"})
    monkeypatch.setitem(sys.modules, "mindspore.train.callback", module)
    return module.Callback


@pytest.mark.parametrize("mode", ["train", "eval"])
def test_a_long_hook_calls_the_short_one(mode: Any) -> None:
    callback = Old()
    for name in SHORT:
        getattr(callback, f"on_{mode}_{name}")(RUN)
    assert callback.calls == SHORT


def test_entering_gives_the_callback_and_leaving_hides_no_error() -> None:
    callback = Callback()
    with pytest.raises(ZeroDivisionError), callback as entered:
        assert entered is callback
        _ = 1 / 0


def test_an_instance_made_earlier_passes_mindspores_check(mindspore_callback: Any) -> None:
    callback = Old()
    assert isinstance(callback, mindspore_callback)
    assert isinstance(callback, Old)
    assert isinstance(CallbackList(callback), mindspore_callback)


def test_mindspores_view_keeps_the_name_and_adds_no_behaviour(mindspore_callback: Any) -> None:
    # MindSpore leaves some callbacks out of the evaluations of fit() by their class name.
    callback = Old()
    assert callback.__class__.__name__ == "Old"
    assert type(callback) is Old
    callback.on_train_begin(RUN)
    assert callback.calls == ["begin"]


def test_a_class_that_is_already_mindspores_is_left_alone(mindspore_callback: Any) -> None:
    both = type("Both", (Callback, mindspore_callback), {})
    assert both().__class__ is both


def test_without_mindspore_nothing_is_different(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "mindspore.train.callback", raising=False)
    assert Callback().__class__ is Callback


def test_a_copy_is_what_the_original_is(mindspore_callback: Any) -> None:
    assert type(copy.deepcopy(Old())) is Old
