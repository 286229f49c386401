"""Place of a call: the caller's line, and arguments as it gave them, whatever the function made of them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from types import FrameType, ModuleType
from typing import Any

import pytest

MODULE = "mindinsight.writer.recorders.torch_calls"
PACKAGE = "/site-packages/torch"


@pytest.fixture
def call_site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module, on a stand-in for PyTorch that has nothing but a place."""
    torch = ModuleType("torch")
    torch.__file__ = f"{PACKAGE}/__init__.py"
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    yield importlib.import_module(MODULE)
    sys.modules.pop(MODULE, None)


def in_file(name: str, source: str, **names: Any) -> Callable[..., Any]:
    """The function ``f`` of a source that lies in a file of PyTorch."""
    scope: dict[str, Any] = {"sys": sys, **names}
    exec(compile(source, f"{PACKAGE}/{name}", "exec"), scope)
    function: Callable[..., Any] = scope["f"]
    return function


@pytest.fixture
def softmax(call_site: Any) -> Callable[..., Any]:
    """A function in Python, as PyTorch has them: it hands all its arguments on by position."""
    dispatch = in_file("overrides.py", "def f(*values): return values, sys._getframe()")

    def function(value: Any, dim: Any = None, keep: bool = False) -> Any:
        values, frame = dispatch(value, dim, keep)
        site = call_site.CallSite(frame, {})
        return site.frame, site.arguments(values, {}, False)

    return function


def line(frame: FrameType) -> tuple[str, int]:
    return frame.f_code.co_name, frame.f_lineno


def test_the_frame_is_the_callers(softmax: Callable[..., Any]) -> None:
    frame, _ = softmax(1)
    assert frame is sys._getframe()


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda f: f(1), ((1,), {})),
        (lambda f: f(1, 2), ((1, 2), {})),
        (lambda f: f(1, dim=2), ((1,), {"dim": 2})),
        (lambda f: f(1, keep=True, dim=2), ((1,), {"keep": True, "dim": 2})),
        (lambda f: f(value=1), ((), {"value": 1})),
    ],
)
def test_arguments_are_those_the_caller_gave(
    call: Callable[..., Any], expected: Any, softmax: Callable[..., Any]
) -> None:
    assert call(softmax)[1] == expected


def test_stars_leave_arguments_as_they_came(softmax: Callable[..., Any]) -> None:
    given = {"dim": 2}
    assert softmax(*[1], **given)[1] == ((1, 2, False), {})


def test_a_call_from_c_keeps_its_arguments(call_site: Any) -> None:
    site = call_site.CallSite(None, {})
    assert site.frame is None
    assert site.arguments((1, 2), {"dim": 3}, False) == ((1, 2), {"dim": 3})


def test_functions_that_choose_between_two_are_passed_over(call_site: Any) -> None:
    forward = in_file("_jit_internal.py", "def f(function): return function()")
    site = forward(lambda: call_site.CallSite(sys._getframe().f_back, {}))
    assert site.frame is sys._getframe()
