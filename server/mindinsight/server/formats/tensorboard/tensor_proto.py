"""Decoder of TensorFlow's TensorProto: type, shape, and numbers or byte strings.

Fields: dtype 1, tensor_shape 2, tensor_content 4, and lists of values by type. A list shorter than the shape
repeats its last value. An empty list stands for zeros.
"""

import math
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mindinsight.server.formats.arrays.element_types import widen_bfloat16
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.wire_format import Octets, last_field, message_fields, read_varint, signed

STRING: Final = 7  # DT_STRING of types.proto
_DTYPE, _SHAPE, _CONTENT = 1 << 3, 2 << 3 | 2, 4 << 3 | 2
STRING_VALUE: Final = 8 << 3 | 2
_DIM, _SIZE = 2 << 3 | 2, 1 << 3
_FLOATS, _DOUBLES, _HALVES = 5, 6, 13  # numbers of fields
_COMPLEX: Final = {9: "<f4", 12: "<f8"}
_INTEGERS: Final = (7, 10, 11, _HALVES, 16, 17)
_VALUES: Final = (_FLOATS, _DOUBLES, *_COMPLEX, *_INTEGERS)
_MAX_AXES: Final = 254  # the limit of TensorFlow
_MAX_FILLED: Final = 256 << 20  # bytes that repeated values may take
# By DataType of TensorFlow: NumPy's type of the bytes, and MindSpore's name.
TYPES: Final = {
    1: ("<f4", "DT_FLOAT32"),
    2: ("<f8", "DT_FLOAT64"),
    3: ("<i4", "DT_INT32"),
    4: ("u1", "DT_UINT8"),
    5: ("<i2", "DT_INT16"),
    6: ("i1", "DT_INT8"),
    STRING: ("O", "DT_STRING"),
    8: ("<c8", "DT_COMPLEX64"),
    9: ("<i8", "DT_INT64"),
    10: ("?", "DT_BOOL"),
    11: ("i1", "DT_INT8"),
    12: ("u1", "DT_UINT8"),
    13: ("<i4", "DT_INT32"),
    14: ("<u2", "DT_BFLOAT16"),
    15: ("<i2", "DT_INT16"),
    16: ("<u2", "DT_UINT16"),
    17: ("<u2", "DT_UINT16"),
    18: ("<c16", "DT_COMPLEX128"),
    19: ("<f2", "DT_FLOAT16"),
    22: ("<u4", "DT_UINT32"),
    23: ("<u8", "DT_UINT64"),
}


@dataclass(slots=True)
class TensorFields:
    """Type and shape of a tensor message, and first byte and end of each field that holds values."""

    dtype: int = 0
    shape: tuple[int, ...] = ()
    content: tuple[int, int] | None = None  # first byte and end
    strings: list[tuple[int, int]] = field(default_factory=list)
    values: list[tuple[int, int, int]] = field(default_factory=list)  # key, first byte, end

    @property
    def count(self) -> int:
        """Return the number of elements."""
        return math.prod(self.shape)


def tensor_fields(data: Octets, at: int, end: int) -> TensorFields:
    """Parse the fields of the tensor in ``data[at:end]``. Raises UnparsableError."""
    tensor = TensorFields()
    for key, start, stop in message_fields(data, at, end):
        if key == _DTYPE:
            tensor.dtype = read_varint(data, start, stop)[0]
        elif key == _SHAPE:
            tensor.shape = shape_of(data, start, stop)
        elif key == _CONTENT:
            tensor.content = (start, stop) if stop > start else None
        elif key == STRING_VALUE:
            tensor.strings.append((start, stop))
        elif key >> 3 in _VALUES and stop > start:
            tensor.values.append((key, start, stop))
    return tensor


def shape_of(data: Octets, at: int, end: int) -> tuple[int, ...]:
    """Return the sizes in a TensorShapeProto, -1 for an unknown size. Raises UnparsableError."""
    sizes = []
    for key, start, stop in message_fields(data, at, end):
        if key == _DIM:
            size = last_field(data, start, stop, _SIZE)
            sizes.append(signed(read_varint(data, *size)[0]) if size else 0)
    return tuple(sizes)


