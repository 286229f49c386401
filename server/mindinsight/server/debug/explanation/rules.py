"""Rules that tell from an operator's inputs why one element of its output is not finite.

A rule looks at one output element and the elements it was computed from. Domains are those of IEEE 754
and of the real functions: the logarithm, for one, is defined above zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from mindinsight.server.debug.operator_types import canonical

Array: TypeAlias = npt.NDArray[Any]

LARGEST: Final[Mapping[str, float]] = {  # largest finite number by element type
    "float8_e4m3fn": 448.0,
    "float8_e5m2": 57344.0,
    "float16": 65504.0,
    "bfloat16": float.fromhex("0x1.fep127"),
    "float32": float(np.finfo(np.float32).max),
    "float64": float(np.finfo(np.float64).max),
}


@dataclass(frozen=True, slots=True)
class Element:
    """One element of an output that is not finite, with the elements of the inputs at the same index.

    ``operands`` are None for inputs that do not broadcast to the output.
    """

    inputs: Sequence[Array]
    output: Array
    index: tuple[int, ...]
    dtype: str  # element type of the output as it was computed

    @property
    def result(self) -> float:
        return float(self.output[self.index])

    @property
    def operands(self) -> list[float | None]:
        return [_element(values, self.output.shape, self.index) for values in self.inputs]


@dataclass(frozen=True, slots=True)
class Cause:
    """Why an element is not finite: the key of its sentence, its words, and the input that brought it."""

    reason: str
    words: Mapping[str, str]
    slot: int | None = None  # position among the inputs


Rule: TypeAlias = Callable[[Element], Cause | None]


def number_text(value: float) -> str:
    """A number with six digits, as sentences show it."""
    return f"{value:.6g}"


def cause_of(operator: str, element: Element) -> Cause | None:
    """The cause by the rule of an operator type, by overflow, or None where no rule fits.

    Types are compared without case and punctuation, so ``aten::log_``, ``Log`` and ``torch.log`` are one.
    """
    name = canonical(operator)
    rule = _RULES.get(name)
    cause = rule(element) if rule else None
    if cause is None and name in _BINARY and len(element.inputs) < 2:
        return None  # the other operand is a number that was not recorded: it may well be zero
    return cause or _overflow(element)


def _element(values: Array, shape: tuple[int, ...], index: tuple[int, ...]) -> float | None:
    if values.dtype.kind not in "biuf":
        return None
    try:
        return float(np.broadcast_to(values, shape)[index])
    except (ValueError, IndexError):
        return None


def _first(element: Element) -> float | None:
    operands = element.operands
    return operands[0] if operands else None


def _logarithm(pole: float) -> Rule:
    def rule(element: Element) -> Cause | None:
        value = _first(element)
        if value is None or value > pole:
            return None
        reason = "log_zero" if value == pole else "log_negative"
        return Cause(reason, {"value": number_text(value), "pole": number_text(pole)}, 0)

    return rule


def _square_root(element: Element) -> Cause | None:
    value = _first(element)
    return (
        Cause("sqrt_negative", {"value": number_text(value)}, 0) if value is not None and value < 0 else None
    )


def _reciprocal_root(element: Element) -> Cause | None:
    value = _first(element)
    return Cause("division_by_zero", {"value": "1"}, 0) if value == 0 else _square_root(element)


def _reciprocal(element: Element) -> Cause | None:
    return Cause("division_by_zero", {"value": "1"}, 0) if _first(element) == 0 else None


def _division(element: Element) -> Cause | None:
    operands = element.operands
    if len(operands) < 2 or operands[0] is None or operands[1] != 0:
        return None
    if element.inputs[1].size == 1 < element.inputs[0].size:
        return Cause("zero_scale", {}, 1)
    reason = "zero_by_zero" if operands[0] == 0 else "division_by_zero"
    return Cause(reason, {"value": number_text(operands[0])}, 1)


def _exponential(element: Element) -> Cause | None:
    value, largest = _first(element), LARGEST.get(element.dtype)
    if value is None or largest is None or value <= math.log(largest):
        return None
    words = {"value": number_text(value), "limit": number_text(math.log(largest)), "dtype": element.dtype}
    return Cause("exp_overflow", words, 0)


def _power(element: Element) -> Cause | None:
    operands = element.operands
    if len(operands) < 2 or operands[0] is None or operands[1] is None:
        return None
    base, exponent = operands[0], operands[1]
    words = {"value": number_text(base), "exponent": number_text(exponent)}
    if base < 0 and exponent != math.floor(exponent):
        return Cause("power_negative", words, 0)
    return Cause("power_zero", words, 0) if base == 0 and exponent < 0 else None


def _arc(element: Element) -> Cause | None:
    value = _first(element)
    outside = value is not None and abs(value) > 1
    return Cause("arc_outside", {"value": number_text(value or 0.0)}, 0) if outside else None


def _remainder(element: Element) -> Cause | None:
    operands = element.operands
    if len(operands) < 2 or operands[0] is None or operands[1] != 0:
        return None
    return Cause("zero_by_zero" if operands[0] == 0 else "division_by_zero", _value(operands[0]), 1)


def _between(low: float, high: float, poles: Sequence[float] = ()) -> Rule:
    """Rule of a function that is defined from ``low`` to ``high`` and infinite at its ``poles``."""

    def rule(element: Element) -> Cause | None:
        value = _first(element)
        if value is None:
            return None
        if value in poles:
            return Cause("pole", _value(value), 0)
        if low <= value <= high:
            return None
        bounds = {"low": number_text(low), "high": number_text(high)}
        return Cause("outside", _value(value) | bounds, 0)

    return rule


def _mean(element: Element) -> Cause | None:
    return Cause("mean_of_nothing", {}, 0) if element.inputs and not element.inputs[0].size else None


def _deviation(element: Element) -> Cause | None:
    """Standard deviation or variance, divided by n - 1."""
    if not element.inputs or not math.isnan(element.result):
        return None
    per_output = element.inputs[0].size // max(element.output.size, 1)
    return Cause("deviation_of_one", {}, 0) if per_output < 2 else None


def _likelihood(element: Element) -> Cause | None:
    """Mean of a loss over targets, of which none is a class: all are ignored."""
    if len(element.inputs) < 2 or not math.isnan(element.result) or element.inputs[1].dtype.kind not in "iu":
        return None
    scores, targets = element.inputs[0], element.inputs[1]
    classes = scores.shape[1] if scores.ndim > 1 else scores.size
    ignored = bool(((targets < 0) | (targets >= classes)).all())
    return Cause("targets_ignored", {"n": str(targets.size)}, 1) if ignored else None


def _value(value: float) -> dict[str, str]:
    return {"value": number_text(value)}


def _softmax(element: Element) -> Cause | None:
    values = element.inputs[0] if element.inputs else None
    if values is None or values.shape != element.output.shape or not values.ndim:
        return None
    rows = (np.moveaxis(values, axis, -1)[_without(element.index, axis)] for axis in range(values.ndim))
    return Cause("softmax_masked", {}, 0) if any(bool(np.isneginf(row).all()) for row in rows) else None


def _without(index: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return index[:axis] + index[axis + 1 :]


def _batch_norm(element: Element) -> Cause | None:
    values = element.inputs[0] if element.inputs else None
    if values is None or values.ndim < 2 or values.size // max(values.shape[1], 1) > 1:
        return None
    return Cause("batch_of_one", {}, 0)


def _layer_norm(element: Element) -> Cause | None:
    values = element.inputs[0] if element.inputs else None
    if values is None or values.ndim < 1 or values.shape != element.output.shape:
        return None
    row = values[element.index[:-1]]
    constant = row.size > 0 and bool((row == row.flat[0]).all())
    return Cause("constant_row", {"value": number_text(float(row.flat[0]))}, 0) if constant else None


def _overflow(element: Element) -> Cause | None:
    """Finite inputs whose result is an infinity: it is larger than the type can hold."""
    largest = LARGEST.get(element.dtype)
    floats = [values for values in element.inputs if values.dtype.kind == "f" and values.size]
    if largest is None or not floats or not math.isinf(element.result):
        return None
    greatest = max(float(np.abs(values).max()) for values in floats)
    if not math.isfinite(greatest):
        return None
    words = {"dtype": element.dtype, "limit": number_text(largest), "value": number_text(greatest)}
    return Cause("overflow", words)


_DIVISIONS: Final = ("div", "realdiv", "divide", "truediv", "truedivide", "divnonan", "itruediv")
_POWERS: Final = ("pow", "floatpower", "ipow")
_REMAINDERS: Final = ("remainder", "fmod", "mod", "floormod", "floordiv", "floordivide")
_BINARY: Final = frozenset((*_DIVISIONS, *_POWERS, *_REMAINDERS))
_RULES: Final[Mapping[str, Rule]] = {
    **dict.fromkeys(("log", "log2", "log10"), _logarithm(0.0)),
    "log1p": _logarithm(-1.0),
    "sqrt": _square_root,
    **dict.fromkeys(("rsqrt", "reciprocalsqrt"), _reciprocal_root),
    **dict.fromkeys(("reciprocal", "inv"), _reciprocal),
    **dict.fromkeys(_DIVISIONS, _division),
    **dict.fromkeys(("exp", "expm1", "cosh", "sinh"), _exponential),
    **dict.fromkeys(_POWERS, _power),
    **dict.fromkeys(("acos", "asin", "arccos", "arcsin"), _arc),
    **dict.fromkeys(("atanh", "arctanh", "erfinv"), _between(-1.0, 1.0, (-1.0, 1.0))),
    **dict.fromkeys(("acosh", "arccosh"), _between(1.0, math.inf)),
    "logit": _between(0.0, 1.0, (0.0, 1.0)),
    **dict.fromkeys(_REMAINDERS, _remainder),
    **dict.fromkeys(("mean", "reducemean"), _mean),
    **dict.fromkeys(("std", "var", "stdmean", "varmean"), _deviation),
    **dict.fromkeys(("nlllossforward", "nllloss", "nllloss2dforward", "crossentropyloss"), _likelihood),
    **dict.fromkeys(("softmax", "logsoftmax", "safesoftmax"), _softmax),
    **dict.fromkeys(
        ("batchnorm", "nativebatchnorm", "batchnorm1d", "batchnorm2d", "batchnorm3d"), _batch_norm
    ),
    **dict.fromkeys(("layernorm", "nativelayernorm"), _layer_norm),
}
