"""Element types of tensor files, including types that NumPy lacks, and their conversion to arrays.

Names are NumPy's if it has the type, otherwise the usual names (``bfloat16``, ``float8_e4m3fn``, ``int4``).
Small floats are widened to float32, which represents each of them exactly (bfloat16: the high half of a
float32; 8-bit floats: OCP 8-bit Floating Point Specification 1.0; e2m1, e3m2, e2m3 and e8m0: OCP Microscaling
1.0; HiFloat8: arXiv 2409.16626).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from mindinsight.server.formats.read_limits import UnreadableError

Array: TypeAlias = npt.NDArray[Any]
Special: TypeAlias = Literal["ieee", "fn", "fnuz", "finite"]  # which patterns are infinite or NaN

MAX_AXES: Final = 32  # the limit of NumPy 1


@dataclass(frozen=True, slots=True)
class ElementType:
    """Element type, stored as items of a NumPy type that each hold ``packed`` elements.

    ``decode`` converts the stored items, flat, and may return more elements.
    """

    name: str
    stored: str  # NumPy type of one stored item, little endian
    packed: int = 1  # elements in one stored item
    decode: Callable[[Array], Array] | None = None

    def size(self, count: int) -> int:
        """Return the number of bytes that ``count`` elements take."""
        return -(-count // self.packed) * np.dtype(self.stored).itemsize


def element_type(name: str) -> ElementType:
    """Return the type by its name in a file: ``Float32``, ``torch.float32``, ``BFloat16``. Raises
    UnreadableError for an unknown type."""
    known_type = _TYPES.get(canonical(name))
    if known_type is None:
        raise UnreadableError("dump.unknown_dtype", name or "(none)")
    return known_type


def is_known(name: str) -> bool:
    """Return True if elements of the type can be decoded."""
    return canonical(name) in _TYPES


def canonical(name: str) -> str:
    """Return the canonical name of a type, or the text in lower case if the type is unknown."""
    lower = name.rpartition(".")[2].lower()
    return _ALIASES.get(lower, lower)


def count_of(shape: tuple[int, ...]) -> int:
    """Return the number of elements of a shape. Raises UnreadableError for an invalid shape."""
    if len(shape) > MAX_AXES or any(axis < 0 for axis in shape):
        raise UnreadableError("dump.bad_shape", str(shape)[:200])
    return math.prod(shape)


def decode(raw: Array, name: str, shape: tuple[int, ...]) -> Array:
    """Return flat uint8 bytes as an array of a type and shape, as a view if nothing must be widened. Raises
    UnreadableError if the type is unknown, the shape is invalid, or there are too few bytes."""
    kind, count = element_type(name), count_of(shape)
    size = kind.size(count)
    if raw.size < size:
        raise UnreadableError("dump.truncated", f"{shape} of {name} needs {size} bytes, found {raw.size}")
    items = raw[:size].view(kind.stored)
    values = items if kind.decode is None else kind.decode(items)[:count]
    try:
        return values.reshape(shape)
    except ValueError as error:  # an empty array with an axis beyond what NumPy can address
        raise UnreadableError("dump.bad_shape", str(shape)[:200]) from error


def widen_bfloat16(halves: Array) -> Array:
    """Convert uint16 patterns of bfloat16 to float32."""
    return (halves.astype(np.uint32) << np.uint32(16)).view(np.float32)


def _unpack_int4(items: Array) -> Array:
    """Return the two signed values in each byte, low nibble first."""
    pairs = np.stack([items << np.uint8(4), items & np.uint8(0xF0)], axis=-1).view(np.int8)
    return (pairs >> 4).reshape(-1)


def _unpack_uint4(items: Array) -> Array:
    """Return the two unsigned values in each byte, low nibble first."""
    return np.stack([items & np.uint8(0x0F), items >> np.uint8(4)], axis=-1).reshape(-1)


def _complex_of_halves(items: Array) -> Array:
    """Convert pairs of float16 to complex64."""
    return items.view(np.float16).astype(np.float32).view(np.complex64)


@cache
def _small_float_table(exponent: int, mantissa: int, bias: int, special: Special) -> Array:
    """Return the float32 value of every bit pattern of a float of 1 + exponent + mantissa bits."""
    patterns = np.arange(1 << (1 + exponent + mantissa))
    power = (patterns >> mantissa) & ((1 << exponent) - 1)
    fraction = (patterns & ((1 << mantissa) - 1)) / (1 << mantissa)
    size = np.where(power == 0, fraction * 2.0 ** (1 - bias), (1 + fraction) * 2.0 ** (power - bias))
    top = power == (1 << exponent) - 1
    if special == "ieee":
        size = np.where(top, np.where(fraction == 0, np.inf, np.nan), size)
    if special == "fn":
        size = np.where(top & (fraction == fraction.max()), np.nan, size)
    values = np.where(patterns >> (exponent + mantissa), -size, size)
    if special == "fnuz":
        values[len(values) // 2] = np.nan
    return values.astype(np.float32)


def _small_float(
    exponent: int, mantissa: int, bias: int, special: Special, unpack: Callable[[Array], Array] = np.asarray
) -> Callable[[Array], Array]:
    """Return the decoder of a small float. ``unpack`` converts stored items to bit patterns."""
    return lambda items: _small_float_table(exponent, mantissa, bias, special)[unpack(items)]


def _power_of_two(items: Array) -> Array:
    """Decode e8m0: an exponent only. 255 is NaN."""
    powers = np.ldexp(1.0, items.astype(np.int32) - 127)
    return np.where(items == 255, np.nan, powers).astype(np.float32)


def _low_six_bits(items: Array) -> Array:
    """Return the element in the low six bits of each byte."""
    return items & np.uint8(0x3F)


@cache
def _hifloat8_table() -> Array:
    """Return the float32 value of every bit pattern of HiFloat8, [256].

    After the sign, a prefix gives the number D of exponent bits (11: 4, 10: 3, 01: 2, 001: 1, 0001: 0). The
    exponent is a sign and a magnitude, and the first bit of the magnitude, always 1, is not stored. The rest
    is the mantissa. The prefix 0000 means 2^(M - 23) of the last three bits M. 0x80 is NaN, 0x6f and 0xef are
    infinite.
    """
    values = np.empty(128)
    for pattern in range(128):
        starts = ((4, 0x60), (3, 0x40), (2, 0x20), (1, 0x10), (0, 0x08))
        dot = next((bits for bits, start in starts if pattern >= start), -1)
        if dot < 0:
            values[pattern] = 2.0 ** (pattern - 23) if pattern else 0.0
            continue
        width = min(5, 3 + dot)  # of exponent and mantissa together
        mantissa = width - dot
        field = pattern & ((1 << width) - 1)
        fraction = (field & ((1 << mantissa) - 1)) / (1 << mantissa)
        bits = field >> mantissa
        magnitude = (1 << (dot - 1)) | (bits & ((1 << (dot - 1)) - 1)) if dot else 0
        power = -magnitude if dot and bits >> (dot - 1) else magnitude
        values[pattern] = (1 + fraction) * 2.0**power
    values[0x6F] = np.inf
    whole = np.concatenate([values, -values])
    whole[0x80] = np.nan
    return whole.astype(np.float32)


_PLAIN: Final = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128"
)
_TYPES: Final[dict[str, ElementType]] = {
    **{name: ElementType(name, np.dtype(name).newbyteorder("<").str) for name in _PLAIN.split()},
    "bfloat16": ElementType("bfloat16", "<u2", decode=widen_bfloat16),
    "complex32": ElementType("complex32", "<u4", decode=_complex_of_halves),
    "float8_e5m2": ElementType("float8_e5m2", "u1", decode=_small_float(5, 2, 15, "ieee")),
    "float8_e4m3fn": ElementType("float8_e4m3fn", "u1", decode=_small_float(4, 3, 7, "fn")),
    "float8_e5m2fnuz": ElementType("float8_e5m2fnuz", "u1", decode=_small_float(5, 2, 16, "fnuz")),
    "float8_e4m3fnuz": ElementType("float8_e4m3fnuz", "u1", decode=_small_float(4, 3, 8, "fnuz")),
    "float8_e8m0fnu": ElementType("float8_e8m0fnu", "u1", decode=_power_of_two),
    "hifloat8": ElementType("hifloat8", "u1", decode=lambda items: _hifloat8_table()[items]),
    "float6_e3m2": ElementType("float6_e3m2", "u1", decode=_small_float(3, 2, 3, "finite", _low_six_bits)),
    "float6_e2m3": ElementType("float6_e2m3", "u1", decode=_small_float(2, 3, 1, "finite", _low_six_bits)),
    "float4_e2m1": ElementType("float4_e2m1", "u1", 2, _small_float(2, 1, 1, "finite", _unpack_uint4)),
    "float4_e1m2": ElementType("float4_e1m2", "u1", 2, _small_float(1, 2, 1, "finite", _unpack_uint4)),
    "int4": ElementType("int4", "u1", 2, _unpack_int4),
    "uint4": ElementType("uint4", "u1", 2, _unpack_uint4),
    "uint1": ElementType("uint1", "u1", 8, np.unpackbits),
}
_ALIASES: Final[dict[str, str]] = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "bool_": "bool",
    "float8_e4m3": "float8_e4m3fn",
    "float8_e8m0": "float8_e8m0fnu",
}
