"""Values are put when they have numbers."""

from typing import Any

import pytest

from mindinsight.writer.frameworks.tracing import is_symbolic, with_numbers


def instance(module: Any, base: Any = object) -> Any:
    return type("Thing", (base,), {"__module__": module})()


def test_numbers_are_put_at_once() -> None:
    got: list[Any] = []
    assert with_numbers(3.0, got.append) is None
    assert got == [3.0]


@pytest.mark.parametrize("module", ["torch.fx.proxy", "torch._subclasses.fake_tensor"])
def test_a_stand_in_is_never_put(module: str) -> None:
    got: list[Any] = []
    stand_in = instance(module)
    assert is_symbolic(stand_in)
    assert with_numbers(stand_in, got.append) is None
    assert got == []
