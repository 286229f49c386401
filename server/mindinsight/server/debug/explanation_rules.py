"""Rules that derive from an operator's inputs why one element of its output is non-finite.

A rule examines one output element and the elements from which it was computed. Domains are those of IEEE 754
and of the real functions. The logarithm, for example, is defined above zero.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mindinsight.server.claims import format_number
from mindinsight.server.debug.operator_links import canonical, is_sum

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
    """One non-finite element of an output at an index, and the inputs it was computed from."""

    inputs: Sequence[Array]
    output: Array
    index: tuple[int, ...]
    dtype: str  # element type of the output as it was computed

    @property
    def result(self) -> float:
        """Return the non-finite element."""
        return float(self.output[self.index])

    @property
    def operands(self) -> list[float | None]:
        """Return the element of each input at the same index, None if it does not broadcast to the output."""
        return [_element(values, self.output.shape, self.index) for values in self.inputs]


@dataclass(frozen=True, slots=True)
class Cause:
    """Cause of a non-finite element: the key of its sentence, values for the sentence, and the input
    responsible."""

    reason: str
    words: Mapping[str, Any]
    slot: int | None = None  # position among the inputs


Rule: TypeAlias = Callable[[Element], Cause | None]


class Span(NamedTuple):
    """Bounds of an operator's possible results, computed from its inputs."""

    result: float  # the possible result nearest to zero
    largest_sum: float = 0.0  # largest magnitude of a sum inside the operator, 0 without a sum
    cancelling: float = 0.0  # smaller magnitude of its positive and its negative terms' sums; 0 if unknown


Reach: TypeAlias = Callable[[Element], Span | None]


def number_text(value: float) -> str:
    """Return a number as text with six significant digits, for a sentence."""
    return f"{value:.6g}" if math.isfinite(value) else format_number(value).replace("−", "-")


def number_beside(value: float, *limits: float) -> str:
    """Return a number as text with six significant digits, or with more if it would look like one of
    ``limits``."""
    digits = range(6, 18)
    texts = (f"{value:.{count}g}" for count in digits if math.isfinite(value))
    return next((text for text in texts if float(text) not in limits or value in limits), number_text(value))


def cause_of(operator_type: str, element: Element) -> Cause | None:
    """Return the cause by the rule of an operator type, else by overflow, or None if no rule holds.

    Case and punctuation of types are ignored: ``aten::log_``, ``Log`` and ``torch.log`` have one rule.
    """
    name = canonical(operator_type)
    rule = _RULES.get(name)
    cause = rule(element) if rule else None
    if cause is not None and not _gives(cause.reason, element.result):
        cause = None  # the condition holds but does not explain this result
    return cause or _overflow(name, element)


def number_at_fault(numbers: Mapping[str, float], element: Element) -> Cause | None:
    """Return the cause if a non-finite argument of the operator equals its result up to the sign, or None."""
    result = abs(element.result)
    for argument, number in numbers.items():
        if not math.isfinite(number) and (abs(number) == result or math.isnan(number) == math.isnan(result)):
            return Cause("number", {"value": number_text(number), "argument": argument})
    return None


def sum_of_terms(operator_type: str, element: Element) -> Cause | None:
    """Return why a sum is NaN or infinite: "carried" from a term that is, or "unexplained" if its terms are
    too small to overflow. Return None if the operator does not add, the sum may overflow, or terms are
    unknown. Elements at the result's index decide nothing.
    """
    with np.errstate(all="ignore"):
        span = _REACH[canonical(operator_type)](element) if is_sum(operator_type) else None
    if span is not None and span.result == element.result:
        return Cause("carried", _value(span.result))
    if span is None or span.largest_sum > LARGEST.get(element.dtype, 0.0):
        return None
    return Cause("unexplained", {"sum": number_text(span.largest_sum)})


def _gives(reason: str, result: float) -> bool:
    """Return True if a cause explains the given result, NaN or infinity. Some causes explain both."""
    if reason in _EITHER:
        return True
    return math.isinf(result) if reason in _INFINITE else math.isnan(result)


def _element(values: Array, shape: tuple[int, ...], index: tuple[int, ...]) -> float | None:
    """Return the element of an array broadcast to a shape, or None if that is impossible."""
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
        return Cause(reason, {"value": number_beside(value, pole), "pole": number_text(pole)}, 0)

    return rule


