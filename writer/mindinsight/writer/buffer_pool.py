"""Buffer pool for copies of arrays. Fresh memory costs the training thread ten times the copying."""

import threading
from typing import Any, Final
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

_SMALLEST: Final = 1 << 16  # bytes. The allocator itself reuses smaller memory
_MOST_FREE: Final = 64 << 20  # bytes. A step with many large arrays does not hold their memory for good


class BufferPool:
    """Pool of memory of earlier copies, reused for arrays of the same size. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: dict[int, list[npt.NDArray[np.uint8]]] = {}
        self._free_bytes = 0
        self._lent: WeakValueDictionary[int, npt.NDArray[np.uint8]] = WeakValueDictionary()

    def copy(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return a copy of ``values`` in C order, in memory that the caller holds until ``give_back``."""
        if values.nbytes < _SMALLEST:
            return np.array(values, order="C")
        with self._lock:
            free = self._free.get(values.nbytes)
            buffer = free.pop() if free else None
            self._free_bytes -= values.nbytes if buffer is not None else 0
        if buffer is None:
            buffer = np.empty(values.nbytes, np.uint8)
        self._lent[id(buffer)] = buffer
        copied = buffer.view(values.dtype).reshape(values.shape)
        copied[...] = values
        return copied

    def give_back(self, copied: npt.NDArray[Any]) -> None:
        """Take back the memory of a copy, which the caller must not use any more. Ignore other arrays."""
        buffer = self._lent.pop(id(copied.base), None)
        with self._lock:
            if buffer is not None and self._free_bytes + buffer.nbytes <= _MOST_FREE:
                self._free.setdefault(buffer.nbytes, []).append(buffer)
                self._free_bytes += buffer.nbytes
