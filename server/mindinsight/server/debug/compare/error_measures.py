"""Error measures of two arrays, and the rules of msprobe 26 that judge the differences of one operator."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from mindinsight.server.compute.tensor_statistics import Array, sum_of, sum_of_products
from mindinsight.server.debug.compare.operator_matching import Pair
from mindinsight.server.debug.statistics_cache import Measurement
from mindinsight.server.formats.arrays.lazy_array import Values
from mindinsight.server.formats.dumps.dump_types import FileDamage, TensorEntry

_PIECE: Final = 1 << 15  # elements, so that five float64 arrays stay in a core's cache
_SCALE: Final = 2.0**-600  # the sum of 2**100 squares of the largest scaled numbers does not overflow


@dataclass(frozen=True, slots=True)
class Measures:
    """Error measures of two arrays over ``count`` elements. Undefined measures are None. Field names are
    those of JSON answers."""

    count: int
    apart: int  # elements not in ``count``: one is non-finite and the other is not the same
    lost: int  # elements among ``apart`` that are finite in the reference and non-finite in the target
    cosine: float | None  # of at least two elements, None if a side is zero and so has no direction
    distance: float | None  # L2 of the difference
    relative_distance: float | None  # distance / L2 of the reference
    max_absolute: float | None
    max_relative: float | None
    one_thousandth: float | None  # share with a relative error below 0.001
    five_thousandths: float | None
    differing: int = 0  # unequal elements, including those that are apart
    largest: int | None = None  # flat index of the largest difference or the first apart, None if equal


def measure_value_pair(target: Values, reference: Values) -> Measures | None:
    """Return the differences of two tensors element by element, read by parts, or None if their sizes differ.
    Raises TypeError for strings, objects and dates."""
    size = math.prod(target.shape)
    if size != math.prod(reference.shape):
        return None
    for values in (target, reference):
        if values.dtype.kind not in "biufc":
            raise TypeError(f"a tensor of {values.dtype} cannot be compared")
    precision = float(np.finfo(np.float64 if reference.dtype.char in "dgDG" else np.float32).eps)
    wide = np.dtype(np.complex128 if "c" in target.dtype.kind + reference.dtype.kind else np.float64)
    sums = _add_pieces(_Sums(min(size, _PIECE), wide, precision), target, reference)
    if not math.isfinite(sums.target + sums.reference + sums.difference):  # squares overflowed
        scales = [1.0 if math.isfinite(total) else _SCALE for total in (sums.target, sums.reference)]
        sums = _add_pieces(_Sums(min(size, _PIECE), wide, precision, *scales), target, reference)
    return sums.measures()


def _add_pieces(sums: _Sums, target: Values, reference: Values) -> _Sums:
    with np.errstate(all="ignore"):
        for flat, other in zip(target.pieces(), reference.pieces(), strict=True):
            for start in range(0, flat.size, _PIECE):
                sums.add(flat[start : start + _PIECE], other[start : start + _PIECE])
    return sums


class _Sums:
    """Accumulator over the pieces of two tensors, with work arrays that are reused for speed.

    ``scale`` and ``other`` are powers of two. Target and reference are multiplied by them before products are
    summed. Differences are multiplied by the smaller one.
    """

    def __init__(
        self, size: int, wide: np.dtype[Any], precision: float, scale: float = 1.0, other: float = 1.0
    ) -> None:
        self._precision = precision
        self._scales = scale, other
        self._wide = np.empty((3, size), wide)
        self._real = np.empty((2, size))
        self.both = self.target = self.reference = self.difference = 0.0  # sums of products
        self.absolute = self.relative = 0.0  # the largest errors
        self.count = self.apart = self.lost = self.within_one = self.within_five = 0
        self.differing = self._seen = 0
        self._largest: int | None = None
        self._first_apart: int | None = None

    def add(self, target: Array, reference: Array) -> None:
        """Add a piece of both tensors."""
        start, self._seen = self._seen, self._seen + target.size
        a, b, difference = self._wide[:, : target.size]
        np.copyto(a, target)
        np.copyto(b, reference)
        np.subtract(a, b, out=difference)
        if not np.isfinite(difference.sum() if difference.dtype.kind == "c" else sum_of(difference)):
            self.lost += int(np.count_nonzero(np.isfinite(b) & ~np.isfinite(a)))
            comparable, a, b = _comparable(a, b)
            self.apart += target.size - a.size
            self.differing += target.size - a.size
            if self._first_apart is None and a.size < target.size:
                self._first_apart = start + int(comparable.argmin())
            places: Array | None = np.flatnonzero(comparable)
            difference = np.subtract(a, b, out=difference[: a.size])
        else:
            places = None
        if a.size:
            largest = self._add_finite(a, b, difference, *self._real[:, : a.size])
            if largest is not None:
                self._largest = start + (largest if places is None else int(places[largest]))
        if target.dtype.kind in "iu" and reference.dtype.kind in "iu":
            self._add_integers(start, target, reference, difference)

    def _add_integers(self, start: int, target: Array, reference: Array, difference: Array) -> None:
        """Add the differences of integers above 2**53 that are equal as doubles."""
        hidden = np.flatnonzero((target != reference) & (difference == 0))
        if not hidden.size:
            return
        pair = target[hidden].astype(np.uint64), reference[hidden].astype(np.uint64)
        exact = np.abs((pair[0] - pair[1]).view(np.int64)).astype(np.float64)
        at = int(exact.argmax())
        if exact[at] > self.absolute:
            self._largest = start + int(hidden[at])
            self.absolute = float(exact[at])
        size = np.abs(reference[hidden].astype(np.float64))
        self.relative = max(self.relative, float((exact / size).max()))
        self.difference += sum_of_products(exact, exact)
        self.differing += hidden.size

    def _add_finite(self, a: Array, b: Array, difference: Array, error: Array, size: Array) -> int | None:
        """Add elements that can be subtracted, and return the position of a new largest difference,
        or None."""
        of_a, of_b = self._scales
        scaled = a if of_a == 1 else a * of_a, b if of_b == 1 else b * of_b
        self.target += sum_of_products(scaled[0], scaled[0])
        self.reference += sum_of_products(scaled[1], scaled[1])
        self.both += sum_of_products(*scaled)
        np.abs(difference, out=error)
        np.abs(b, out=size)
        if not size.min():
            size[size == 0] = self._precision
        self.differing += int(np.count_nonzero(difference != 0))  # a third of the time of counting floats
        at = int(error.argmax())
        largest = at if error[at] > self.absolute else None
        self.absolute = max(self.absolute, float(error[at]))
        relative = np.divide(error, size, out=size)
        self.relative = max(self.relative, float(relative.max()))
        self.within_one += int(np.count_nonzero(relative < 0.001))
        self.within_five += int(np.count_nonzero(relative < 0.005))
        smaller = min(self._scales)
        error = error if smaller == 1 else np.multiply(error, smaller, out=error)
        self.difference += sum_of_products(error, error)
        self.count += a.size
        return largest

    def measures(self) -> Measures:
        """Return the measures of all pieces added."""
        largest = self._largest if self._first_apart is None else self._first_apart
        if self.apart and not self.count:
            return Measures(
                0, self.apart, self.lost, None, None, None, None, None, None, None, self.differing, largest
            )
        _, of_reference = self._scales
        distance = math.sqrt(self.difference) / min(self._scales)
        target, reference = math.sqrt(self.target), math.sqrt(self.reference)
        norm = reference / of_reference
        cosine = None
        if self.count > 1:
            cosine = _cosine(self.both, target, reference)
        return Measures(
            count=self.count,
            apart=self.apart,
            lost=self.lost,
            cosine=cosine,
            distance=distance,
            relative_distance=0.0 if not distance else distance / norm if norm else None,
            max_absolute=self.absolute,
            max_relative=self.relative,
            one_thousandth=self.within_one / self.count if self.count else None,
            five_thousandths=self.within_five / self.count if self.count else None,
            differing=self.differing,
            largest=largest,
        )


def _comparable(a: Array, b: Array) -> tuple[Array, Array, Array]:
    """Return a mask of the comparable elements, and these elements of both arrays, with 0 for equal
    non-finite ones."""
    finite = np.isfinite(a) & np.isfinite(b)
    comparable = finite | (a == b) | (np.isnan(a) & np.isnan(b))
    return comparable, np.where(finite, a, 0)[comparable], np.where(finite, b, 0)[comparable]


def _cosine(both: float, target: float, reference: float) -> float | None:
    """Return the cosine of two tensors from their product and norms at one scale, or None if a norm is
    zero."""
    if not target or not reference:
        return None
    cosine = both / target / reference
    return max(-1.0, min(1.0, cosine)) if math.isfinite(cosine) else None


Level: TypeAlias = Literal["pass", "warning", "error"]
Coded: TypeAlias = list[tuple[str, int]]  # message code, position of the tensor among those of its operator

LEVELS: Final[dict[str, Level]] = {  # message codes, with texts in the locale files as compare.<code>
    "not_finite": "error",
    "dtype": "error",
    "shape": "error",
    "requires_grad": "error",
    "argument": "error",
    "thousandth": "error",
    "norm": "error",
    "checksum": "error",
    "cosine": "warning",
    "norm_growth": "warning",
    "output": "error",  # replaces other codes if no input was compared, so that the cause is unknown
    "output_drifts": "warning",
    "missing": "warning",
}

# Second part of the names of calls, after msprobe 26.2.
UNJUDGED: Final = frozenset(
    ["empty", "empty_like", "empty_strided", "empty_with_format", "new_empty", "new_empty_strided",
     "numpy", "to", "__setitem__"]
)  # fmt: skip
OUTPUTS_ONLY: Final = frozenset(
    ["_all_gather_base", "_reduce_scatter_base", "all_to_all_single", "batch_isend_irecv"]
)
_MODULES: Final = ("Module", "Cell")
_ALONE: Final = {"error": "output", "warning": "output_drifts"}


@dataclass(frozen=True, slots=True)
class Compared:
    """Row of two matched tensors with their statistics and measures, or with damage.

    ``same_checksum`` is None if none was recorded.
    """

    pair: Pair
    target: Measurement | None
    reference: Measurement | None
    measures: Measures | None = None  # None: one side has no values, or sizes differ
    same_checksum: bool | None = None
    damage: FileDamage | None = None

    @property
    def norm_error(self) -> float | None:
        """Return |norm - norm of the reference| / norm of the reference, or None if a norm is unknown. It
        is 0.0 if both norms are 0, and infinite if only that of the reference is."""
        norms = [
            None if measurement is None else measurement.statistics.norm
            for measurement in (self.target, self.reference)
        ]
        if norms[0] is None or norms[1] is None:
            return None
        difference = abs(norms[0] - norms[1])
        return difference / norms[1] if norms[1] else math.inf if difference else 0.0


def judge(rows: Sequence[Compared]) -> list[tuple[str, ...]]:
    """Return the message codes of each row of one operator. A row without codes passes."""
    call = _call(rows)
    if call in UNJUDGED:
        return [()] * len(rows)
    if call in OUTPUTS_ONLY:
        return [tuple(_judge_row(row)) if _is_judged_output(row.pair.target) else () for row in rows]
    codes: list[list[str]] = [_judge_row(row) for row in rows]
    inputs = [row for row in rows if row.pair.target and row.pair.target.direction != "output"]
    outputs = [i for i, row in enumerate(rows) if _is_judged_output(row.pair.target)]
    for code, position in (*_judge_values(rows, inputs, outputs), *_judge_norms(rows, inputs, outputs)):
        known = any(map(_is_compared, inputs))
        codes[position].append(code if known else _ALONE[LEVELS[code]])
        if not known and "output" in codes[position]:  # says more than that it drifts
            codes[position] = [other for other in codes[position] if other != "output_drifts"]
    return [tuple(dict.fromkeys(row_codes)) for row_codes in codes]


def _is_compared(row: Compared) -> bool:
    return row.measures is not None or row.norm_error is not None or row.same_checksum is not None


def _call(rows: Sequence[Compared]) -> str:
    """Return the name of the called function, ``to`` of ``Tensor.to.0.forward``, or "" for other
    operators."""
    entries = (row.pair.target or row.pair.reference for row in rows)
    prefix, _, rest = next((entry.recorded for entry in entries if entry), "").partition(".")
    return "" if prefix in _MODULES or "." not in rest else rest.partition(".")[0]


def level(codes: Sequence[str]) -> Level:
    """Return the worst level among codes, or "pass" without codes."""
    levels = {LEVELS[code] for code in codes}
    return "error" if "error" in levels else "warning" if levels else "pass"


def _judge_row(row: Compared) -> list[str]:
    """Return the message codes of one row, independent of the other rows of its operator."""
    target, reference = row.pair.target, row.pair.reference
    if row.pair.argument is not None:
        return ["argument"]
    if target is None or reference is None:
        entry = target or reference
        recorded = entry and entry.statistics
        return ["missing"] if recorded and recorded.checksum and recorded.max is None else []
    codes = []
    if None not in (target.requires_grad, reference.requires_grad):
        codes += ["requires_grad"] * (target.requires_grad != reference.requires_grad)
    if row.same_checksum is False and row.measures is None:
        codes.append("checksum")
    if row.target and row.reference:
        if row.target.statistics.finite is False and row.reference.statistics.finite:
            codes.append("not_finite")
        if (target.dtype or row.target.dtype) != (reference.dtype or row.reference.dtype):
            codes.append("dtype")
        if row.target.shape != row.reference.shape:
            codes.append("shape")
    return codes


def _is_judged_output(entry: TensorEntry | None) -> bool:
    """Return True if a tensor is an output, to be judged by the errors of its operator's inputs. Gradients of
    parameters are recorded without inputs."""
    return entry is not None and entry.direction == "output" and ".parameters_grad." not in entry.recorded


def _judge_values(rows: Sequence[Compared], inputs: Sequence[Compared], outputs: Sequence[int]) -> Coded:
    codes = []
    within = _worst(rows, outputs, lambda m: m.one_thousandth)
    if within and _least(inputs, lambda m: m.one_thousandth) > 0.9 and within[0] < 0.1:
        codes.append(("thousandth", within[1]))
    cosine, before = _worst(rows, outputs, lambda m: m.cosine), _least(inputs, lambda m: m.cosine)
    if cosine and before > 0.9 and before - cosine[0] > 0.1:
        codes.append(("cosine", cosine[1]))
    return codes


def _judge_norms(
    rows: Sequence[Compared], inputs: Sequence[Compared], output_positions: Sequence[int]
) -> Coded:
    """Return message codes from recorded norms, for outputs without values."""
    outputs = [
        (error, i)
        for i in output_positions
        if rows[i].measures is None and (error := _usable_error(rows[i])) is not None
    ]
    if not outputs or any(row.measures is not None for row in inputs):
        return []
    error, position = max(outputs, key=lambda output: output[0])
    before = max((e for row in inputs if (e := _usable_error(row)) is not None), default=0.0)
    codes = [("norm", i) for output_error, i in outputs if before < 0.1 and output_error > 0.5]
    if math.isfinite(error) and (error > 10 * before if before else error > 0.1):
        codes.append(("norm_growth", position))
    return codes


def _usable_error(row: Compared) -> float | None:
    """Return the relative error of the norm, or None if it says nothing: shapes differ, or checksums are
    known."""
    if row.same_checksum is not None or row.target is None or row.reference is None:
        return None
    return row.norm_error if row.target.shape == row.reference.shape else None


def _values(row: Compared, get: Callable[[Measures], float | None]) -> float | None:
    return get(row.measures) if row.measures is not None and row.measures.count > 1 else None


def _least(inputs: Sequence[Compared], get: Callable[[Measures], float | None]) -> float:
    """Return the smallest value of a measure among the inputs, or 1.0 if none is known."""
    return min((value for row in inputs if (value := _values(row, get)) is not None), default=1.0)


def _worst(
    rows: Sequence[Compared], outputs: Sequence[int], get: Callable[[Measures], float | None]
) -> tuple[float, int] | None:
    """Return the smallest value of a measure among the outputs and its row, or None if none is known."""
    return min(((value, i) for i in outputs if (value := _values(rows[i], get)) is not None), default=None)
