"""Descriptions of tensors in pickles of PyTorch: storage, offset, shape and strides.

Calls of functions such as ``torch._utils._rebuild_tensor_v2`` are read as descriptions: storage, offset,
size, stride. Anything else in a pickle stays opaque and is skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from mindinsight.server.formats.arrays.element_types import canonical, element_type, is_known
from mindinsight.server.formats.budgets import PICKLE
from mindinsight.server.formats.texts import show_name
from mindinsight.server.formats.weights.pickles import Calls, Name, Opaque

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


@dataclass(frozen=True, slots=True)
class Storage:
    """Storage: the elements that tensors are views of."""

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

    @property
    def dtype(self) -> str:
        """Canonical name of the element type."""
        return self.storage.dtype


def tensors_of(value: object) -> Iterator[tuple[str, TorchTensor]]:
    """Tensors by their path. Each container is visited once, even where it is shared or contains itself."""
    seen: set[int] = set()
    waiting: list[tuple[str, object, int]] = [("", value, 0)]
    while waiting:
        path, item, depth = waiting.pop()
        if isinstance(item, TorchTensor):
            yield path, item
        elif id(item) not in seen and depth < PICKLE.depth:
            seen.add(id(item))
            inside = [(_join_path(path, key), inner, depth + 1) for key, inner in _children(item)]
            waiting += reversed(inside)


def _join_path(path: str, key: object) -> str:
    return show_name(f"{path}.{show_name(key)}" if path else key)


def _children(item: object) -> Iterator[tuple[object, object]]:
    if isinstance(item, dict):
        yield from ((key, inner) for key, inner in item.items() if isinstance(key, str | int))
    elif isinstance(item, list | tuple):
        yield from enumerate(item)
    elif isinstance(item, Opaque) and item.state is not None:
        yield from _children(item.state)


def _build(name: Name, arguments: tuple[Any, ...]) -> object:
    """Build the tensor or container that a call describes; ``Opaque`` for other calls or arguments."""
    try:
        return _build_or_raise(name, arguments)
    except (LookupError, TypeError, ValueError):
        return Opaque(f"{name.module}.{name.name}")


def _build_or_raise(name: Name, arguments: tuple[Any, ...]) -> object:
    if name.name in ("_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_npu_tensor"):
        return _tensor(*arguments[:4])
    if name.name == "_rebuild_tensor_v3":
        return _with_dtype(_tensor(*arguments[:4]), arguments[6])
    if name.name in ("_rebuild_parameter", "_rebuild_parameter_with_state"):
        return arguments[0]
    if name.name == "_rebuild_from_type_v2" and isinstance(arguments[0], Name):
        return _build(arguments[0], arguments[2])
    if name == Name("collections", "OrderedDict"):
        return {show_name(key): inner for key, inner in (arguments[0] if arguments else ())}
    return Opaque(f"{name.module}.{name.name}")


def _tensor(storage: object, offset: object, shape: object, stride: object) -> TorchTensor | Opaque:
    axes, steps = _integers(shape), _integers(stride)
    if isinstance(storage, Storage) and isinstance(offset, int) and axes is not None and steps is not None:
        return TorchTensor(storage, offset, axes, steps)
    return Opaque("tensor")


def _with_dtype(tensor: TorchTensor | Opaque, dtype: object) -> TorchTensor | Opaque:
    """Apply a type to a tensor over an untyped storage, whose count is in bytes."""
    if not isinstance(tensor, TorchTensor) or not isinstance(dtype, Name):
        return Opaque("tensor")
    name, storage = canonical(dtype.name), tensor.storage
    width = element_type(name).size(1) if is_known(name) else 1
    return replace(tensor, storage=replace(storage, dtype=name, count=storage.count // width))


def _integers(value: object) -> tuple[int, ...] | None:
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
