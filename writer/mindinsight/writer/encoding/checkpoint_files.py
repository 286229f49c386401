"""Encoder and decoder of MindSpore's checkpoint files (checkpoint.proto, FORMAT.md)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mindinsight.proto.checkpoint_pb2 import Checkpoint
from mindinsight.writer.arrays import to_numpy

_PIECE: Final = 512 << 20  # bytes of one value. A larger tensor is split
_TYPES: Final = {
    "bool": "Bool", "int8": "Int8", "int16": "Int16", "int32": "Int32", "int64": "Int64", "uint8": "UInt8",
    "uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64", "float16": "Float16", "float32": "Float32",
    "float64": "Float64",
}  # fmt: skip


def save(path: Path, weights: Iterable[tuple[str, Any]]) -> None:
    """Write names and arrays to a checkpoint atomically. bfloat16 becomes Float32."""
    unfinished = path.with_name(f"{path.name}.tmp")
    with unfinished.open("wb") as file:
        for name, value in weights:
            values = to_numpy(value).values
            data = values.astype(values.dtype.newbyteorder("<")).tobytes()
            for start in range(0, max(len(data), 1), _PIECE):
                # Messages written one after another are one message: protobuf merges repeated fields.
                piece = Checkpoint()
                entry = piece.value.add(tag=name)
                entry.tensor.dims.extend(values.shape)
                entry.tensor.tensor_type = _TYPES[values.dtype.name]
                entry.tensor.tensor_content = data[start : start + _PIECE]
                file.write(piece.SerializeToString())
    unfinished.chmod(0o400)
    unfinished.replace(path)


def load(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Return the array of every tensor in a checkpoint by name."""
    dtypes = {written: name for name, written in _TYPES.items()}
    pieces: dict[str, list[bytes]] = {}
    shapes: dict[str, tuple[str, tuple[int, ...]]] = {}
    for value in Checkpoint.FromString(path.read_bytes()).value:
        pieces.setdefault(value.tag, []).append(value.tensor.tensor_content)
        shapes[value.tag] = (dtypes[value.tensor.tensor_type], tuple(value.tensor.dims))
    return {name: _array(b"".join(data), *shapes[name]) for name, data in pieces.items()}


def _array(data: bytes, dtype: str, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    return np.frombuffer(data, np.dtype(dtype).newbyteorder("<")).reshape(shape)