def _square_root(element: Element) -> Cause | None:
    return Cause("sqrt_negative", _value(value), 0) if (value := _first(element) or 0.0) < 0 else None


def _reciprocal_root(element: Element) -> Cause | None:
    value = _first(element)
    return Cause("division_by_zero", {"value": "1"}, 0) if value == 0 else _square_root(element)


def _by_zero(top: int, bottom: int) -> Rule:
    """Return the rule for a division, given the positions of dividend and divisor among the operands."""

    def rule(element: Element) -> Cause | None:
        operands = element.operands
        if len(operands) < 2 or (dividend := operands[top]) is None or operands[bottom] != 0:
            return None
        reason = "zero_by_zero" if dividend == 0 else "division_by_zero"
        return Cause(reason, _value(dividend), bottom)

    return rule


def _division(element: Element) -> Cause | None:
    cause = _by_zero(0, 1)(element)
    if cause is None:
        return None
    if element.inputs[1].size == 1 < element.inputs[0].size:
        return Cause("zero_scale", {}, 1)
    return cause if cause.reason == "zero_by_zero" or not math.isnan(element.result) else None


def _exponential(logarithm: Callable[[float], float]) -> Rule:
    def rule(element: Element) -> Cause | None:
        value, largest = _first(element), LARGEST.get(element.dtype)
        if value is None or largest is None or value <= logarithm(largest):
            return None
        shown = {"limit": number_text(logarithm(largest)), "dtype": element.dtype}
        return Cause("exp_overflow", {"value": number_beside(value, float(shown["limit"])), **shown}, 0)

    return rule


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
    if value is None or abs(value) <= 1:
        return None
    return Cause("arc_outside", {"value": number_beside(value, -1.0, 1.0)}, 0)


def _between(low: float, high: float, poles: Sequence[float] = ()) -> Rule:
    """Return the rule for a function that is defined from ``low`` to ``high`` and infinite at its
    ``poles``."""

    def rule(element: Element) -> Cause | None:
        value = _first(element)
        if value is None:
            return None
        if value in poles:
            return Cause("pole", _value(value), 0) if math.isinf(element.result) else None
        if low <= value <= high:
            return None
        words = {"low": number_text(low), "high": number_text(high), "value": number_beside(value, low, high)}
        return Cause("outside", words, 0)

    return rule


def _deviation(element: Element) -> Cause | None:
    """Return the cause if a standard deviation or variance had fewer than two elements, else None."""
    if not element.inputs or not math.isnan(element.result):
        return None
    per_output = element.inputs[0].size // max(element.output.size, 1)
    return Cause("deviation_of_one", {}, 0) if per_output < 2 else None


def _likelihood(element: Element) -> Cause | None:
    """Return the cause if a mean loss ignored all targets, because none of them is a class, else None."""
    if len(element.inputs) < 2 or not math.isnan(element.result) or element.inputs[1].dtype.kind not in "iu":
        return None
    scores, targets = element.inputs[0], element.inputs[1]
    classes = scores.shape[1] if scores.ndim > 1 else scores.size
    ignored = (
        targets.size > 0 and bool((targets == targets.flat[0]).all()) and not 0 <= targets.flat[0] < classes
    )
    return Cause("targets_ignored", {"n": str(targets.size)}, 1) if ignored else None


def _value(value: float) -> dict[str, str]:
    return {"value": number_text(value)}


def _softmax(element: Element) -> Cause | None:
    """Return the cause if all values that a softmax normalizes together are minus infinity, else None."""
    return _along_an_axis("softmax_masked", element, lambda row: bool(np.isneginf(row).all()))


def _normalized(element: Element) -> Cause | None:
    """Return the cause if a vector of zeros was divided by its norm, zero, else None."""
    return _along_an_axis("zero_norm", element, lambda row: not row.any())


def _along_an_axis(reason: str, element: Element, holds: Callable[[Array], bool]) -> Cause | None:
    """Return the cause ``reason`` if a condition holds for the input along a NaN result's axis, else None."""
    values = element.inputs[0] if element.inputs else None
    if values is None or values.shape != element.output.shape:
        return None
    for axis in reversed(range(values.ndim)):
        rows = _row(values, element.index, axis), _row(element.output, element.index, axis)
        if (rows[0].size > 1 or values.ndim == 1) and holds(rows[0]) and bool(np.isnan(rows[1]).all()):
            return Cause(reason, {"axis": str(axis)}, 0)
    return None


