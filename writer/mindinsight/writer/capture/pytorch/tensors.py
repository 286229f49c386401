"""Tensors of PyTorch as a dump sees them: found in a value, told apart, copied to the host."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import numpy as np
import torch

from mindinsight.writer.arrays import HostArray, to_numpy
from mindinsight.writer.capture.graph_recorder import TensorFacts


def tensors_of(value: Any) -> Iterator[torch.Tensor]:
    """Tensors in a value, in order; lists, tuples, dictionaries and dataclasses are looked into.

    A nested tensor is the one tensor in which its parts lie behind one another.
    """
    if isinstance(value, torch.Tensor):
        yield value.values() if value.is_nested else value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_of(item)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from tensors_of(item)
    elif hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        for name in value.__dataclass_fields__:
            yield from tensors_of(getattr(value, name, None))


def facts_of(tensor: torch.Tensor) -> TensorFacts:
    """Identity, shape and type of a tensor. Two views of the same elements in one shape are the same."""
    dtype = str(tensor.dtype).rpartition(".")[2]
    shape = tuple(map(int, tensor.shape))
    return TensorFacts(_identity(tensor, dtype, shape), shape, dtype)


def _identity(tensor: torch.Tensor, dtype: str, shape: tuple[int, ...]) -> Hashable:
    if tensor.layout is torch.strided and tensor.numel() and tensor.device.type != "meta":
        try:
            return tensor.data_ptr(), dtype, shape, tensor.stride()
        except RuntimeError:  # a subclass without storage
            pass
    return id(tensor), dtype, shape


def host_copy(tensor: torch.Tensor) -> HostArray | None:
    """A tensor as it is now, on the host; None for one that has no values, as on the meta device.

    Of a tensor that is spread over ranks it is the part of this rank. The copy is PyTorch's: a tensor that
    NumPy has seen cannot be resized any more, as ``fully_shard`` does with what it gathers.
    """
    if tensor.device.type == "meta":
        return None
    if hasattr(tensor, "to_local"):
        tensor = tensor.to_local()
    if tensor.layout == torch.strided and not tensor.is_quantized:
        tensor = tensor.detach().clone(memory_format=torch.contiguous_format)
    host = to_numpy(tensor)
    return host._replace(values=np.ascontiguousarray(host.values).reshape(host.values.shape), shared=False)
