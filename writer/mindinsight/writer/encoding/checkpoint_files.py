"""Encoder and decoder of MindSpore's checkpoint files (checkpoint.proto, FORMAT.md)."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mindinsight.proto.checkpoint_pb2 import Checkpoint
from mindinsight.writer.arrays import mindspore_dtype, to_numpy

_PIECE: Final = 512 << 20  # bytes of one value. A larger tensor is split


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
                entry.tensor.tensor_type = mindspore_dtype(values.dtype.name)
                entry.tensor.tensor_content = data[start : start + _PIECE]
                file.write(piece.SerializeToString())
    unfinished.chmod(0o400)
    unfinished.replace(path)


def load(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Return the array of every tensor in a checkpoint by name. Raises protobuf's DecodeError for a file that
    is no checkpoint."""
    pieces: dict[str, list[bytes]] = {}
    dtypes: dict[str, np.dtype[Any]] = {}
    shapes: dict[str, tuple[int, ...]] = {}
    for value in Checkpoint.FromString(path.read_bytes()).value:
        pieces.setdefault(value.tag, []).append(value.tensor.tensor_content)
        dtypes[value.tag] = np.dtype(value.tensor.tensor_type.lower()).newbyteorder("<")
        shapes[value.tag] = tuple(value.tensor.dims)
    return {
        name: np.frombuffer(b"".join(data), dtypes[name]).reshape(shapes[name])
        for name, data in pieces.items()
    }
