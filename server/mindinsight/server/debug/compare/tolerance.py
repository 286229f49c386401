"""Tolerance within which two tensors agree."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

# Largest L2 distance of tensors that agree, relative to the reference. About ten roundings of the type,
# because kernels add and round in different orders. float32 has the eleven bits of TF32, which matrix units
# use for it. Integers and booleans must be equal.
RELATIVE: Final = {
    "float64": 1e-6,
    "complex128": 1e-6,
    "float32": 1e-3,
    "complex64": 1e-3,
    "float16": 1e-2,
    "bfloat16": 5e-2,
}
_OTHER_FLOATS: Final = 0.25  # float8 and smaller: three bits or fewer
_WITHOUT_TYPE: Final = 1e-3  # the type was not recorded: the limit of float32
_EXACT: Final = ("int", "uint", "bool")


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Tolerance within which two tensors agree. Without ``relative`` it follows from their types."""

    relative: float | None = None  # L2 of the difference / L2 of the reference
    cosine: float | None = None  # smallest cosine, None to ignore it: a small distance implies it

    def limit(self, *dtypes: str) -> float:
        """Return the largest relative distance allowed for the coarsest of the types, 0 for integers
        alone. An unknown type, "", and no type have the limit of float32."""
        limits = [_limit(dtype) for dtype in dtypes]
        if self.relative is not None and any(limits):
            return self.relative
        return max(limits, default=_WITHOUT_TYPE)


def coarsest(dtypes: Iterable[str]) -> str:
    """Return the floating-point type with the largest tolerance, "" if none is known."""
    floats = [dtype for dtype in dtypes if dtype and not dtype.startswith(_EXACT)]
    return max(floats, key=_limit, default="")


def _limit(dtype: str) -> float:
    if not dtype:
        return _WITHOUT_TYPE
    return 0.0 if dtype.startswith(_EXACT) else RELATIVE.get(dtype, _OTHER_FLOATS)
