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
Bound: TypeAlias = Callable[[Element], float | None]


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
    return cause or _overflow(name, element)


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


def _overflow(name: str, element: Element) -> Cause | None:
    """Return the cause "overflow" if the magnitudes of the inputs can reach an infinity, otherwise None.

    An operator whose result has no known bound is never said to overflow.
    """
    largest = LARGEST.get(element.dtype)
    floats = [values for values in element.inputs if values.dtype.kind == "f" and values.size]
    bound = _BOUNDS.get(name)
    if largest is None or bound is None or not floats or not math.isinf(element.result):
        return None
    with np.errstate(all="ignore"):
        greatest = max(float(np.abs(values).max()) for values in floats)
        reach = bound(element)
    if not math.isfinite(greatest) or reach is None or not reach > largest * _ROUNDING:
        return None
    words = {"dtype": element.dtype, "limit": number_text(largest), "value": number_text(greatest)}
    return Cause("overflow", words)


def _greatest(values: Array) -> float:
    return float(np.abs(values.astype(np.float64)).max()) if values.size else 0.0


def _magnitudes(element: Element, count: int) -> list[float] | None:
    """Magnitudes of the first ``count`` operands at the element; None if one was not recorded."""
    operands = element.operands[:count]
    known = [abs(value) for value in operands if value is not None]
    return known if len(known) == count else None


def _sum_bound(element: Element) -> float | None:
    known = _magnitudes(element, 2)
    return sum(known) if known else None


def _product_bound(element: Element) -> float | None:
    known = _magnitudes(element, 2)
    return known[0] * known[1] if known else None


def _quotient_bound(element: Element) -> float | None:
    known = _magnitudes(element, 2)
    return known[0] / known[1] if known and known[1] else None


def _square_bound(element: Element) -> float | None:
    known = _magnitudes(element, 1)
    return known[0] ** 2 if known else None


def _power_bound(element: Element) -> float | None:
    known = _magnitudes(element, 2)
    if not known or not known[0]:
        return None
    beyond_float64 = known[1] * math.log10(known[0]) > 308
    return math.inf if beyond_float64 else float(known[0] ** known[1])


def _cast_bound(element: Element) -> float | None:
    known = _magnitudes(element, 1)
    return known[0] if known else None


def _reciprocal_bound(element: Element) -> float | None:
    known = _magnitudes(element, 1)
    return 1 / known[0] if known and known[0] else None


def _reduction_bound(power: int) -> Bound:
    """Bound of a sum of powers over all elements that may go into one output."""

    def bound(element: Element) -> float | None:
        if not element.inputs:
            return None
        values = element.inputs[0]
        terms = values.size // max(element.output.size, 1)
        return float(terms * _greatest(values) ** power)

    return bound


def _contraction_bound(element: Element) -> float | None:
    """Bound of a sum of K products: K times the largest magnitudes, plus what is added to it.

    K is at most the number of weights that go into one output: the size of the weight by its output features.
    """
    arrays = [values for values in element.inputs if values.dtype.kind == "f" and values.ndim >= 2]
    if len(arrays) < 2:
        return None
    left, right = arrays[0], arrays[1]
    terms = max(values.size // min(values.shape[:2]) for values in (left, right) if values.size)
    added = sum(
        _greatest(values) for values in element.inputs if not any(values is array for array in (left, right))
    )
    return float(terms * _greatest(left) * _greatest(right) + added)


def _gradient_of_root(element: Element) -> Cause | None:
    """Gradient of a square root, ``SqrtGrad(y, dy)``: dy divided by twice y."""
    operands = element.operands
    if len(operands) < 2 or operands[0] != 0 or operands[1] is None:
        return None
    return Cause("zero_by_zero" if operands[1] == 0 else "division_by_zero", _value(operands[1]), 0)


def _gamma(element: Element) -> Cause | None:
    """The gamma function, its logarithm and derivative are infinite at zero and the negative integers."""
    value = _first(element)
    at_pole = value is not None and value <= 0 and value == math.floor(value)
    return Cause("pole", _value(value), 0) if at_pole and value is not None else None


_DIVISIONS: Final = ("div", "realdiv", "divide", "truediv", "truedivide", "divnonan", "itruediv")
_POWERS: Final = ("pow", "floatpower", "ipow")
_REMAINDERS: Final = ("remainder", "fmod", "mod", "floormod", "floordiv", "floordivide")
_ROUNDING: Final = 0.999  # a result just below the largest number is rounded up to an infinity
_MATMULS: Final = (
    *("matmul", "mm", "bmm", "batchmatmul", "linear", "addmm", "baddbmm", "dense", "einsum", "mv", "dot"),
    *("conv1d", "conv2d", "conv3d", "convolution", "conv2dbackpropinput", "conv2dbackpropfilter"),
)
_BOUNDS: Final[Mapping[str, Bound]] = {  # largest magnitude that a result can reach
    **dict.fromkeys(("add", "sub", "addn", "tensoradd", "biasadd", "iadd", "isub"), _sum_bound),
    **dict.fromkeys(("mul", "multiply", "imul"), _product_bound),
    **dict.fromkeys(_DIVISIONS, _quotient_bound),
    **dict.fromkeys(("square",), _square_bound),
    **dict.fromkeys(_POWERS, _power_bound),
    **dict.fromkeys(("cast", "to", "tocopy", "half", "type", "astype"), _cast_bound),
    **dict.fromkeys(("reciprocal", "inv"), _reciprocal_bound),
    **dict.fromkeys(("sum", "reducesum", "mean", "reducemean", "cumsum"), _reduction_bound(1)),
    **dict.fromkeys(("norm", "linalgvectornorm", "var", "std", "l2loss", "mseloss"), _reduction_bound(2)),
    **dict.fromkeys(_MATMULS, _contraction_bound),
}
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
    **dict.fromkeys(("sqrtgrad", "sqrtbackward", "sqrtbackward0"), _gradient_of_root),
    **dict.fromkeys(("lgamma", "digamma", "gammaln"), _gamma),
    **dict.fromkeys(("mean", "reducemean"), _mean),
    **dict.fromkeys(("std", "var", "stdmean", "varmean"), _deviation),
    **dict.fromkeys(("nlllossforward", "nllloss", "nllloss2dforward", "crossentropyloss"), _likelihood),
    **dict.fromkeys(("softmax", "logsoftmax", "safesoftmax"), _softmax),
    **dict.fromkeys(
        ("batchnorm", "nativebatchnorm", "batchnorm1d", "batchnorm2d", "batchnorm3d"), _batch_norm
    ),
    **dict.fromkeys(("layernorm", "nativelayernorm"), _layer_norm),
}
