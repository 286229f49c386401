"""Reader of files of named tensors in any format: ``.ckpt``, safetensors, ``.npz``, ``.npy``, PyTorch.

The format is detected from the first bytes, not from the name of the file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mindinsight.server.formats.arrays.element_types import Array, count_of, element_type
from mindinsight.server.formats.arrays.lazy_array import Held, Values, stored_npy, stored_npz
from mindinsight.server.formats.arrays.npy import Archive, npz_headers, read_npy, read_npy_header, read_npz
from mindinsight.server.formats.file_bytes import length_of, opened
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.weights.mindspore_checkpoints import (
    CheckpointFile,
    checkpoint_values,
    open_checkpoint,
    read_checkpoint,
    verify_checksum,
)
from mindinsight.server.formats.weights.safetensors import (
    open_safetensors,
    read_safetensor,
    safetensor_values,
)
from mindinsight.server.formats.weights.torch_files import open_torch, read_torch, torch_values


@dataclass(frozen=True, slots=True)
class Weight:
    """One tensor of a file. ``error`` is set if it is listed but cannot be read."""

    name: str
    dtype: str  # canonical; "str" for text
    shape: tuple[int, ...]
    size: int  # bytes of its elements
    error: UnreadableError | None = None


def _unchecked() -> UnreadableError | None:
    """``verify`` of formats without a checksum."""
    return None


@dataclass(frozen=True, slots=True)
class WeightFile:
    """File of named tensors, in the order they were saved.

    ``read`` returns a whole tensor, ``values`` a lazy one. Both raise UnreadableError. ``verify`` reads the
    whole file and returns an error if its bytes contradict the recorded checksum, else None.
    """

    path: Path
    format: str  # ckpt, safetensors, npz, npy, torch
    weights: tuple[Weight, ...]
    read: Callable[[str], Array]
    values: Callable[[str], Values]
    damage: tuple[UnreadableError, ...] = ()
    checksum: int | None = None  # CRC-32 recorded in the file
    verify: Callable[[], UnreadableError | None] = _unchecked


def open_weights(path: Path) -> WeightFile:
    """List the tensors of a file. Values are read by name. Raises UnreadableError."""
    with opened(path) as file:
        start, length = file.read(16), length_of(file)
    if start[:4] == b"PK\x05\x06":  # an archive of nothing
        return _npz(path)
    if start[:4] == b"PK\x03\x04":
        return _torch(path) if _is_torch(path) else _npz(path)
    if start[:6] == b"\x93NUMPY":
        return _npy(path)
    if start[8:9] == b"{" and int.from_bytes(start[:8], "little") <= length:
        return _safetensors(path)
    if start[:1] == b"\x80":
        return _torch(path)
    return _checkpoint(path)


def _is_torch(path: Path) -> bool:
    """Return True if a zip archive was saved by PyTorch."""
    with Archive(path) as archive:
        return any(name.endswith("/data.pkl") for name in archive.names())


def _torch(path: Path) -> WeightFile:
    """List the tensors of a PyTorch file. Raises UnreadableError."""
    file = open_torch(path)
    weights = [_weight(name, tensor.dtype, tensor.shape) for name, tensor in file.tensors.items()]
    return WeightFile(
        path,
        "torch",
        tuple(weights),
        lambda name: read_torch(file, name),
        lambda name: torch_values(file, name),
        verify=partial(_verify_zip, path) if file.prefix else _unchecked,
    )


def _verify_checkpoint(file: CheckpointFile) -> UnreadableError | None:
    """Check the CRC-32 of a checkpoint. Return the error, or None."""
    wrong = verify_checksum(file) is False
    return UnreadableError("dump.checksum", file.path.name) if wrong else None


def _verify_zip(path: Path) -> UnreadableError | None:
    """Check the CRC-32 of all members of an archive. Return the error, or None."""
    with Archive(path) as archive:
        name = archive.damaged()
    return UnreadableError("dump.checksum", name[:200]) if name else None


def _npz(path: Path) -> WeightFile:
    """List the arrays of a .npz file. Raises UnreadableError."""
    weights = tuple(
        _unreadable_weight(name, header)
        if isinstance(header, UnreadableError)
        else Weight(name, header.dtype, header.shape, header.size)
        for name, header in npz_headers(path)
    )
    return WeightFile(
        path,
        "npz",
        weights,
        lambda name: read_npz(path, name),
        lambda name: stored_npz(path, name) or Held(read_npz(path, name)),
        verify=partial(_verify_zip, path),
    )


def _npy(path: Path) -> WeightFile:
    """List the array of a .npy file. Raises UnreadableError."""
    header = read_npy_header(path)
    weight = Weight(path.stem, header.dtype, header.shape, header.size)
    return WeightFile(
        path,
        "npy",
        (weight,),
        lambda name: read_npy(path),
        lambda name: stored_npy(path, header) or Held(read_npy(path)),
    )


def _safetensors(path: Path) -> WeightFile:
    """List the tensors of a safetensors file. Raises UnreadableError."""
    file = open_safetensors(path)
    weights = tuple(
        _unreadable_weight(name, tensor)
        if isinstance(tensor, UnreadableError)
        else Weight(name, tensor.dtype, tensor.shape, tensor.size)
        for name, tensor in file.tensors.items()
    )
    return WeightFile(
        path,
        "safetensors",
        weights,
        lambda name: read_safetensor(file, name),
        lambda name: safetensor_values(file, name),
    )


def _checkpoint(path: Path) -> WeightFile:
    """List the tensors of a checkpoint. Raises UnreadableError."""
    file = open_checkpoint(path)
    weights = tuple(Weight(name, t.dtype, t.shape, t.size) for name, t in file.tensors.items())
    return WeightFile(
        path,
        "ckpt",
        weights,
        lambda name: read_checkpoint(file, name),
        lambda name: checkpoint_values(file, name),
        file.damage,
        file.checksum,
        partial(_verify_checkpoint, file),
    )


def _weight(name: str, dtype: str, shape: tuple[int, ...]) -> Weight:
    try:
        return Weight(name, dtype, shape, element_type(dtype).size(count_of(shape)))
    except UnreadableError as error:
        return Weight(name, dtype, shape, 0, error)


def _unreadable_weight(name: str, error: UnreadableError) -> Weight:
    return Weight(name, "", (), 0, error)