def _row(values: Array, index: tuple[int, ...], axis: int) -> Array:
    """Return the elements along an axis through the element at an index."""
    row: Array = np.moveaxis(values, axis, -1)[index[:axis] + index[axis + 1 :]]
    return row


def _batch_norm(element: Element) -> Cause | None:
    """Return the cause if a running variance is below zero, or if nothing varies in a batch, else None.
    The variance comes third or fifth, by framework. It counts if exactly its negative channels are NaN."""
    values = element.inputs[0] if element.inputs else None
    if values is not None and values.ndim > 1 and values.shape == element.output.shape:
        axes = tuple({*range(values.ndim)} - {1})
        broken: Array = np.asarray(np.isnan(element.output).any(axis=axes))
        slots = [slot for slot in (2, 4) if slot < len(element.inputs)]
        fits = [slot for slot in slots if np.array_equal(element.inputs[slot] < 0, broken)]
        if len(fits) == 1 and broken[element.index[1]]:
            channel = element.index[1]
            words = _value(float(element.inputs[fits[0]][channel])) | {"channel": str(channel)}
            return Cause("variance_negative", words, fits[0])
    if values is None or values.ndim < 2 or values.size // max(values.shape[1], 1) > 1:
        return None
    running = (*element.inputs[2:3], *element.inputs[4:5])  # layouts that hold a running variance
    negative = any(bool((values < 0).any()) for values in running)
    return Cause("batch_of_one", {}, 0) if not negative else None


def _layer_norm(element: Element) -> Cause | None:
    """Return the cause if all values that are normalized together are equal, else None."""
    values = element.inputs[0] if element.inputs else None
    if values is None or values.ndim < 1 or values.shape != element.output.shape:
        return None
    axes = element.inputs[1].ndim if len(element.inputs) > 1 else 1
    row = values[element.index[:-axes]]
    if not row.size or not bool((row == row.flat[0]).all()):
        return _variance_overflow(row)
    value, largest = float(row.flat[0]), LARGEST.get(element.dtype, 0.0)
    overflows = row.size * abs(value) > largest / max(abs(value), 1.0)  # the sum, or the sum of the squares
    return Cause("constant_row", {"value": number_text(value)}, 0) if not overflows else None


def _variance_overflow(row: Array) -> Cause | None:
    """Return the cause if the squares that go into a variance exceed float32, in which normalizations of half
    precision compute as well, else None."""
    with np.errstate(all="ignore"):
        squares = (
            float(np.square(row.astype(np.float64) - row.mean(dtype=np.float64)).sum()) if row.size else 0.0
        )
    if not math.isfinite(squares) or row.dtype == np.float64 or squares <= LARGEST["float32"]:
        return None
    words = {
        "dtype": "float32",
        "limit": number_text(LARGEST["float32"]),
        "value": number_text(_greatest(row)),
    }
    return Cause("overflow_inside", words, 0)


def _overflow(name: str, element: Element) -> Cause | None:
    """Return the cause "overflow" of the type, "overflow_inside" of a sum, or None without a known bound."""
    largest, broken = LARGEST.get(element.dtype), element.result
    floats = any(values.dtype.kind == "f" and values.size for values in element.inputs)
    if largest is None or not floats or not (math.isinf(broken) or is_sum(name)):
        return None
    reach = _REACH.get(name)
    with np.errstate(all="ignore"):
        greatest, slot = max(
            (_greatest(values), at)
            for at, values in enumerate(element.inputs)
            if values.dtype.kind == "f" and values.size
        )
        span = reach(element) if reach and math.isfinite(greatest) else None
    if span is None:
        return None
    words = {"dtype": element.dtype, "limit": number_text(largest), "value": number_text(greatest)}
    if math.isnan(broken):
        return Cause("overflow_both", words) if span.cancelling > largest else None
    if abs(span.result) > largest and span.result * broken > 0:
        return Cause("overflow", words, slot)
    return Cause("overflow_inside", words, slot) if span.largest_sum > largest else None


def _greatest(values: Array) -> float:
    """Return the largest magnitude in an array, without converting the array, which would copy it."""
    return max(abs(float(values.max())), abs(float(values.min())))


