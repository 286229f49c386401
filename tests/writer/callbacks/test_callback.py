"""Callbacks, the arguments of a loop, and the list of callbacks."""

import copy
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from mindinsight.writer.callbacks import Callback, CallbackList, RunArguments, RunContext
from mindinsight.writer.callbacks.callback import loss_of, position

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


def test_arguments_are_items_and_attributes() -> None:
    arguments = RunArguments(cur_step_num=3)
    arguments.net_outputs = 0.5
    assert arguments.cur_step_num == 3
    assert arguments["net_outputs"] == 0.5


def test_an_argument_that_is_not_set_is_an_attribute_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match="'metrics'"):
        _ = RunArguments().metrics
    assert not hasattr(RunArguments(), "metrics")


def test_arguments_can_be_copied() -> None:
    assert copy.deepcopy(RunArguments(mode="train")).mode == "train"


def test_the_loop_keeps_the_object_it_gave() -> None:
    arguments = RunArguments(cur_step_num=0)
    context = RunContext(arguments)
    arguments.cur_step_num += 1
    assert context.original_args() is arguments
    assert context.original_args()["cur_step_num"] == 1


def test_a_plain_dict_gains_attributes() -> None:
    context = RunContext({"mode": "eval"})
    context.original_args().metrics = {"acc": 1.0}
    assert context.original_args() == {"mode": "eval", "metrics": {"acc": 1.0}}
    assert context.original_args().mode == "eval"


def test_anything_else_is_refused() -> None:
    with pytest.raises(TypeError, match="dict, got list"):
        RunContext([("mode", "train")])  # type: ignore[arg-type]


def test_a_stop_is_remembered() -> None:
    context = RunContext({})
    assert not context.get_stop_requested()
    context.request_stop()
    assert context.get_stop_requested()


@pytest.mark.parametrize(
    ("outputs", "loss"),
    [
        (0.25, 0.25),
        (np.float32(0.5), 0.5),
        (np.array([1.0, 2.0, 6.0]), 3.0),
        ((np.array(2.0), np.zeros((4, 4))), 2.0),
        ([[np.array([4, 6])], "rest"], 5.0),
    ],
)
def test_the_loss_is_the_mean_of_the_first_output(outputs: Any, loss: float) -> None:
    assert loss_of(outputs) == loss


@pytest.mark.parametrize("outputs", [None, (), "text", np.zeros((0, 2)), np.array(1j)])
def test_outputs_without_a_loss_are_refused(outputs: Any) -> None:
    with pytest.raises(TypeError):
        loss_of(outputs)


def test_the_position_counts_steps_within_the_epoch_when_its_length_is_known() -> None:
    assert position(RunArguments(cur_step_num=7, cur_epoch_num=3, batch_num=3)) == (3, 1)
    assert position(RunArguments(cur_step_num=6, cur_epoch_num=2, batch_num=3)) == (2, 3)
    assert position(RunArguments(cur_step_num=6)) == (1, 6)


RUN = RunContext({})
HOOKS = [
    f"on_{mode}_{name}"
    for mode in ("train", "eval")
    for name in ("begin", "epoch_begin", "step_begin", "step_end", "epoch_end", "end")
]


class Noting(Callback):
    """Writes what happens to it into a list it shares with others."""

    def __init__(self, name: Any, notes: Any) -> None:
        self.name, self.notes = name, notes

    def __enter__(self) -> Any:
        self.notes.append(f"enter {self.name}")
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.notes.append(f"exit {self.name} {kind.__name__ if kind else None}")

    def step_end(self, run_context: Any) -> None:
        self.notes.append(f"step_end {self.name}")


class Foreign:
    """A callback that is none of our classes, as MindSpore's are."""

    def __init__(self) -> None:
        self.steps = 0

    def on_train_step_end(self, run_context: Any) -> None:
        self.steps += 1


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_reaches_every_callback_in_order(hook: Any) -> None:
    calls = []
    first = type("First", (Callback,), {hook: lambda self, run: calls.append("first")})()
    second = type("Second", (Callback,), {hook: lambda self, run: calls.append("second")})()
    getattr(CallbackList([first, second]), hook)(RUN)
    assert calls == ["first", "second"]


def test_callbacks_are_entered_in_order_and_left_in_reverse() -> None:
    notes: list[Any] = []
    with CallbackList([Noting("a", notes), Noting("b", notes)]) as callbacks:
        callbacks.on_train_step_end(RUN)
    assert notes == ["enter a", "enter b", "step_end a", "step_end b", "exit b None", "exit a None"]


def test_an_error_in_the_loop_reaches_the_exits_and_the_caller() -> None:
    notes: list[Any] = []
    with pytest.raises(ZeroDivisionError), CallbackList(Noting("a", notes)):
        _ = 1 / 0
    assert notes == ["enter a", "exit a ZeroDivisionError"]


def test_when_one_cannot_be_entered_the_ones_before_it_are_left() -> None:
    notes: list[Any] = []
    broken = type("Broken", (Callback,), {"__enter__": lambda self: 1 / 0})()
    with pytest.raises(ZeroDivisionError), CallbackList([Noting("a", notes), broken]):
        pass
    assert notes == ["enter a", "exit a ZeroDivisionError"]


def test_one_callback_none_and_a_foreign_one_are_taken() -> None:
    foreign = Foreign()
    CallbackList([foreign]).on_train_step_end(RUN)  # type: ignore[list-item]
    CallbackList(foreign).on_train_step_end(RUN)  # type: ignore[arg-type]
    CallbackList().on_train_step_end(RUN)
    assert foreign.steps == 2


@pytest.mark.parametrize("wrong", ["loss", 3, [Callback(), "x"], {Callback()}])
def test_what_is_no_callback_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="must be a Callback or a list of them"):
        CallbackList(wrong)
