"""Container of arrays: little-endian columns in sequence, each at a multiple of 8 bytes.

The owner stores the positions: in a head before the block (responses) or in an index after it (cache files).
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

ALIGNMENT: Final = 8  # bytes

Array: TypeAlias = npt.NDArray[Any]


class ArrayPosition(NamedTuple):
    """Position of a one-dimensional array in an `ArrayBlock`."""

    dtype: str  # NumPy's name of the little-endian type without the byte order: f8, i4, u1
    at: int  # bytes from the start of the block
    length: int  # numbers


class ArrayBlock:
    """Writer of a block of arrays. Passes the bytes to ``write``. ``size`` is the number of bytes so far."""

    def __init__(self, write: Callable[[bytes | memoryview], object]) -> None:
        self._write = write
        self.size = 0

    def append(self, array: Array) -> ArrayPosition:
        """Write a one-dimensional array and its padding, and return its position in the block."""
        plain = little_endian(array)
        padding = -plain.nbytes % ALIGNMENT
        self._write(plain.data.cast("B") if len(plain) else b"")
        self._write(bytes(padding))
        position = ArrayPosition(plain.dtype.str[1:], self.size, len(plain))
        self.size += plain.nbytes + padding
        return position


def little_endian(array: Array) -> Array:
    """Return the array contiguous and little-endian, without a copy if it already is."""
    return np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)


def array_at(block: bytes | memoryview, position: ArrayPosition) -> Array:
    """Return a read-only view of the array at a position in a block. Raises ValueError or TypeError for an
    invalid position, and for one beyond the block."""
    dtype, at, length = position
    if length < 0 or at < 0:
        raise ValueError(f"{length} numbers at {at}")
    array = np.frombuffer(block, np.dtype(f"<{dtype}"), length, at)
    array.flags.writeable = False  # a bytearray or a writable mapping would give a writable view
    return array
