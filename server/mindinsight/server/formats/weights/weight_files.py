"""Reader of files of named tensors in any format: ``.ckpt``, safetensors, ``.npz``, ``.npy``, PyTorch.

The format is detected from the first bytes, not from the name of the file.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from mindinsight.server.formats.arrays import npy
from mindinsight.server.formats.arrays.element_types import Array, count_of, element_type
from mindinsight.server.formats.arrays.lazy_array import Held, Values, stored_npy, stored_npz
from mindinsight.server.formats.file_bytes import opened
from mindinsight.server.formats.read_limits import SAFETENSORS, UnreadableError
from mindinsight.server.formats.weights import mindspore_checkpoints, safetensors, torch_files


@dataclass(frozen=True, slots=True)
class Weight:
    """Name, type, shape and size of one tensor of a file.

    ``error`` is set if it is listed but cannot be read.
    """

    name: str
    dtype: str  # canonical; "str" for text
    shape: tuple[int, ...]
    size: int  # bytes of its elements
    error: UnreadableError | None = None


def _unchecked() -> UnreadableError | None:
    """Return None: formats without a checksum cannot be verified."""
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
    plain: Mapping[str, torch_files.Plain] = field(
        default_factory=dict
    )  # numbers and text beside the tensors


def open_weights(path: Path) -> WeightFile:
    """List the tensors of a file. Values are read by name. Raises UnreadableError."""
    with opened(path) as file:
        start = file.read(16)
    if start[:4] == b"PK\x05\x06":  # an archive of nothing
        return _npz(path)
    if start[:4] == b"PK\x03\x04":
        with npy.Archive(path) as archive:
            is_torch = any(name.endswith("/data.pkl") for name in archive.names())
        return _torch(path) if is_torch else _npz(path)
    if start[:6] == b"\x93NUMPY":
        return _npy(path)
    if start[8:9] == b"{" and int.from_bytes(start[:8], "little") <= SAFETENSORS.size:
        return _safetensors(path)
    if start[:1] == b"\x80":
        return _torch(path)
    return _checkpoint(path)


def _torch(path: Path) -> WeightFile:
    """List the tensors of a PyTorch file. Raises UnreadableError."""
    file = torch_files.open_torch(path)
    weights = [_weight(name, tensor.dtype, tensor.shape) for name, tensor in file.tensors.items()]
    weights += [_weight_of(name, torch_files.unread_error(kind)) for name, kind in file.unread.items()]
    verify = partial(_verify_zip, path) if file.prefix else _unchecked
    read, values = partial(torch_files.read_torch, file), partial(torch_files.torch_values, file)
    return WeightFile(path, "torch", tuple(weights), read, values, verify=verify, plain=file.plain)


def _verify_checkpoint(file: mindspore_checkpoints.CheckpointFile) -> UnreadableError | None:
    """Return the error if the CRC-32 of a checkpoint is wrong, else None."""
    wrong = mindspore_checkpoints.verify_checksum(file) is False
    return UnreadableError("dump.checksum", file.path.name) if wrong else None


def _verify_zip(path: Path) -> UnreadableError | None:
    """Return the error if the CRC-32 of a member of an archive is wrong, else None."""
    with npy.Archive(path) as archive:
        name = archive.damaged()
    return UnreadableError("dump.checksum", name[:200]) if name else None


def _npz(path: Path) -> WeightFile:
    """List the arrays of a .npz file. Raises UnreadableError."""
    weights = tuple(_weight_of(name, header) for name, header in npy.npz_headers(path))
    read = partial(npy.read_npz, path)
    verify = partial(_verify_zip, path)
    return WeightFile(
        path, "npz", weights, read, lambda name: stored_npz(path, name) or Held(read(name)), verify=verify
    )


def _npy(path: Path) -> WeightFile:
    """List the array of a .npy file. Raises UnreadableError."""
    header = npy.read_npy_header(path)
    values = stored_npy(path, header)
    return WeightFile(
        path,
        "npy",
        (_weight_of(path.stem, header),),
        lambda name: npy.read_npy(path),
        lambda name: values or Held(npy.read_npy(path)),
    )


def _safetensors(path: Path) -> WeightFile:
    """List the tensors of a safetensors file. Raises UnreadableError."""
    file = safetensors.open_safetensors(path)
    weights = tuple(_weight_of(name, tensor) for name, tensor in file.tensors.items())
    read, values = partial(safetensors.read_safetensor, file), partial(safetensors.safetensor_values, file)
    return WeightFile(path, "safetensors", weights, read, values)


def _checkpoint(path: Path) -> WeightFile:
    """List the tensors of a checkpoint. Raises UnreadableError."""
    file = mindspore_checkpoints.open_checkpoint(path)
    weights = tuple(_weight_of(name, tensor) for name, tensor in file.tensors.items())
    read, values = (
        partial(mindspore_checkpoints.read_checkpoint, file),
        partial(mindspore_checkpoints.checkpoint_values, file),
    )
    verify = partial(_verify_checkpoint, file)
    return WeightFile(path, "ckpt", weights, read, values, file.damage, file.checksum, verify)


def _weight(name: str, dtype: str, shape: tuple[int, ...]) -> Weight:
    """Return a tensor's entry in the list of tensors, with its size, or with an error for invalid type or
    shape."""
    try:
        return Weight(name, dtype, shape, element_type(dtype).size(count_of(shape)))
    except UnreadableError as error:
        return Weight(name, dtype, shape, 0, error)


def _weight_of(
    name: str,
    tensor: npy.ArrayHeader
    | mindspore_checkpoints.CheckpointTensor
    | safetensors.SafeTensor
    | UnreadableError,
) -> Weight:
    """Return the list entry of a tensor, or of the error that stands in its place."""
    if isinstance(tensor, UnreadableError):
        return Weight(name, "", (), 0, tensor)
    error = tensor.error if isinstance(tensor, safetensors.SafeTensor) else None
    return Weight(name, tensor.dtype, tensor.shape, tensor.size, error)