def _of_elements(function: Callable[..., Any], count: int | None = None) -> Reach:
    """Return a function that bounds an elementwise ``function`` of the first ``count`` operands, or all."""

    def reach(element: Element) -> Span | None:
        operands = element.operands[:count]
        known = [np.float64(value) for value in operands if value is not None]
        if len(known) != (count or len(element.inputs)):
            return None
        result = float(function(*known))
        return None if math.isnan(result) else Span(result)

    return reach


def _quotient(left: Any, right: Any) -> Any:
    return left / right if right else math.nan  # infinite without an overflow


def _reduced(element: Element) -> list[Array]:
    """Return the elements that may go into the output element: an array for each fitting choice of axes."""
    values, shape, index = element.inputs[0], element.output.shape, element.index
    if not 0 < values.ndim <= _MAX_AXES or not values.size or values.shape == shape:
        return []
    parts = []
    for count in range(1, values.ndim + 1):
        for axes in combinations(range(values.ndim), count):
            rest = [axis for axis in range(values.ndim) if axis not in axes]
            if tuple(values.shape[axis] for axis in rest) == shape:
                fixed = dict(zip(rest, index, strict=True))
            elif not rest and element.output.size == 1:
                fixed = {}
            elif tuple(1 if axis in axes else n for axis, n in enumerate(values.shape)) == shape:
                fixed = {axis: index[axis] for axis in rest}
            else:
                continue
            parts.append(values[tuple(fixed.get(axis, slice(None)) for axis in range(values.ndim))])
    return [part.ravel().astype(np.float64) for part in parts]


def _span(results: Sequence[float], inside: Sequence[float]) -> Span | None:
    """Return the bounds of several possible results, or None if there are none."""
    if not results:
        return None
    cancelling = min((whole - abs(result)) / 2 for whole, result in zip(inside, results, strict=True))
    return Span(min(results, key=abs) if min(results) * max(results) > 0 else 0.0, max(inside), cancelling)


def _reduction(result: Callable[[Array], Any], inside: Callable[[Array], Any]) -> Reach:
    """Return a function that bounds a reduction, by its result and the largest sum inside it. ``result``
    computes the result of the reduced elements, ``inside`` the largest sum on the way."""

    def reach(element: Element) -> Span | None:
        parts = _reduced(element) if element.inputs else []
        span = _span([float(result(part)) for part in parts], [float(inside(part)) for part in parts])
        return span if span is None or result is np.sum else span._replace(cancelling=0.0)

    return reach


def _magnitudes(part: Array) -> Any:
    return np.abs(part).sum()


def _squares(part: Array) -> Any:
    return np.square(part).sum()


def _accumulated(result: Callable[[Array], Any], inside: Callable[[Array], Any]) -> Reach:
    """Return a function that bounds the results of a cumulative sum or product along one of the axes."""

    def reach(element: Element) -> Span | None:
        values = element.inputs[0] if element.inputs else None
        if values is None or values.shape != element.output.shape:
            return None
        lines = [
            _row(values, element.index, axis)[: element.index[axis] + 1].astype(np.float64)
            for axis in range(values.ndim)
        ]
        return _span([float(result(line)) for line in lines], [float(inside(line)) for line in lines])

    return reach


def _squared_error(element: Element) -> Span | None:
    """Return the span of the squared difference of two inputs, or None if shapes do not fit."""
    if len(element.inputs) < 2:
        return None
    if element.inputs[0].shape == element.output.shape:
        return _of_elements(lambda left, right: (left - right) ** 2, 2)(element)
    if element.inputs[0].shape != element.inputs[1].shape:
        return None
    left, right = (values.astype(np.float64) for values in element.inputs[:2])
    squares = (left - right) ** 2
    return Span(float(squares.mean()), float(squares.sum())) if squares.size else None


