"""MindSpore's tensors, arguments and cells as a recorder of dumps sees them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import mindspore
import numpy as np

from mindinsight.writer.arrays import HostArray, to_numpy
from mindinsight.writer.recorders.operator_graph import TensorFacts

COMPILERS: Final = ("common/api.py", "graph/api.py")  # files of MindSpore that ``jit`` and gradients are in
_PRIMITIVE_ARGUMENTS: Final = 3  # of an operator that is given as primitive, name, arguments


def tensors_of(value: Any) -> Iterator[mindspore.Tensor]:
    """Tensors in a value, in order; lists and tuples are looked into."""
    if isinstance(value, mindspore.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_of(item)


def facts_of(value: Any) -> TensorFacts | None:
    """Identity, shape and type of a tensor; None for a constant."""
    if not isinstance(value, mindspore.Tensor):
        return None
    dtype, shape = str(value.dtype).lower(), tuple(map(int, value.shape))
    key = value.data_ptr() if value.size else id(value)
    return TensorFacts((key, dtype, shape), shape, dtype)


def host_copy(value: Any) -> HostArray | None:
    """A tensor or constant as it is now, on the host."""
    if value is None:
        return None
    host = to_numpy(value)
    return host._replace(values=np.array(host.values, order="C"), shared=False) if host.shared else host


def named_parameters(models: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    """Parameters of all networks by MindSpore's names."""
    for model_name, model in models.items():
        for parameter in model.get_parameters():
            yield f"{model_name}.{parameter.name}" if model_name else parameter.name, parameter


def unseen_regions(models: Mapping[str, Any]) -> list[str]:
    """Names of cells that ``jit`` compiles: what runs inside them is not seen."""
    return [
        name or "the network"
        for model_name, model in models.items()
        for name, cell in model.cells_and_names(name_prefix=model_name)
        if hasattr(cell.construct, "__wrapped__") and cell.construct.__code__.co_filename.endswith(COMPILERS)
    ]


def operands_of(arguments: Sequence[Any]) -> Sequence[Any]:
    """Arguments of an operator, of which some come behind their primitive and its name."""
    if len(arguments) == _PRIMITIVE_ARGUMENTS and isinstance(arguments[0], mindspore.ops.Primitive):
        return tuple(arguments[2])
    return arguments


def slot_value(value: Any) -> Any:
    """What MindSpore's own dump has of an argument: tensors, numbers and tuples of numbers."""
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
    """Cells and the scope that each adds to that of its caller: ``fc1-Dense``; a network adds its name."""
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
