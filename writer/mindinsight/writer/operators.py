"""Summary operators inside a forward pass: values, histograms, images, prints and gradients."""

from __future__ import annotations

import math
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from mindinsight.writer.arrays import mindspore_dtype, to_numpy
from mindinsight.writer.frameworks import framework_of
from mindinsight.writer.frameworks.framework_values import is_symbolic, mindspore_subclass, with_numbers

if TYPE_CHECKING:
    from typing_extensions import Self


class OperatorValues:
    """Buffer of the newest value of each plugin and tag, until it is taken. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: dict[tuple[str, str], object] = {}
        self._barriers: set[Callable[[], None]] = set()

    def put(self, plugin: str, tag: str, value: object) -> None:
        """Store a copy of ``value`` for a plugin and tag. Later changes in place have no effect. Inside a
        function that JAX compiles, the value is stored when the function runs."""
        barrier = with_numbers(value, partial(self._store, plugin, tag))
        if barrier is not None:
            self._barriers.add(barrier)

    def take(self) -> list[tuple[str, str, object]]:
        """Return (plugin, tag, value) of the newest value of each plugin and tag delivered since the last
        call, [] if there is none."""
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
    """Return (plugin, tag, value) of the newest value of each plugin and tag that summary operators delivered
    since the last call, including MindSpore's, [] if there is none."""
    values = _DELIVERED.take()
    if "mindspore" in sys.modules:
        from mindinsight.writer.frameworks import mindspore

        values += mindspore.take_operator_values()
    return values


class Operator:
    """Base of operators that may be called inside a network.

    If MindSpore is loaded, an instance is also an instance of its primitive ``_primitive``. A network
    compiled in graph mode contains that primitive, because a Python function with side effects cannot be
    compiled. In PyNative mode and in other frameworks our ``__call__`` runs.
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
        """Return True if a value of this shape can be recorded."""
        raise NotImplementedError

    def __call__(self, name: str, value: object) -> None:
        """Record ``value`` under the tag ``name`` at the next ``record``. Raises TypeError if ``name`` is not
        text, ValueError if it is empty or if this kind does not take the shape of ``value``."""
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
    """Operator that records a number: ``ScalarSummary()("loss", value)``."""

    plugin = "scalar"
    _primitive = "ScalarSummary"

    def _takes(self, shape: Sequence[int]) -> bool:
        return math.prod(shape) == 1


class ImageSummary(_Summary):
    """Operator that records images (N, C, H, W), C from 1 to 4: ``ImageSummary()("input", value)``."""

    plugin = "image"
    _primitive = "ImageSummary"

    def _takes(self, shape: Sequence[int]) -> bool:
        return len(shape) == 4 and 1 <= shape[1] <= 4 and math.prod(shape) > 0


class TensorSummary(_Summary):
    """Operator that records a whole tensor of rank 1 or more: ``TensorSummary()("x", value)``."""

    plugin = "tensor"
    _primitive = "TensorSummary"

    def _takes(self, shape: Sequence[int]) -> bool:
        return len(shape) >= 1


class HistogramSummary(TensorSummary):
    """Operator that records the distribution of a tensor: ``HistogramSummary()("x", value)``."""

    plugin = "histogram"
    _primitive = "HistogramSummary"


def deliver(plugin: str, tag: str, value: object) -> None:
    """Store a copy of ``value``, whose shape has been checked, for the next ``record``. Only the newest value
    of a plugin and tag is recorded."""
    _DELIVERED.put(plugin, tag, value)


def _snapshot(value: object) -> object:
    """Return a copy of ``value`` on its device, without waiting for its computation."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if hasattr(value, "detach") and hasattr(value, "clone"):
        return value.detach().clone()
    return value.copy() if hasattr(value, "asnumpy") else value  # type: ignore[attr-defined]


class Print(Operator):
    """Operator that prints its arguments in order: ``Print()("x", tensor, "y")``.

    Text, Python numbers and tensors without dimensions are printed as they are. Another tensor, of any
    framework, is printed as ``Tensor(shape=[2, 1], dtype=Int32, value=``, its values without commas and
    ``)``. Inside a function that JAX compiles, the values are printed when the function runs. Raises
    TypeError for an object without numbers.
    """

    _primitive = "Print"

    def __call__(self, *values: object) -> None:
        for value in values:
            with_numbers(value, _show)


def tensor_text(value: object) -> str:
    """Return a tensor in the format of MindSpore's Print, abridged beyond 1000 elements. Raises TypeError
    if there are no numbers. Floating values have 8 digits after the point, float16 has 4. A tensor without
    dimensions is its number with 6 digits."""
    host = to_numpy(value)
    values, shape = host.values, list(host.values.shape)
    if values.ndim == 0:
        return f"{values[()]:g}" if values.dtype.kind == "f" else str(values[()])
    start = f"Tensor(shape={shape}, dtype={mindspore_dtype(host.dtype)}, value="
    if values.size == 0:
        return f"{start}\n)"
    line = "\n" if values.ndim > 1 else ""
    return f"{start}{line}{_numbers(values)})"


def _show(value: object) -> None:
    plain = isinstance(value, (str, bool, int, float, tuple, list)) and not isinstance(value, np.generic)
    print(value if plain else tensor_text(value), flush=True)


def _numbers(values: npt.NDArray[np.generic]) -> str:
    digits = 4 if values.dtype == np.float16 else 8

    def scientific(value: float) -> str:
        return f"{value: {digits + 7}.{digits}e}"

    text = np.array2string(
        values,
        separator=" ",
        max_line_width=sys.maxsize,
        threshold=1000,
        formatter={"float_kind": scientific},  # type: ignore[arg-type]
    )
    while "\n\n" in text:  # NumPy parts blocks by empty lines
        text = text.replace("\n\n", "\n")
    return text


def record_gradients(network: object, pattern: str = ".*", every: int = 1) -> Callable[[], None]:
    """Record gradients as histograms ``<parameter>/gradient``, until the returned function is called. Raises
    TypeError for a network of another framework, ValueError for an invalid pattern or ``every``.

    Works for a PyTorch module, and for a MindSpore Cell in both modes if called before the network is
    compiled. Of each ``every`` backward passes the first is recorded, at the next ``SummaryRecord.record``.
    In graph mode ``every`` is 1. ``pattern`` is a regular expression that matches the start of the
    parameter's name. Recording in a compiled graph does not end.
    """
    if every < 1:
        raise ValueError(f"every must be at least 1, got {every!r}")
    matches = _matcher(pattern)
    framework = framework_of(network)
    if framework is None or not hasattr(framework, "on_gradients"):
        kind = type(network).__name__
        raise TypeError(f"gradients can be recorded in a PyTorch module or a MindSpore Cell, got {kind}")
    if every == 1 and hasattr(framework, "operate_on_gradients"):
        remove: Callable[[], None] = framework.operate_on_gradients(network, matches, HistogramSummary)
        return remove
    passes: Counter[str] = Counter()

    def put(name: str, gradient: object) -> None:
        if passes[name] % every == 0:
            deliver("histogram", f"{name}/gradient", gradient)
        passes[name] += 1

    end: Callable[[], None] = framework.on_gradients(network, matches, put)
    return end


def _matcher(pattern: str) -> Callable[[str], bool]:
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ValueError(f"pattern {pattern!r} is not a valid regular expression: {error}") from error
    return lambda name: compiled.match(name) is not None
