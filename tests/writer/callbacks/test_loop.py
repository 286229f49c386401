"""Several callbacks driven as one."""

from typing import Any

import pytest

from mindinsight.writer.callbacks import Callback, CallbackList, RunContext

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
def test_anything_else_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="must be a Callback or a list of them"):
        CallbackList(wrong)
