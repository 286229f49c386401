"""Reader of files saved by PyTorch (``.pt``, ``.pth``), without PyTorch and without executing anything."""

import contextlib
import io
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from mindinsight.server.formats.arrays import element_types
from mindinsight.server.formats.arrays.lazy_array import Held, Values, stored_as
from mindinsight.server.formats.arrays.npy import MAX_UNPACKED, Archive, read_member
from mindinsight.server.formats.file_bytes import FileBytes, opened, read_bytes
from mindinsight.server.formats.read_limits import PICKLE, UnreadableError
from mindinsight.server.formats.sanitizer import show_name
from mindinsight.server.formats.weights.pickles import Calls, Name, Opaque, interpret

_STORAGES: Final = {
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
    "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
    "UntypedStorage": "uint8",
}


Plain: TypeAlias = bool | int | float | str | None  # value of a saved object that is no tensor


@dataclass(frozen=True, slots=True)
class Storage:
    """Storage: key, type and number of elements that tensors are views of."""

    key: str
    dtype: str
    count: int  # elements


@dataclass(frozen=True, slots=True)
class TorchTensor:
    """Tensor as a view of a storage: offset, shape and strides in elements."""

    storage: Storage
    offset: int  # elements
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    conjugated: bool = False  # the values are the conjugates of what is stored
    negated: bool = False  # the values are the stored ones with the other sign

    @property
    def dtype(self) -> str:
        """Return the canonical name of the element type."""
        return self.storage.dtype


@dataclass(eq=False, slots=True)
class UnreadTensor(Opaque):
    """Placeholder of a tensor whose storage is not interpreted: quantized, sparse, nested, NumPy's."""


def _leaves(value: object) -> Iterator[tuple[str, object]]:
    """Yield the leaves of nested containers with their paths: tensors, numbers, text. Each container is
    visited once, even if it contains itself."""
    seen: set[int] = set()
    waiting: list[tuple[str, object, int]] = [("", value, 0)]
    while waiting:
        path, item, depth = waiting.pop()
        if isinstance(item, TorchTensor | UnreadTensor | bool | int | float | str | None):
            yield path, item
        elif id(item) not in seen and depth < PICKLE.depth:
            seen.add(id(item))
            inside = [
                (show_name(f"{path}.{show_name(key)}" if path else key), inner, depth + 1)
                for key, inner in _children(item)
            ]
            waiting += reversed(inside)


def _children(item: object) -> Iterator[tuple[object, object]]:
    """Yield the items of a container with their keys; of an object those of its state. States form a
    chain, which may lead back to its beginning."""
    chain: set[int] = set()
    while isinstance(item, Opaque) and id(item) not in chain:
        chain.add(id(item))
        item = item.state
    if isinstance(item, dict):
        yield from ((key, inner) for key, inner in item.items() if isinstance(key, str | int))
    elif isinstance(item, list | tuple):
        yield from enumerate(item)


def _build(name: Name, arguments: tuple[Any, ...]) -> object:
    """Return the tensor or container that a call describes, or ``Opaque`` for other calls or arguments."""
    with contextlib.suppress(LookupError, TypeError, ValueError):  # invalid arguments
        built = _build_or_raise(name, arguments)
        if not isinstance(built, Opaque) or isinstance(built, UnreadTensor):
            return built
    shown = f"{name.module}.{name.name}"
    if name.name.startswith("_rebuild_") or name.name in ("_reconstruct", "_frombuffer"):
        return UnreadTensor(shown)
    return Opaque(shown, arguments or None)  # the arguments may hold tensors


