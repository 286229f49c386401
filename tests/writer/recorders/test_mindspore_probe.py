"""Wrappers of functions and primitives, on a stand-in for MindSpore: what they see, and that none stays."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

import pytest

MODULE = "mindinsight.writer.recorders.mindspore_probe"


class Tensor:
    """Has methods of its own, and one that is inherited, as MindSpore's are from C++."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __mul__(self, other: float) -> float:
        return self.value * other

    def asnumpy(self) -> float:
        return self.value


class Primitive:
    def __call__(self, value: float) -> float:
        return -value


class Cell:
    def __init__(self) -> None:
        self.__dict__["_primitives"] = {"neg": Primitive(), "missing": None}

    def cells_and_names(self) -> list[tuple[str, object]]:
        return [("", self)]


class Executor:
    """What ``jit`` makes of a function."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        self.fn = fn

    def __call__(self, *arguments: Any) -> Any:
        return self.fn(*arguments)


def module(name: str, **members: Any) -> ModuleType:
    made = ModuleType(name)
    vars(made).update(members)
    return made


@pytest.fixture
def mindspore(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    def exp(value: float) -> float:
        if value < 0:
            raise ValueError("negative")
        return value + 1

    def zeros(size: int) -> list[int]:
        return [0] * size

    ops = module("mindspore.ops", exp=exp, zeros=zeros, Exp=Primitive, _hidden=exp)
    functional = module("mindspore.mint.nn.functional", relu=lambda value: max(value, 0))
    nn = module("mindspore.mint.nn", functional=functional)
    mint = module("mindspore.mint", exp=exp, nn=nn)
    api = module("mindspore.common.api", _JitExecutor=type("Executor", (Executor,), {}))
    common = module("mindspore.common", api=api)
    root = module(
        "mindspore", ops=ops, mint=mint, Tensor=type("Tensor", (Tensor,), {}), nn=module("nn", Cell=Cell)
    )
    for item in (root, ops, mint, nn, functional, common, api):
        name = item.__name__ if item.__name__.startswith("mindspore") else f"mindspore.{item.__name__}"
        monkeypatch.setitem(sys.modules, name, item)
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    yield root
    sys.modules.pop(MODULE, None)


@pytest.fixture
def calls() -> list[str]:
    return []


@pytest.fixture
def wrappers(mindspore: Any, calls: list[str]) -> Any:
    from mindinsight.writer.recorders.mindspore_probe import FunctionWrappers

    def call(
        name: str, function: Callable[..., Any], arguments: Sequence[Any], named: Mapping[str, Any]
    ) -> Any:
        calls.append(name)
        with made.removed(name.startswith("Jit.")):
            return function(*arguments, **named)

    made = FunctionWrappers(call)
    return made


def state(mindspore: Any, cell: Cell) -> list[Any]:
    members = [dict(vars(owner)) for owner in (mindspore.ops, mindspore.mint, mindspore.mint.nn.functional)]
    executor = mindspore.common.api._JitExecutor if hasattr(mindspore, "common") else None
    return [*members, dict(vars(mindspore.Tensor)), type(cell.__dict__["_primitives"]["neg"]), executor]


def test_calls_have_the_names_of_msprobe(mindspore: Any, wrappers: Any, calls: list[str]) -> None:
    cell = Cell()
    wrappers.install([cell])
    assert mindspore.ops.exp(1) == 2
    assert mindspore.mint.exp(value=1) == 2
    assert mindspore.mint.nn.functional.relu(-1) == 0
    assert mindspore.Tensor(3) * 2 == 6
    assert cell.__dict__["_primitives"]["neg"](4) == -4
    assert isinstance(cell.__dict__["_primitives"]["neg"], Primitive)
    mindspore.ops.zeros(2)
    mindspore.Tensor(3).asnumpy()
    assert calls == [
        "Functional.exp",
        "Mint.exp",
        "MintFunctional.relu",
        "Tensor.__mul__",
        "Primitive.neg.Primitive",
    ]


def test_everything_is_put_back_also_after_an_exception(
    mindspore: Any, wrappers: Any, calls: list[str]
) -> None:
    cell = Cell()
    before = state(mindspore, cell)
    wrappers.remove()  # nothing is wrapped yet
    for _ in range(2):
        wrappers.install([cell])
        wrappers.install([cell])  # twice
        assert state(mindspore, cell) != before
        with pytest.raises(ValueError, match="negative"):
            mindspore.ops.exp(-1)
        wrappers.remove()
        assert state(mindspore, cell) == before
    calls.clear()
    mindspore.ops.exp(1)
    assert calls == []


def test_what_jit_compiles_runs_without_the_wrappers(mindspore: Any, wrappers: Any, calls: list[str]) -> None:
    plain = mindspore.ops.exp
    seen: list[bool] = []

    def construct(value: int) -> int:
        seen.append(mindspore.ops.exp is plain)
        return int(mindspore.ops.exp(value))

    wrappers.install([Cell()])
    executor = sys.modules["mindspore.common.api"]._JitExecutor(construct)
    assert executor(1) == 2
    assert (calls, seen) == (["Jit.construct"], [True])
    assert mindspore.ops.exp is not plain
    wrappers.remove()
    assert mindspore.ops.exp is plain
