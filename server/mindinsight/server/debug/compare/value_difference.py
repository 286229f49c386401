"""Difference of the values of two tensors, computed for the part that is read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mindinsight.server.formats.arrays.element_types import Array
from mindinsight.server.formats.arrays.lazy_array import Values


@dataclass(frozen=True, slots=True)
class ValueDifference:
    """Values of the target minus those of the reference, as float64 or complex128. The shapes are equal.

    Equal elements have the difference 0, infinities too, and NaN on both sides.
    """

    target: Values
    reference: Values

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of both tensors."""
        return self.target.shape

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """Return the type in which differences are computed."""
        kinds = self.target.dtype.kind + self.reference.dtype.kind
        return np.dtype(np.complex128 if "c" in kinds else np.float64)

    def pieces(self) -> Iterator[Array]:
        """Yield all differences, flat and in C order."""
        for target, reference in zip(self.target.pieces(), self.reference.pieces(), strict=True):
            yield self._difference(target, reference)

    def part(self, window: Sequence[slice | int]) -> Array:
        """Return the differences that ``window`` selects."""
        return self._difference(self.target.part(window), self.reference.part(window))

    def _difference(self, target: Array, reference: Array) -> Array:
        with np.errstate(all="ignore"):
            wide = target.astype(self.dtype), reference.astype(self.dtype)
            same = (wide[0] == wide[1]) | (np.isnan(wide[0]) & np.isnan(wide[1]))
            return np.asarray(np.where(same, 0, wide[0] - wide[1]))