def _build_or_raise(name: Name, arguments: tuple[Any, ...]) -> object:
    if name.name in ("_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_npu_tensor"):
        return _with_signs(_tensor(*arguments[:4]), arguments[6:7])
    if name.name == "_rebuild_tensor_v3":
        return _with_signs(_with_dtype(_tensor(*arguments[:4]), arguments[6]), arguments[7:8])
    if name.name in ("_rebuild_parameter", "_rebuild_parameter_with_state"):
        return arguments[0]
    if name.name == "_rebuild_from_type_v2" and isinstance(arguments[0], Name):
        return _build(arguments[0], arguments[2])
    if name == Name("collections", "OrderedDict"):
        return {show_name(key): inner for key, inner in (arguments[0] if arguments else ())}
    if name == Name("collections", "defaultdict"):
        return {}
    return Opaque(f"{name.module}.{name.name}")


def _tensor(storage: object, offset: object, shape: object, stride: object) -> TorchTensor | Opaque:
    """Return a tensor, or ``Opaque`` for invalid arguments."""
    axes, steps = _integers(shape), _integers(stride)
    if isinstance(storage, Storage) and isinstance(offset, int) and axes is not None and steps is not None:
        return TorchTensor(storage, offset, axes, steps)
    return Opaque("tensor")