def _product_of_matrices(added: slice = slice(2, None), first: int = 0) -> Reach:
    """Return a function that bounds the product of a row and a column plus the inputs ``added``. ``first``
    is the position of the first matrix. Transposition is unknown, so every reading that fits counts."""

    def reach(element: Element) -> Span | None:
        factors, shape = element.inputs[first : first + 2], element.output.shape
        if len(factors) < 2 or any(not values.ndim or values.dtype.kind != "f" for values in factors):
            return None
        both = all(values.ndim > 1 for values in factors)
        last = element.index[-1:]
        row = slice(-2, -1) if both else slice(-1, None)
        rows = _vectors(factors[0], element, element.index[row], shape[row])
        columns = _vectors(factors[1], element, last, shape[-1:])
        pairs = [(row, column) for row in rows for column in columns if row.size == column.size]
        terms = [_element(values, shape, element.index) for values in element.inputs[added]]
        if any(term is None for term in terms):
            return None
        more = sum(term for term in terms if term is not None)
        products = [row * column for row, column in pairs]
        return _span(
            [float(product.sum()) + more for product in products],
            [float(np.abs(product).sum()) + abs(more) for product in products],
        )

    return reach


def _vectors(values: Array, element: Element, at: tuple[int, ...], size: tuple[int, ...]) -> list[Array]:
    """Return the rows and columns of a matrix that can go into the output element."""
    if values.ndim == 1:
        return [values.astype(np.float64)]
    if not at or not values.size:
        return []
    if values.ndim > max(element.output.ndim, 2):  # the record has the shape before a view as a matrix
        matrices = [values.reshape(len(values), -1), values.reshape(-1, values.shape[-1])]
    else:
        batch = element.index[:-2][-(values.ndim - 2) :] if values.ndim > 2 else ()
        matrices = [values[tuple(min(i, n - 1) for i, n in zip(batch, values.shape, strict=False))]]
    vectors = [matrix[at[0]] for matrix in matrices if matrix.shape[0] == size[0]]
    vectors += [matrix[:, at[0]] for matrix in matrices if matrix.shape[1] == size[0]]
    return [vector.astype(np.float64) for vector in vectors]


def _convolution(element: Element) -> Span | None:
    """Return an upper bound of a convolution, largest sample magnitude times sum of filter magnitudes, or
    None if shapes do not fit. Channels are the second axis."""
    if len(element.inputs) < 2 or element.output.ndim < 3:
        return None
    images, filters = element.inputs[:2]
    batch, channel = element.index[:2]
    fits = images.ndim == filters.ndim == element.output.ndim
    if not fits or images.shape[0] != element.output.shape[0] or filters.shape[0] != element.output.shape[1]:
        return None
    biases = [values[channel] for values in element.inputs[2:] if values.shape == filters.shape[:1]]
    products = _greatest(images[batch]) * float(np.abs(filters[channel].astype(np.float64)).sum())
    return Span(0.0, products + sum(abs(float(bias)) for bias in biases))


def _gamma(element: Element) -> Cause | None:
    """Return the cause if a gamma function or a derivative had zero or a negative integer, or None."""
    value = _first(element)
    at_pole = value is not None and math.isfinite(value) and value <= 0 and value == math.floor(value)
    return Cause("pole", _value(value), 0) if at_pole and value is not None else None


