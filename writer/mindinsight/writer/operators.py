"""Summary operators, called inside a forward pass, where no recorder is at hand.

The next ``SummaryRecord.record`` takes what was delivered since the one before it. Of several values of
one plugin and tag it gets the newest, as with MindSpore's operators of the same names.
"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from mindinsight.writer.frameworks.mindspore_types import mindspore_subclass
from mindinsight.writer.frameworks.tracing import is_symbolic, with_numbers

if TYPE_CHECKING:
    from typing_extensions import Self


class OperatorValues:
    """Buffer of the newest value of each plugin and tag, until it is taken. For several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: dict[tuple[str, str], object] = {}
        self._barriers: set[Callable[[], None]] = set()

    def put(self, plugin: str, tag: str, value: object) -> None:
        """Keep ``value`` as it is now: what the network does to it in place later does not show.

        Inside a function that JAX compiles there are no numbers yet: they come when it runs.
        """
        barrier = with_numbers(value, partial(self._store, plugin, tag))
        if barrier is not None:
            self._barriers.add(barrier)

    def take(self) -> list[tuple[str, str, object]]:
        """Plugin, tag and value of everything delivered since the last call."""
        for wait in tuple(self._barriers):
            wait()
        with self._lock:
            values, self._values = self._values, {}
        return [(plugin, tag, value) for (plugin, tag), value in values.items()]

    def _store(self, plugin: str, tag: str, value: object) -> None:
        copy = _snapshot(value)
        with self._lock:
            self._values.pop((plugin, tag), None)
            self._values[plugin, tag] = copy


# One for the process, as an operator deep inside a network knows of no recorder.
_DELIVERED = OperatorValues()


def take_operator_values() -> list[tuple[str, str, object]]:
    """Plugin, tag and value of every summary operator, ours and MindSpore's, since the last call."""
    values = _DELIVERED.take()
    if "mindspore" in sys.modules:
        from mindinsight.writer.frameworks import mindspore

        values += mindspore.take_operator_values()
    return values


class Operator:
    """Base of what may be called inside a network.

    Once MindSpore is loaded an instance is also one of its primitive ``_primitive``, so that a network
    compiled in graph mode contains that, as a Python function with side effects cannot be compiled.
    Where Python runs (PyNative mode, other frameworks) ``__call__`` is ours.
    """

    _primitive: ClassVar[str]

    def __new__(cls) -> Self:
        subclass: Any = mindspore_subclass(cls, "mindspore.ops", cls._primitive, cls._primitive)
        if subclass is not cls:
            return subclass.__new__(subclass)  # type: ignore[no-any-return]
        return super().__new__(cls)


class _Summary(Operator):
    """Summary operator of one plugin, called with a name and a value."""

    plugin: ClassVar[str]

    def _takes(self, shape: Sequence[int]) -> bool:
        """Whether a value of this shape can be recorded."""
        raise NotImplementedError

    def __call__(self, name: str, value: object) -> None:
        """Deliver ``value`` under the tag ``name``.

        Raises TypeError when ``name`` is not text, ValueError when it is empty or ``value`` has a shape
        this kind does not take.
        """
        if not isinstance(name, str):
            raise TypeError(f"the name must be a str, got {type(name).__name__}")
        if not name:
            raise ValueError("the name must not be empty")
        if is_symbolic(value):
            return
        shape = tuple(value.shape if hasattr(value, "shape") else np.asarray(value).shape)
        if not self._takes(shape):
            raise ValueError(f"{self._primitive} {name!r} cannot record a value of shape {shape}")
        deliver(self.plugin, name, value)


class ScalarSummary(_Summary):
    """``ScalarSummary()("loss", value)`` records one number."""

    plugin = "scalar"
    _primitive = "ScalarSummary"

    def _takes(self, shape: Sequence[int]) -> bool:
        return math.prod(shape) == 1


class ImageSummary(_Summary):
    """``ImageSummary()("input", value)`` records images of shape (N, C, H, W), C from 1 to 4."""

    plugin = "image"
    _primitive = "ImageSummary"

    def _takes(self, shape: Sequence[int]) -> bool:
        return len(shape) == 4 and 1 <= shape[1] <= 4 and math.prod(shape) > 0


class TensorSummary(_Summary):
    """``TensorSummary()("x", value)`` records a tensor of rank 1 or more, whole."""

    plugin = "tensor"
    _primitive = "TensorSummary"

    def _takes(self, shape: Sequence[int]) -> bool:
        return len(shape) >= 1


class HistogramSummary(TensorSummary):
    """``HistogramSummary()("x", value)`` records how the numbers of a tensor of rank 1 or more spread."""

    plugin = "histogram"
    _primitive = "HistogramSummary"


def deliver(plugin: str, tag: str, value: object) -> None:
    """Have the next ``record`` take ``value``, whose shape is known to be right for the plugin."""
    _DELIVERED.put(plugin, tag, value)


def _snapshot(value: object) -> object:
    """``value`` in memory of its own, on the device where it is; nothing waits for it."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if hasattr(value, "detach") and hasattr(value, "clone"):
        return value.detach().clone()
    return value.copy() if hasattr(value, "asnumpy") else value  # type: ignore[attr-defined]