def _with_dtype(tensor: TorchTensor | Opaque, dtype: object) -> TorchTensor | Opaque:
    """Return a tensor over an untyped storage, which counts bytes, with its type."""
    if not isinstance(tensor, TorchTensor) or not isinstance(dtype, Name):
        return Opaque("tensor")
    name, storage = element_types.canonical(dtype.name), tensor.storage
    width = element_types.element_type(name).size(1) if element_types.is_known(name) else 1
    return replace(tensor, storage=replace(storage, dtype=name, count=storage.count // width))


def _with_signs(tensor: TorchTensor | Opaque, metadata: tuple[Any, ...]) -> TorchTensor | Opaque:
    """Return a tensor with the bits ``conj`` and ``neg`` that PyTorch saves beside the storage of a lazy
    view."""
    if not isinstance(tensor, TorchTensor) or not metadata or not isinstance(metadata[0], dict):
        return tensor
    bits = (metadata[0].get("conj") is True, metadata[0].get("neg") is True)
    return replace(tensor, conjugated=bits[0], negated=bits[1])


def _integers(value: object) -> tuple[int, ...] | None:
    """Return a tuple of integers, or None for any other value."""
    if isinstance(value, tuple | list) and all(isinstance(item, int) for item in value):
        return tuple(value)
    return None


def _persistent(identity: object) -> object:
    """Parse a persistent id, ``("storage", type, key, location, count)``."""
    if isinstance(identity, tuple) and len(identity) >= 5 and isinstance(identity[1], Name):
        _, kind, key, _, count = identity[:5]
        dtype = _STORAGES.get(kind.name, kind.name)
        if isinstance(count, int) and count >= 0:
            return Storage(show_name(key), dtype, count)
    return Opaque("storage")


TORCH_CALLS: Final = Calls(_build, _persistent)


_LEGACY_MAGIC: Final = 0x1950A86A20F9469CFC6C  # first pickle of a file of PyTorch before 1.6


@dataclass(frozen=True, slots=True)
class TorchFile:
    """Tensors of a file by their path in the saved object, ``model.fc1.weight``.

    A bare tensor has the path "".
    """

    path: Path
    tensors: dict[str, TorchTensor]
    extents: dict[str, tuple[int, int]]  # offset and size of uncompressed storages
    prefix: str = ""  # zip files: folder of the members
    swapped: bool = False  # zip files: saved on a big-endian machine
    unread: dict[str, str] = field(default_factory=dict)  # tensors of other kinds: what would build them
    plain: dict[str, Plain] = field(default_factory=dict)  # numbers and text beside the tensors


def open_torch(path: Path) -> TorchFile:
    """List the tensors of a file saved by PyTorch. Raises UnreadableError."""
    with opened(path) as file:
        magic = file.read(4)
    return _open_zip(path) if magic == b"PK\x03\x04" else _open_legacy(path)


def read_torch(file: TorchFile, name: str) -> element_types.Array:
    """Read one tensor, read-only. Raises UnreadableError, also if its storage is too small."""
    tensor = file.tensors.get(name)
    if name in file.unread:
        raise unread_error(file.unread[name])
    if tensor is None:
        raise UnreadableError("dump.missing", f"no tensor {name[:200]}")
    _check_view(tensor)
    storage = tensor.storage
    size = element_types.element_type(storage.dtype).size(storage.count)
    raw = _storage_bytes(file, storage.key, size)
    if file.swapped:
        raw = _swap_bytes(raw, storage.dtype)
    flat = element_types.decode(raw, storage.dtype, (storage.count,))
    if 0 in tensor.shape:
        return np.empty(tensor.shape, flat.dtype)
    strides = [axis * flat.itemsize for axis in tensor.stride]
    view = np.lib.stride_tricks.as_strided(flat[tensor.offset :], tensor.shape, strides, writeable=False)
    signed = np.conjugate(view) if tensor.conjugated else view
    return np.negative(signed) if tensor.negated else signed


def unread_error(kind: str) -> UnreadableError:
    """Return the error of a tensor that is listed but not interpreted."""
    return UnreadableError("dump.unread_tensor", kind[:200])


def torch_values(file: TorchFile, name: str) -> Values:
    """Return the values of one tensor, read in parts if uncompressed, contiguous and little-endian. Raises
    UnreadableError."""
    tensor = file.tensors.get(name)
    if tensor is None or tensor.storage.key not in file.extents or not _is_contiguous(tensor):
        return Held(read_torch(file, name))
    if file.swapped or tensor.conjugated or tensor.negated:  # computed from what is stored
        return Held(read_torch(file, name))
    _check_view(tensor)
    start, size = file.extents[tensor.storage.key]
    width = element_types.element_type(tensor.dtype).size(1)
    values = stored_as(file.path, start + tensor.offset * width, tensor.shape, tensor.dtype)
    if values is None or width * tensor.storage.count > size:
        return Held(read_torch(file, name))
    return values


def _is_contiguous(tensor: TorchTensor) -> bool:
    """Return True if the elements of a view are contiguous in C order."""
    step = 1
    for axis, stride in zip(reversed(tensor.shape), reversed(tensor.stride), strict=False):
        if axis != 1 and stride != step:
            return False
        step *= axis
    return len(tensor.shape) == len(tensor.stride)


def _open_zip(path: Path) -> TorchFile:
    """List the tensors of a zip file. Raises UnreadableError."""
    with Archive(path) as archive:
        names = archive.names()
        pickles = [name for name in names if name.count("/") == 1 and name.endswith("/data.pkl")]
        if not pickles:
            raise UnreadableError("dump.not_torch", "it contains no data.pkl")
        PICKLE.check_size(archive.size(pickles[0]))
        with archive.opened(pickles[0]) as member:
            value = interpret(io.BytesIO(member.read(PICKLE.size)), TORCH_CALLS)
        prefix = pickles[0].removesuffix("data.pkl")
        swapped = False
        if f"{prefix}byteorder" in names:
            with archive.opened(f"{prefix}byteorder") as member:
                swapped = member.read(16).strip() == b"big"
        tensors, unread, plain = _by_name(value)
        extents = _zip_extents(archive, prefix, {tensor.storage.key for tensor in tensors.values()})
    return TorchFile(path, tensors, extents, prefix, swapped, unread, plain)


def _by_name(value: object) -> tuple[dict[str, TorchTensor], dict[str, str], dict[str, Plain]]:
    """Return three dicts by name: readable tensors, the functions that build the unreadable ones, and plain
    values."""
    tensors, unread, plain = {}, {}, {}
    for name, leaf in _leaves(value):
        if isinstance(leaf, TorchTensor):
            tensors[name] = leaf
        elif isinstance(leaf, UnreadTensor):
            unread[name] = leaf.name
        elif isinstance(leaf, bool | int | float | str | None):
            plain[name] = leaf
    return tensors, unread, plain


def _zip_extents(archive: Archive, prefix: str, keys: set[str]) -> dict[str, tuple[int, int]]:
    """Return offsets and sizes of uncompressed storages. A missing storage raises only when it is read."""
    extents = {}
    for key in keys:
        with contextlib.suppress(UnreadableError):
            start = archive.member_offset(f"{prefix}data/{key}")
            if start is not None:
                extents[key] = (start, archive.size(f"{prefix}data/{key}"))
    return extents


def _open_legacy(path: Path) -> TorchFile:
    """List the tensors of a file in the format before PyTorch 1.6. Raises UnreadableError."""
    with opened(path) as file:
        is_pickle = file.read(1) == b"\x80"
        data = FileBytes(file)
        if not is_pickle or interpret(data, TORCH_CALLS) != _LEGACY_MAGIC:
            raise UnreadableError("dump.not_torch", "neither a zip file nor a pickle of PyTorch")
        for _ in ("protocol version", "system information"):
            interpret(data, TORCH_CALLS)
        value = interpret(data, TORCH_CALLS)
        keys = interpret(data, TORCH_CALLS)
        tensors, unread, plain = _by_name(value)
        extents = _legacy_extents(data, keys if isinstance(keys, list) else [], data.tell(), tensors)
    return TorchFile(path, tensors, extents, unread=unread, plain=plain)


def _legacy_extents(
    data: FileBytes, keys: list[Any], start: int, tensors: dict[str, TorchTensor]
) -> dict[str, tuple[int, int]]:
    """Return offsets and sizes of storages. They follow in the order of their keys, as count and elements."""
    types = {tensor.storage.key: tensor.dtype for tensor in tensors.values()}
    extents = {}
    for key in map(show_name, keys):
        if not element_types.is_known(types.get(key, "")) or start + 8 > len(data):
            break  # its size is unknown, and therefore the offset of the next one
        count = int.from_bytes(data.slice(start, start + 8), "little")
        size = element_types.element_type(types[key]).size(count)
        extents[key] = (start + 8, size)
        start += 8 + size
    return extents


def _storage_bytes(file: TorchFile, key: str, size: int) -> element_types.Array:
    """Return the first ``size`` bytes of a storage. Raises UnreadableError."""
    if key in file.extents:
        start, stored_size = file.extents[key]
        _check_stored(key, size, stored_size)
        with opened(file.path) as stream:
            return read_bytes(stream, start, size)
    if not file.prefix:
        raise UnreadableError("dump.truncated", f"the file ends before storage {key}"[:200])
    member = f"{file.prefix}data/{key}"
    with Archive(file.path) as archive:
        _check_stored(key, size, archive.size(member))
        with archive.opened(member) as packed:
            return read_member(packed, size)


def _check_stored(key: str, size: int, stored_size: int) -> None:
    """Raise UnreadableError for a storage with too few bytes."""
    if stored_size < size:
        raise UnreadableError("dump.truncated", f"storage {key} of {size} bytes, found {stored_size}"[:200])


def _swap_bytes(raw: element_types.Array, dtype: str) -> element_types.Array:
    """Convert the bytes of big-endian elements to little-endian."""
    stored = np.dtype(element_types.element_type(dtype).stored)
    width = stored.itemsize // 2 if stored.kind == "c" else stored.itemsize
    return raw.reshape(-1, width)[:, ::-1].reshape(-1)


def _check_view(tensor: TorchTensor) -> None:
    """Raise UnreadableError for a tensor that exceeds its storage or repeats it too often."""
    count = element_types.count_of(tensor.shape)
    if len(tensor.stride) != len(tensor.shape) or min((tensor.offset, *tensor.stride), default=0) < 0:
        raise UnreadableError("dump.bad_shape", f"{tensor.shape} with strides {tensor.stride}"[:200])
    last = tensor.offset + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride, strict=True))
    if count and last >= tensor.storage.count:
        raise UnreadableError("dump.truncated", f"element {last} of a storage of {tensor.storage.count}")
    if count > max(tensor.storage.count, MAX_UNPACKED // 8):
        raise UnreadableError("dump.too_large", f"{tensor.storage.count} elements repeated to {count}")
