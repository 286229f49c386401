"""Error measures of two arrays, computed in double precision in one pass over their pieces.

The measures are those of msprobe: cosine, Euclidean distance, maximum absolute and relative error and
the share of elements within one and five thousandths. Where the reference is 0, the relative error is
taken against the precision of its type, as msprobe does; the cosine of tiny tensors is that which they have,
where msprobe takes them as zero. Elements that are not finite agree (NaN with
NaN, Inf with Inf of the same sign) and enter the measures as zeros, or are apart and do not enter them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from mindinsight.server.compute.statistics import Array
from mindinsight.server.compute.sums import product, total
from mindinsight.server.formats.arrays.stored import Held, Values

_PIECE: Final = 1 << 15  # elements; five arrays of them as float64 stay in a core's cache
_SCALE: Final = 2.0**-600  # the squares of 2**100 of the largest numbers have a sum


@dataclass(frozen=True, slots=True)
class Measures:
    """Measures over ``count`` elements; None where undefined, as for tensors whose elements are all apart."""

    count: int
    apart: int  # elements not in ``count``: one of the two is not finite, and the other is not the same
    lost: int  # elements among ``apart`` that are finite in the reference and not in the target
    cosine: float | None  # of two elements at least; None when one side alone is zero
    distance: float | None  # L2 of the difference
    relative_distance: float | None  # distance / L2 of the reference
    max_absolute: float | None
    max_relative: float | None
    one_thousandth: float | None  # share with a relative error below 0.001
    five_thousandths: float | None
    differing: int = 0  # elements that are not equal, with those that are apart
    largest: int | None = None  # flat index of the largest difference, the first that is apart; None: equal


def measure_pair(target: Array, reference: Array) -> Measures | None:
    """Compare two arrays element by element; None when their sizes differ.

    Raises TypeError for strings, objects and dates.
    """
    return measure_value_pair(Held(target), Held(reference))


def measure_value_pair(target: Values, reference: Values) -> Measures | None:
    """``measure_pair`` of two tensors that are read in parts."""
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

    ``scale`` and ``other`` are powers of two by which target and reference are multiplied before products
    are summed; differences are multiplied by the smaller of them.
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
        if not np.isfinite(difference.sum() if difference.dtype.kind == "c" else total(difference)):
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
        """Add what integers above 2**53 differ by that are equal as doubles; it is small."""
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
        self.difference += product(exact, exact)
        self.differing += hidden.size

    def _add_finite(self, a: Array, b: Array, difference: Array, error: Array, size: Array) -> int | None:
        """Add elements that can be subtracted; return the position of a new largest difference."""
        of_a, of_b = self._scales
        scaled = a if of_a == 1 else a * of_a, b if of_b == 1 else b * of_b
        self.target += product(scaled[0], scaled[0])
        self.reference += product(scaled[1], scaled[1])
        self.both += product(*scaled)
        np.abs(difference, out=error)
        np.abs(b, out=size)
        if not size.all():
            size[size == 0] = self._precision
        self.differing += int(np.count_nonzero(difference))
        at = int(error.argmax())
        largest = at if error[at] > self.absolute else None
        self.absolute = max(self.absolute, float(error[at]))
        relative = np.divide(error, size, out=size)
        self.relative = max(self.relative, float(relative.max()))
        self.within_one += int(np.count_nonzero(relative < 0.001))
        self.within_five += int(np.count_nonzero(relative < 0.005))
        smaller = min(self._scales)
        error = error if smaller == 1 else np.multiply(error, smaller, out=error)
        self.difference += product(error, error)
        self.count += a.size
        return largest

    def measures(self) -> Measures:
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
            cosine = _cosine(self.both, target, reference, equal=not self.differing)
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
    """Mask of comparable elements, and these; those that are not finite and agree are replaced by zeros."""
    finite = np.isfinite(a) & np.isfinite(b)
    comparable = finite | (a == b) | (np.isnan(a) & np.isnan(b))
    return comparable, np.where(finite, a, 0)[comparable], np.where(finite, b, 0)[comparable]


def _cosine(both: float, target: float, reference: float, *, equal: bool) -> float | None:
    """Cosine by a product and two norms at one scale; where a norm is zero, 1 of equal tensors alone."""
    if not target or not reference:
        return 1.0 if equal else None
    cosine = both / target / reference
    return max(-1.0, min(1.0, cosine)) if math.isfinite(cosine) else None
