"""Tensors of PyTorch for the recorders: search in values, copies, norms, and msprobe's descriptions."""

from __future__ import annotations

import math
import zlib
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch.utils._python_dispatch import _disable_current_modes

from mindinsight.writer.arrays import HostArray, to_numpy
from mindinsight.writer.recorders import step_files
from mindinsight.writer.recorders.capture import TensorFacts


def tensors_of(value: Any) -> Iterator[torch.Tensor]:
    """Yield the tensors in a value in order. Lists, tuples, dictionaries and dataclasses are searched. Of
    a nested tensor, yield the one tensor that holds all its components."""
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
    """Return identity, shape and type of a tensor. Two equal views of the same elements are identical."""
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
    """Return a copy of a tensor in host memory, or None if it has no values (meta device). Of a tensor
    distributed over ranks, copy the shard of this rank. PyTorch makes the copy, because a tensor that
    NumPy has accessed can no longer be resized, which ``fully_shard`` does."""
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
    """Return the L2 norm of each measurable tensor. Others are left out: integers, and tensors without
    values (meta device)."""
    return _norms([values for tensor in tensors if (values := stored_values(tensor)) is not None])


def joined_norms(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Return the L2 norms of tensors of one shape: one tensor [tensors], or if they cannot be joined one for
    each. [] without tensors."""
    if not tensors:
        return []
    try:
        rows = torch.cat([*tensors]).view(len(tensors), -1)
        return [_norm(rows, 1)] if rows.is_floating_point() and rows.dtype.itemsize > 1 else norms_of(tensors)
    except RuntimeError:  # one of them is sparse, or differs
        return norms_of(tensors)


def summary_of(norms: Sequence[torch.Tensor]) -> tuple[float, int] | None:
    """Return the L2 norm of all elements and the number of zero norms, from the norms of tensors. Return None
    without norms."""
    if not norms:
        return None
    values = _numbers(norms)
    return math.sqrt(sum(value * value for value in values)), values.count(0.0)


def norms_by_name(named: Sequence[tuple[str, torch.Tensor]]) -> dict[str, float]:
    """Return the L2 norm of each measurable tensor by name. Others are left out: integers, and tensors
    without values (meta device). A norm whose squares overflow is measured again by ``scaled_norm``."""
    measured = {name: values for name, tensor in named if (values := stored_values(tensor)) is not None}
    norms = _numbers(_norms([*measured.values()]))
    return {
        name: norm if math.isfinite(norm) else scaled_norm(measured[name])
        for name, norm in zip(measured, norms, strict=True)
    }


def largest_by_name(named: Sequence[tuple[str, torch.Tensor]]) -> dict[str, float]:
    """Return the largest magnitude of each non-empty float or complex tensor by name, NaN if an element is
    NaN."""
    stored = {name: values for name, tensor in named if (values := stored_values(tensor)) is not None}
    measured = {name: values for name, values in stored.items() if values.numel()}
    norms = torch._foreach_norm([*measured.values()], math.inf) if measured else ()
    return dict(zip(measured, _numbers(norms), strict=True))


def scaled_norm(values: torch.Tensor) -> float:
    """Return the L2 norm of values whose squares may overflow, as they do in float32 from 1.8e19 on. It is
    0 without values. This is slower than the other norms."""
    largest = float(values.abs().max()) if values.numel() else 0.0
    return largest * float(_norm(values / largest)) if 0 < largest < math.inf else largest


def scaled_summary(tensors: Sequence[torch.Tensor]) -> tuple[float, int] | None:
    """Return the L2 norm over all tensors and the number of zero norms, or None if none can be measured.
    Like ``summary_of``, for tensors whose squares may overflow."""
    norms = [scaled_norm(values) for tensor in tensors if (values := stored_values(tensor)) is not None]
    if not norms:
        return None
    return math.nan if any(map(math.isnan, norms)) else math.hypot(*norms), norms.count(0.0)


def output_norm(output: Any) -> float | None:
    """Return the L2 norm of all tensors in a module's output without -Inf, or None without floating tensors.
    -Inf counts in a complex tensor, and in one of a single number."""
    norms = [
        _norm_of_finite(values)
        for tensor in tensors_of(output)
        if (values := stored_values(tensor)) is not None
    ]
    return math.hypot(*norms) if norms else None


def stored_values(tensor: torch.Tensor) -> torch.Tensor | None:
    """Return the floating-point or complex values that a tensor stores, or None for integers and on the
    meta device. A sparse tensor stores only some of its elements. Types of one byte become float32,
    because they have no norm."""
    if tensor.device.type == "meta" or not (tensor.is_floating_point() or tensor.is_complex()):
        return None
    if tensor.is_nested or tensor.layout in _COMPRESSED:
        tensor = tensor.values()
    elif tensor.layout == torch.sparse_coo:
        tensor = tensor.coalesce().values()
    elif tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    return tensor.float() if tensor.dtype.itemsize == 1 else tensor


def _numbers(norms: Sequence[torch.Tensor]) -> list[float]:
    """Return the elements of all tensors in order, with one copy to the host."""
    if not norms:
        return []
    device = norms[0].device
    return list(torch.cat([norm.to(device).view(-1) for norm in norms]).tolist())


def _norms(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Return the L2 norm of each tensor, computed in few calls."""
    others = [tensor for tensor in tensors if tensor.dtype != torch.float16]
    if len(others) == len(tensors):
        return [*torch._foreach_norm(others)] if others else []
    norms = iter(torch._foreach_norm(others) if others else ())
    return [_norm(tensor) if tensor.dtype == torch.float16 else next(norms) for tensor in tensors]


def _norm(tensor: torch.Tensor, dim: int | None = None) -> torch.Tensor:
    wide = torch.float32 if tensor.dtype == torch.float16 else None
    return torch.linalg.vector_norm(tensor, dim=dim, dtype=wide)


def _norm_of_finite(values: torch.Tensor) -> float:
    """Return the L2 norm of a tensor, without its negative infinities if it is real and has several
    elements."""
    norm = float(_norm(values))
    if math.isfinite(norm) or values.is_complex() or bool((values.isnan() | values.isposinf()).any()):
        return norm
    return scaled_norm(values[~values.isneginf()] if values.numel() > 1 else values)


_FORMATS: Final = {
    torch.contiguous_format: "contiguous_format",
    torch.channels_last: "channels_last",
    torch.channels_last_3d: "channels_last_3d",
    torch.preserve_format: "preserve_format",
}


class Describer(step_files.Describer):
    """Converter of PyTorch's values to msprobe's JSON."""

    def leaf(self, value: Any, stem: str) -> dict[str, Any] | None:
        """Return the description of a tensor, size, dtype, device or memory format, or None."""
        if isinstance(value, torch.Tensor):
            return self._tensor(value, stem)
        if isinstance(value, torch.Size):
            return {"type": "torch.Size", "value": [int(size) for size in value]}
        if isinstance(value, (torch.dtype, torch.device)):
            return {"type": f"torch.{type(value).__name__}", "value": str(value)}
        if isinstance(value, torch.memory_format):
            return {"type": "torch.memory_format", "format": _FORMATS.get(value)}
        return None

    def _tensor(self, tensor: torch.Tensor, stem: str) -> dict[str, Any]:
        values = _readable(tensor)
        leaf: dict[str, Any] = {
            "type": "torch.Tensor",
            "dtype": str(tensor.dtype),
            "shape": [int(size) for size in tensor.shape],
            **_statistics(values),
            "requires_grad": tensor.requires_grad,
        }
        if values is None:
            return leaf
        if self._md5:
            leaf["md5"] = _checksum(values)
        if self._save is not None:
            leaf["data_name"] = f"{stem}.pt"
            self._save(f"{stem}.pt", values)
        return leaf


def is_tensor(value: Any) -> bool:
    """Return True for a tensor of PyTorch."""
    return isinstance(value, torch.Tensor)


def needs_gradient(tensor: torch.Tensor) -> bool:
    """Return True if the backward pass computes a gradient of the tensor."""
    return bool(tensor.requires_grad)


def file_copy(tensor: torch.Tensor) -> torch.Tensor:
    """Return a contiguous copy of the values in host memory for a file."""
    return tensor.to("cpu", copy=True).contiguous()


def save_tensor(path: Path, tensor: torch.Tensor) -> None:
    """Write a tensor with ``torch.save`` and create its directory."""
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(tensor, path)


def quiet() -> AbstractContextManager[Any]:
    """Return a context in which autograd and PyTorch's function and dispatch modes record nothing."""
    stack = ExitStack()
    stack.enter_context(torch.no_grad())
    stack.enter_context(without_modes())
    return stack


def without_modes() -> AbstractContextManager[Any]:
    """Return a context in which no function or dispatch mode, such as another recorder's, sees the calls."""
    functions: AbstractContextManager[Any] = torch._C.DisableTorchFunction()
    if not torch._C._len_torch_dispatch_stack():
        return functions
    stack = ExitStack()
    stack.enter_context(functions)
    stack.enter_context(_disable_current_modes())
    return stack


def _readable(tensor: torch.Tensor) -> torch.Tensor | None:
    """Return the tensor without autograd, or None if it has no elements or no readable memory."""
    values = tensor.detach()
    if values.is_meta or values.layout is not torch.strided or values.is_quantized or not values.numel():
        return None
    try:
        return values if values.data_ptr() else None
    except RuntimeError:  # a subclass without storage, or a tensor inside vmap
        return None


def _statistics(values: torch.Tensor | None) -> dict[str, Any]:
    """Return maximum, minimum, mean and L2 norm, computed in the tensor's own type as in msprobe. Complex
    numbers count by magnitude. Integers and booleans have extremes only."""
    statistics: dict[str, Any] = {"Max": None, "Min": None, "Mean": None, "Norm": None}
    if values is None or (values.is_floating_point() and values.element_size() == 1):  # float8
        return statistics
    if values.is_complex():
        values = values.abs()
        return {
            **statistics,
            "Max": values.max().item(),
            "Min": values.min().item(),
            "Mean": values.mean().item(),
        }
    if values.dtype == torch.bool:
        return {**statistics, "Max": values.any().item(), "Min": values.all().item()}
    if not values.shape:
        number = values.item()
        return dict.fromkeys(statistics, number)
    statistics["Max"], statistics["Min"] = values.max().item(), values.min().item()
    if values.is_floating_point():
        statistics["Mean"], statistics["Norm"] = values.mean().item(), torch.norm(values).item()
    return statistics


def _checksum(values: torch.Tensor) -> str:
    """Return the CRC-32 of the bytes in C order as eight hexadecimal digits. The bytes are copied, because
    a tensor that NumPy has accessed can no longer be resized by ``fully_shard``."""
    flat = values.cpu().contiguous().reshape(-1).resolve_conj().resolve_neg().clone()
    return f"{zlib.crc32(flat.view(torch.uint8).numpy().tobytes()):08x}"