_DIVISIONS: Final = ("div", "realdiv", "divide", "truediv", "truedivide", "itruediv")
_POWERS: Final = ("pow", "floatpower", "ipow")
_SINGULAR_AT_ZERO: Final = ("log", "log2", "log10", "sqrt", "rsqrt", "reciprocal")  # gradients divide by zero
_REMAINDERS: Final = ("remainder", "fmod", "mod", "floormod", "floordiv", "floordivide")
_INFINITE: Final = ("log_zero", "exp_overflow", "power_zero")  # causes of infinity
_EITHER: Final = ("division_by_zero", "zero_scale", "pole")  # causes of infinity or NaN
_MAX_AXES: Final = 6  # axes of a tensor for which all choices of reduced axes are tried: 63
_ZERO: Final[Callable[[Array], float]] = lambda _: 0.0  # noqa: E731 - a lower bound, and a product's sum
_SUM: Final = _reduction(np.sum, _magnitudes)
_REACH: Final[Mapping[str, Reach]] = {
    **dict.fromkeys(("add", "tensoradd", "biasadd", "iadd"), _of_elements(np.add, 2)),
    **dict.fromkeys(("sub", "isub", "subtract"), _of_elements(np.subtract, 2)),
    "addn": _of_elements(lambda *terms: np.sum(terms)),
    **dict.fromkeys(("mul", "multiply", "imul"), _of_elements(np.multiply, 2)),
    **dict.fromkeys((*_DIVISIONS, "divnonan"), _of_elements(_quotient, 2)),
    "addcmul": _of_elements(lambda total, first, second, factor: total + factor * first * second, 4),
    "addcdiv": _of_elements(lambda total, top, bottom, factor: total + factor * _quotient(top, bottom), 4),
    "square": _of_elements(np.square, 1),
    **dict.fromkeys(_POWERS, _of_elements(lambda base, exponent: base**exponent if base else math.nan, 2)),
    **{function.__name__: _of_elements(function, 1) for function in (np.cosh, np.sinh)},
    **dict.fromkeys(("cast", "to", "tocopy", "half", "type", "astype"), _of_elements(np.positive, 1)),
    **dict.fromkeys(("reciprocal", "inv"), _of_elements(lambda value: _quotient(1.0, value), 1)),
    **dict.fromkeys(("sum", "reducesum"), _SUM),
    **dict.fromkeys(("mean", "reducemean"), _reduction(np.mean, _magnitudes)),
    **dict.fromkeys(("norm", "linalgvectornorm"), _reduction(_ZERO, _squares)),
    **dict.fromkeys(("var", "std"), _reduction(_ZERO, _squares)),
    "l2loss": _reduction(lambda part: _squares(part) / 2, _squares),
    "mseloss": _squared_error,
    "cumsum": _accumulated(np.sum, _magnitudes),
    "cumprod": _accumulated(np.prod, _ZERO),
    **dict.fromkeys(("prod", "reduceprod"), _reduction(np.prod, _ZERO)),
    **dict.fromkeys(("matmul", "mm", "bmm", "batchmatmul", "mv", "dot"), _product_of_matrices()),
    **dict.fromkeys(("linear", "dense"), _product_of_matrices()),
    **dict.fromkeys(("addmm", "baddbmm", "addmv"), _product_of_matrices(slice(0, 1), 1)),
    **dict.fromkeys(("conv1d", "conv2d", "conv3d", "convolution"), _convolution),
}
_RULES: Final[Mapping[str, Rule]] = {
    **dict.fromkeys(("log", "log2", "log10"), _logarithm(0.0)),
    "log1p": _logarithm(-1.0),
    "sqrt": _square_root,
    **dict.fromkeys(("rsqrt", "reciprocalsqrt"), _reciprocal_root),
    **dict.fromkeys(
        ("reciprocal", "inv"),
        lambda element: Cause("division_by_zero", {"value": "1"}, 0) if _first(element) == 0 else None,
    ),
    **dict.fromkeys(_DIVISIONS, _division),
    **dict.fromkeys(("exp", "expm1"), _exponential(math.log)),
    "exp2": _exponential(math.log2),
    **dict.fromkeys(_POWERS, _power),
    **dict.fromkeys(("acos", "asin", "arccos", "arcsin"), _arc),
    **dict.fromkeys(("atanh", "arctanh", "erfinv"), _between(-1.0, 1.0, (-1.0, 1.0))),
    **dict.fromkeys(("acosh", "arccosh"), _between(1.0, math.inf)),
    "logit": _between(0.0, 1.0, (0.0, 1.0)),
    "addcdiv": _by_zero(1, 2),
    **dict.fromkeys(_REMAINDERS, _by_zero(0, 1)),
    "sqrtgrad": _by_zero(1, 0),  # SqrtGrad(y, dy) is dy / 2y
    **dict.fromkeys([f"{name}backward" for name in _SINGULAR_AT_ZERO], _division),  # gradient, input
    **dict.fromkeys(("lgamma", "digamma", "gammaln"), _gamma),
    **dict.fromkeys(
        ("mean", "reducemean"),
        lambda element: Cause("mean_of_nothing", {}, 0) if 0 in map(np.size, element.inputs[:1]) else None,
    ),
    **dict.fromkeys(("std", "var", "stdmean", "varmean", "reducestd", "reducevar"), _deviation),
    **dict.fromkeys(("l2normalize", "normalize"), _normalized),
    **dict.fromkeys(("nlllossforward", "nllloss", "nllloss2dforward", "crossentropyloss"), _likelihood),
    **dict.fromkeys(("softmax", "logsoftmax", "safesoftmax"), _softmax),
    **dict.fromkeys(
        ("batchnorm", "nativebatchnorm", "batchnorm1d", "batchnorm2d", "batchnorm3d"), _batch_norm
    ),
    **dict.fromkeys(("layernorm", "nativelayernorm"), _layer_norm),
}
