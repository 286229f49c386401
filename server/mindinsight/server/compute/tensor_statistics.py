"""Statistics of one tensor in one pass over sections that fit a core's cache."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mindinsight.server.formats.arrays.lazy_array import Held, Values
from mindinsight.server.types import Doubles

Numbers = npt.NDArray[Any]

_ROW: Final = 1 << 13  # elements: sums of short rows keep rounding errors small


def sum_of(numbers: Numbers) -> float:
    """Return the sum of [n] float64. Rounding errors grow with n, so pass at most some 100,000."""
    return float(np.einsum("i->", numbers))  # two thirds of the time of ``sum``


def sum_of_products(left: Numbers, right: Numbers) -> float:
    """Return the real part of the sum of `left * conj(right)`, for two [n] float64 or complex128."""
    whole = left.size // _ROW * _ROW if left.dtype.kind == "f" else 0
    rows = left[:whole].reshape(-1, 1, _ROW) @ right[:whole].reshape(-1, _ROW, 1)  # one call for all rows
    sums = rows.ravel().tolist()
    for start in range(whole, left.size, _ROW):
        sums.append(np.vdot(right[start : start + _ROW], left[start : start + _ROW]).real)
    return float(sum(sums))


Array: TypeAlias = npt.NDArray[Any]

PIECE: Final = 1 << 16  # elements: half a megabyte as float64, so that all work stays in the cache
_LARGEST: Final = float(np.finfo(np.float64).max)
_LARGE: Final = 2.0**480  # the sum of 2**60 squares of such numbers does not overflow
_SMALL: Final = 2.0**-480  # the squares of such numbers do not underflow
_FARTHEST: Final = 1000  # exponent of a scale, which must be a finite number itself
_COUNTS: Final = 7  # fields with which Statistics and Part begin
_MEASURABLE: Final = frozenset("?bhilqBHILQefdgFDG")


@dataclass(frozen=True, slots=True)
class Statistics:
    """Statistics of a tensor: numbers of elements by kind, extremes, means, deviation and norm.

    The numbers from `minimum` on are None if no element is finite.
    """

    count: int
    zeros: int
    negative: int
    positive: int
    nans: int
    positive_infs: int
    negative_infs: int
    minimum: float | int | None = None
    maximum: float | int | None = None
    mean: float | None = None
    absolute_mean: float | None = None
    std: float | None = None  # of the population: divided by n
    norm: float | None = None  # L2

    @property
    def finite(self) -> bool:
        """Return True if all elements are finite."""
        return not (self.nans or self.positive_infs or self.negative_infs)

    @property
    def infinities(self) -> int:
        """Return the number of infinite elements."""
        return self.positive_infs + self.negative_infs


class Part(NamedTuple):
    """Numbers of elements by kind, extremes and sums over a section of a tensor.

    The parts of one tensor may come from several processes.
    """

    size: int
    zeros: int
    negative: int
    positive: int
    nans: int
    positive_infs: int
    negative_infs: int
    finite: int
    minimum: float | int
    maximum: float | int
    total: float  # this and the following sums are of elements times `scale`
    absolute: float
    squares: float
    deviations: float  # sum of squared distances to this part's own mean
    scale: float = 1.0  # a power of two that keeps squares from overflow and underflow


class Extremes(NamedTuple):
    """Minimum, maximum, mean and norm of all elements, non-finite ones included."""

    minimum: float
    maximum: float
    mean: float
    norm: float


def measure(values: Array) -> Statistics:
    """Return the statistics of an array of any shape. The numbers from `minimum` on are None without a
    finite element. Raises TypeError for strings, objects and dates. Complex numbers count by magnitude,
    and booleans as 0 and 1."""
    return combine(parts(values))


def measure_values(values: Values) -> Statistics:
    """Return the statistics of a tensor as `measure` does, with one section at a time in memory. Raises
    TypeError as `measure`, and UnreadableError if a file cannot be read."""
    if isinstance(values, Held):
        return measure(values.array)
    _check(values.dtype)
    return combine(part for piece in values.pieces() for part in parts(piece))


def parts(values: Array) -> list[Part]:
    """Return the partial sums over each `PIECE` elements of an array, in memory order if it is contiguous,
    else in C order. Raises TypeError for strings, objects and dates."""
    _check(values.dtype)
    scratch = np.empty((2, min(values.size, PIECE)))  # a fresh one per piece would cost more than the sums
    with np.errstate(all="ignore"):
        return [_part(piece, scratch) for piece in _pieces(values)]


def combine(pieces: Iterable[Part]) -> Statistics:
    """Return the statistics of a tensor from its parts. Without parts, all counts are 0. The numbers from
    `minimum` on are None without a finite element. Means follow from the sums. Deviations also include the
    differences between the means of the parts."""
    parts = tuple(pieces)
    counts: Sequence[int] = parts[0][:_COUNTS] if len(parts) == 1 else _counts(parts)
    live = [part for part in parts if part.finite]
    if not live:
        return Statistics(*counts)
    part = live[0] if len(live) == 1 else _merged(live)
    numbers: list[float | int] = [
        part.minimum,
        part.maximum,
        part.total / part.finite / part.scale,
        part.absolute / part.finite / part.scale,
        math.sqrt(part.deviations / part.finite) / part.scale,
        math.sqrt(part.squares) / part.scale,
    ]
    return Statistics(*counts, *numbers)


def _merged(live: Sequence[Part]) -> Part:
    """Merge parts with finite elements into one part. Its numbers of non-finite elements are those of the
    first."""
    scale = min(part.scale for part in live)
    if any(part.scale != scale for part in live):
        live = [_rescaled(part, scale) for part in live]
    finite, total = sum(part.finite for part in live), sum(part.total for part in live)
    mean = total / finite
    shifts = [(part.finite, part.total / part.finite - mean) for part in live]
    spread = sum(part.deviations for part in live) + sum(size * shift * shift for size, shift in shifts)
    return live[0]._replace(
        finite=finite,
        minimum=min(part.minimum for part in live),
        maximum=max(part.maximum for part in live),
        total=total,
        absolute=sum(part.absolute for part in live),
        squares=sum(part.squares for part in live),
        deviations=spread,
        scale=scale,
    )


def _rescaled(part: Part, scale: float) -> Part:
    """Return a part with its sums at a smaller scale."""
    ratio = scale / part.scale
    return part._replace(
        total=part.total * ratio,
        absolute=part.absolute * ratio,
        squares=part.squares * ratio * ratio,
        deviations=part.deviations * ratio * ratio,
        scale=scale,
    )


def _scale_of(largest: float) -> float:
    """Return a power of two that keeps squares of numbers up to `largest` from overflow and underflow."""
    if _SMALL < largest < _LARGE or not largest:
        return 1.0
    return math.ldexp(1.0, min(_FARTHEST, -math.frexp(largest)[1]))


def bin_edges(low: float, high: float, bins: int) -> Doubles:
    """Return [bins + 1] edges of equal bins from `low` to `high`. Equal ends are first moved apart, usually
    to a range of at most 1 around them."""
    if low == high:
        small = min(0.5, abs(low) / 2) or 0.5  # a denormal number is not shown as if it were 0
        half = max(small, abs(low) * 2.0**-40)  # far from 0, a half is lost in rounding
        low, high = max(low - half, -_LARGEST), min(low + half, _LARGEST)
    return 4 * np.linspace(low / 4, high / 4, bins + 1)  # their distance itself may be beyond all numbers


def as_dumped(statistics: Statistics) -> Extremes:
    """Return the extremes as in MindSpore's statistics file: one NaN makes all NaN, infinities count. An
    empty tensor has minimum Inf, maximum -Inf, mean NaN and norm 0."""
    if statistics.nans:
        return Extremes(math.nan, math.nan, math.nan, math.nan)
    values = [value for value in (statistics.minimum, statistics.maximum) if value is not None]
    values += [math.inf] * bool(statistics.positive_infs) + [-math.inf] * bool(statistics.negative_infs)
    low, high = min(values, default=math.inf), max(values, default=-math.inf)
    if statistics.finite:
        return Extremes(
            low, high, math.nan if statistics.mean is None else statistics.mean, statistics.norm or 0.0
        )
    mean = math.nan if math.isinf(low) and low == -high else high if statistics.positive_infs else low
    return Extremes(low, high, mean, math.inf)


def _check(dtype: np.dtype[Any]) -> None:
    if dtype.char not in _MEASURABLE:
        raise TypeError(f"a tensor of {dtype} has no statistics")


def _counts(parts: Sequence[Part]) -> Sequence[int]:
    """Return the numbers of elements of each kind, in the order of the first fields of `Statistics`."""
    counts = [sum(column) for column in zip(*(part[:_COUNTS] for part in parts), strict=True)]
    return counts or [0] * _COUNTS


def _pieces(values: Array) -> Iterator[Array]:
    flat = (values.T if values.flags.f_contiguous else values).reshape(-1)
    for start in range(0, flat.size, PIECE):
        piece = flat[start : start + PIECE]
        kind = piece.dtype.kind
        if kind == "c":
            yield np.abs(piece)
        elif kind == "b":
            yield piece.view(np.uint8)
        elif piece.dtype.char == "e":
            yield piece.astype(np.float32)  # half precision has no fast arithmetic
        else:
            yield piece


def _part(piece: Array, scratch: Doubles) -> Part:
    """Return counts, extremes and sums of up to `PIECE` numbers."""
    size, nans, above, below = piece.size, 0, 0, 0
    low, high = piece.min(), piece.max()
    if not (np.isfinite(low) and np.isfinite(high)):
        nans = int(np.count_nonzero(np.isnan(piece)))
        above = int(np.count_nonzero(piece == np.inf))
        below = int(np.count_nonzero(piece == -np.inf))
        piece = piece[np.isfinite(piece)]
        if not piece.size:
            return Part(size, 0, below, above, nans, above, below, 0, 0, 0, 0.0, 0.0, 0.0, 0.0)
        low, high = piece.min(), piece.max()
    negative = int(np.count_nonzero(piece < 0)) if low < 0 else 0
    positive = int(np.count_nonzero(piece > 0)) if high > 0 else 0
    zeros = piece.size - negative - positive
    scale = _scale_of(max(abs(float(low)), abs(float(high))))
    measured = _sums(piece, scratch[:, : piece.size], scale, signed=bool(low < 0))
    return Part(
        size, zeros, negative + below, positive + above, nans, above, below,
        piece.size, low.item(), high.item(), *measured, scale,
    )  # fmt: skip


def _sums(piece: Array, scratch: Doubles, scale: float, signed: bool) -> tuple[float, float, float, float]:
    """Return the sum, and the sums of magnitudes, squares and squared deviations, in double precision."""
    exact, work = scratch
    np.copyto(exact, piece)
    if scale != 1:
        exact *= scale
    total = sum_of(exact)
    squares = sum_of_products(exact, exact)
    mean = total / exact.size
    deviations = squares - total * mean
    if deviations < squares / 2 or not math.isfinite(deviations):  # cancellation would eat the digits
        if piece.dtype in (np.int64, np.uint64):  # neighbours beyond 2**53 are equal as doubles
            np.copyto(work, piece.view(np.uint64) - piece.min().view(np.uint64))
            work -= sum_of(work) / work.size
        else:
            np.subtract(exact, mean, out=work)
        deviations = sum_of_products(work, work)
    absolute = sum_of(np.abs(exact, out=exact)) if signed else total
    return total, absolute, squares, deviations