def single_number(data: Octets, tensor: TensorFields) -> tuple[int, int] | float | int | None:
    """Return the number of a one-element tensor, or the span of its float32 or float64, or None if it is
    invalid. Integers are exact."""
    spans = [tensor.content] if tensor.content else [(start, stop) for _, start, stop in tensor.values]
    if tensor.dtype in (1, 2) and len(spans) == 1 and spans[0][1] - spans[0][0] == 4 * tensor.dtype:
        return spans[0]
    start = min((span[0] for span in spans), default=0)
    stop = max((span[1] for span in spans), default=0)
    moved = TensorFields(
        tensor.dtype,
        (1,),
        content=tensor.content and (tensor.content[0] - start, tensor.content[1] - start),
        values=[(key, first - start, last - start) for key, first, last in tensor.values],
    )
    content = data[start:stop]
    try:
        number = numbers(content, moved)[0]
    except UnreadableError:
        return None
    if moved.dtype == 14:
        number = widen_bfloat16(np.array([number], np.uint16))[0]
    return int(number) if number.dtype.kind in "iu" else float(number.real)


def numbers(data: bytes, tensor: TensorFields) -> npt.NDArray[Any]:
    """Return the numbers [count] in the type of the message, bfloat16 as bits. Raises UnreadableError,
    also if shape and data contradict each other. If fewer are recorded, the last one is repeated, or zero
    if there is none."""
    kind = TYPES.get(tensor.dtype, ("", ""))[0]
    count = tensor.count
    if kind in ("", "O") or count < 0 or len(tensor.shape) > _MAX_AXES:
        raise UnreadableError("payload.shape", f"tensor of type {tensor.dtype} and shape {tensor.shape}")
    if tensor.content is not None:
        start, stop = tensor.content
        if stop - start != count * np.dtype(kind).itemsize:
            raise UnreadableError("payload.shape", f"tensor of shape {tensor.shape} in {stop - start} bytes")
        return np.frombuffer(data, kind, count, start)
    listed = _listed(data, tensor, kind)
    if len(listed) > count:
        raise UnreadableError("payload.shape", f"tensor of shape {tensor.shape} with {len(listed)} elements")
    if len(listed) == count:
        return listed
    if count > len(data) and count * np.dtype(kind).itemsize > _MAX_FILLED:
        raise UnreadableError("payload.too_large", f"{count} elements, {len(listed)} of them recorded")
    last = listed[-1] if len(listed) else np.zeros(1, kind)[0]
    return np.concatenate([listed, np.full(count - len(listed), last, kind)])


def _listed(data: bytes, tensor: TensorFields, kind: str) -> npt.NDArray[Any]:
    """Return the numbers in the lists of values as type ``kind``."""
    floats: list[npt.NDArray[Any]] = []
    integers: list[int] = []
    halves = False
    for key, start, stop in tensor.values:
        number = key >> 3
        if number in (_FLOATS, _DOUBLES, *_COMPLEX):
            stored = _COMPLEX.get(number) or ("<f4" if number == _FLOATS else "<f8")
            floats.append(np.frombuffer(data, stored, (stop - start) // int(stored[2]), start))
        else:
            halves |= number == _HALVES
            at = start
            while at < stop:
                value, at = read_varint(data, at, stop)
                integers.append(signed(value))
    if floats:
        flat = np.concatenate(floats)
        with np.errstate(invalid="ignore", over="ignore"):
            if kind in ("<c8", "<c16"):
                return flat[: len(flat) // 2 * 2].view("<c8" if flat.itemsize == 4 else "<c16").astype(kind)
            return flat.astype(kind)
    if halves and kind in ("<f2", "<u2"):
        return _from_halves(np.array(integers, np.int64), kind)
    return np.array(integers, np.int64).astype(kind)


def _from_halves(bits: npt.NDArray[np.int64], kind: str) -> npt.NDArray[Any]:
    """Return the 16-bit floats in ``half_val``. PyTorch's writer stores the bits of float32 there."""
    wide = bits.astype(np.uint32)
    if not (wide > 0xFFFF).any():
        return wide.astype(np.uint16).view(kind)
    if kind == "<u2":
        return (wide >> np.uint32(16)).astype(np.uint16)
    with np.errstate(over="ignore", invalid="ignore"):
        return wide.view(np.float32).astype("<f2")
