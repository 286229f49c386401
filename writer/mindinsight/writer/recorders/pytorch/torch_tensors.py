"""Tensors of PyTorch as a dump sees them: found in a value, copied, and their norms."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import torch

from mindinsight.writer.arrays import HostArray, to_numpy
from mindinsight.writer.recorders.operator_graph import TensorFacts


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


_COMPRESSED: Final = (torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc)


def norms_of(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Return the L2 norm of each tensor that has one."""
    return _norms([values for tensor in tensors if (values := stored_values(tensor)) is not None])


def joined_norms(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Return the L2 norms of tensors of one shape, as one tensor [tensors] where they can be joined."""
    if not tensors:
        return []
    try:
        rows = torch.cat([*tensors]).view(len(tensors), -1)
        return [_norm(rows, 1)] if rows.is_floating_point() and rows.dtype.itemsize > 1 else norms_of(tensors)
    except RuntimeError:  # one of them is sparse, or differs
        return norms_of(tensors)


def summary_of(norms: Sequence[torch.Tensor]) -> tuple[float, int] | None:
    """Return the L2 norm of all norms together and the number of zeros among them; None without norms."""
    if not norms:
        return None
    device = norms[0].device
    joined = torch.cat([norm.to(device, torch.float32).view(-1) for norm in norms])
    total, zeros = torch.stack(
        [torch.linalg.vector_norm(joined), (joined == 0).sum().to(torch.float32)]
    ).tolist()
    return total, int(zeros)


def norms_by_name(named: Sequence[tuple[str, torch.Tensor]]) -> dict[str, float]:
    """L2 norm of each tensor that has one, by its name."""
    measured = {name: values for name, tensor in named if (values := stored_values(tensor)) is not None}
    return {name: float(norm) for name, norm in zip(measured, _norms([*measured.values()]), strict=True)}


def output_norm(output: Any) -> float | None:
    """L2 norm of all tensors in what a module returned; the minus infinities of a mask do not count."""
    norms = [
        _norm_of_finite(values)
        for tensor in tensors_of(output)
        if (values := stored_values(tensor)) is not None
    ]
    return math.sqrt(sum(norm * norm for norm in norms)) if norms else None


def stored_values(tensor: torch.Tensor) -> torch.Tensor | None:
    """The floating-point or complex numbers that a tensor stores, in a type that can be measured."""
    if tensor.device.type == "meta" or not (tensor.is_floating_point() or tensor.is_complex()):
        return None
    if tensor.is_nested or tensor.layout in _COMPRESSED:
        tensor = tensor.values()
    elif tensor.layout == torch.sparse_coo:
        tensor = tensor.coalesce().values()
    elif tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    return tensor.float() if tensor.dtype.itemsize == 1 else tensor


def _norms(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """L2 norm of each tensor, in few calls."""
    others = [tensor for tensor in tensors if tensor.dtype != torch.float16]
    if len(others) == len(tensors):
        return [*torch._foreach_norm(others)] if others else []
    norms = iter(torch._foreach_norm(others) if others else ())
    return [_norm(tensor) if tensor.dtype == torch.float16 else next(norms) for tensor in tensors]


def _norm(tensor: torch.Tensor, dim: int | None = None) -> torch.Tensor:
    wide = torch.float32 if tensor.dtype == torch.float16 else None
    return torch.linalg.vector_norm(tensor, dim=dim, dtype=wide)


def _norm_of_finite(values: torch.Tensor) -> float:
    """L2 norm without minus infinities; infinite only where a value is, however large the others are."""
    norm = float(_norm(values))
    if math.isfinite(norm) or values.is_complex() or bool((values.isnan() | values.isposinf()).any()):
        return norm
    finite = values[~values.isneginf()].double() if values.numel() > 1 else values
    return float(_norm(finite))
