"""Tensors, arguments and cells of MindSpore for the recorders, and descriptions in msprobe's JSON."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Final

import mindspore
import numpy as np

from mindinsight.writer.arrays import HostArray, NumberArray, to_numpy
from mindinsight.writer.recorders import step_files
from mindinsight.writer.recorders.capture import TensorFacts

COMPILERS: Final = ("common/api.py", "graph/api.py")  # files of MindSpore that ``jit`` and gradients are in
_PRIMITIVE_ARGUMENTS: Final = 3  # of an operator that is given as primitive, name, arguments


def tensors_of(value: Any) -> Iterator[mindspore.Tensor]:
    """Yield the tensors in a value in order, none for other values. Lists and tuples are searched."""
    if isinstance(value, mindspore.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_of(item)


def facts_of(value: Any) -> TensorFacts | None:
    """Return identity, shape and type of a tensor, or None for a constant."""
    if not isinstance(value, mindspore.Tensor):
        return None
    dtype, shape = str(value.dtype).lower(), tuple(map(int, value.shape))
    key = value.data_ptr() if value.size else id(value)
    return TensorFacts((key, dtype, shape), shape, dtype)


def host_copy(value: Any) -> HostArray | None:
    """Return a copy of a tensor or constant in host memory, or None for None."""
    if value is None:
        return None
    host = to_numpy(value)
    return host._replace(values=np.array(host.values, order="C"), shared=False) if host.shared else host


def named_parameters(models: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    """Yield MindSpore's name and the parameter of each parameter of all networks. With several networks,
    names begin with the network's name."""
    for model_name, model in models.items():
        for parameter in model.get_parameters():
            yield f"{model_name}.{parameter.name}" if model_name else parameter.name, parameter


def unseen_regions(models: Mapping[str, Any]) -> list[str]:
    """Return the names of cells compiled by ``jit``, "the network" for one without a name. Operators
    inside them are not captured."""
    return [
        name or "the network"
        for model_name, model in models.items()
        for name, cell in model.cells_and_names(name_prefix=model_name)
        if hasattr(cell.construct, "__wrapped__") and cell.construct.__code__.co_filename.endswith(COMPILERS)
    ]


def operands_of(arguments: Sequence[Any]) -> Sequence[Any]:
    """Return an operator's operands among the arguments of its call. A primitive and its name, which come
    before them in some calls, are left out."""
    if len(arguments) == _PRIMITIVE_ARGUMENTS and isinstance(arguments[0], mindspore.ops.Primitive):
        return tuple(arguments[2])
    return arguments


def slot_value(value: Any) -> Any:
    """Return the value that MindSpore's own dump writes for an argument, or None if it writes none. A
    tensor is returned unchanged, a number or a list of ints as an array."""
    if isinstance(value, mindspore.Tensor):
        return value
    if isinstance(value, bool):
        return np.asarray(value)
    if isinstance(value, int):
        return np.asarray(value, np.int64)
    if isinstance(value, float):
        return np.asarray(value, np.float32)
    if isinstance(value, (list, tuple)) and value and all(type(item) is int for item in value):
        return np.asarray(value, np.int64)
    return None


def named_cells(models: Mapping[str, Any]) -> Iterator[tuple[Any, str]]:
    """Yield each cell and the scope that it adds to the scope of its caller, such as ``fc1-Dense``."""
    seen: set[int] = set()
    for model_name, model in models.items():
        for path, cell in model.cells_and_names():
            if id(cell) in seen:
                continue
            seen.add(id(cell))
            kind = type(cell).__name__
            if path:
                yield cell, f"{path.rpartition('.')[2]}-{kind}"
            else:
                yield cell, f"{model_name}-{kind}" if model_name else ""


class Describer(step_files.Describer):
    """Converter of MindSpore's values to msprobe's JSON."""

    def leaf(self, value: Any, stem: str) -> dict[str, Any] | None:
        """Return the description of a tensor or type, or None for any other value."""
        if isinstance(value, mindspore.Tensor):
            return self._tensor(value, stem)
        if type(value).__module__.startswith("mindspore") and "typing" in type(value).__module__:
            return {"type": "mindspore.dtype", "value": str(value)}
        return None

    def _tensor(self, tensor: mindspore.Tensor, stem: str) -> dict[str, Any]:
        leaf: dict[str, Any] = {
            "type": "mindspore.Tensor",
            "dtype": str(tensor.dtype),
            "shape": [int(size) for size in tensor.shape],
        }
        if not tensor.size:
            return {**leaf, "Max": None, "Min": None, "Mean": None, "Norm": None}
        values = to_numpy(tensor).values
        leaf |= _statistics(values)
        if self._md5:
            leaf["md5"] = f"{zlib.crc32(np.ascontiguousarray(values).tobytes()):08x}"
        if self._save is not None:
            leaf["data_name"] = f"{stem}.npy"
            self._save(f"{stem}.npy", tensor)
        return leaf


def is_tensor(value: Any) -> bool:
    """Return True for a tensor of MindSpore."""
    return isinstance(value, mindspore.Tensor)


def needs_gradient(tensor: mindspore.Tensor) -> bool:
    """Return True if the backward pass computes a gradient of the tensor."""
    return tensor._grad_node is not None


def file_copy(tensor: mindspore.Tensor) -> NumberArray:
    """Return a copy of the values for a file. bfloat16 becomes float32, as in msprobe."""
    return np.array(to_numpy(tensor).values, order="C")


def save_tensor(path: Path, values: NumberArray) -> None:
    """Write an array as ``.npy`` and create its directory."""
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, values, allow_pickle=False)


def quiet() -> AbstractContextManager[Any]:
    """Return an empty context: describing values runs no operator of MindSpore."""
    return nullcontext()


def _statistics(values: NumberArray) -> dict[str, Any]:
    """Return maximum, minimum, mean and L2 norm. Integers count as float32, complex numbers by magnitude."""
    with np.errstate(all="ignore"):
        if values.dtype.kind == "b":
            return {"Max": bool(values.any()), "Min": bool(values.all()), "Mean": None, "Norm": None}
        if not values.shape and values.dtype.kind != "c":
            return dict.fromkeys(("Max", "Min", "Mean", "Norm"), values.item())
        if values.dtype.kind == "c":
            values = np.abs(values)
        elif values.dtype.kind in "iu":
            values = values.astype(np.float32)
        wide = values.astype(np.float64)
        kind = values.dtype.type if values.dtype.itemsize > 2 else np.float32
        numbers = values.max(), values.min(), kind(wide.mean()), kind(np.sqrt(np.square(wide).sum()))
        return dict(zip(("Max", "Min", "Mean", "Norm"), (float(number) for number in numbers), strict=True))
