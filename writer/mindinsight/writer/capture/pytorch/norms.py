"""L2 norms of PyTorch's tensors, with a rule for each kind of tensor.

float16 is measured in float32, as the norm of finite numbers may be beyond 65 504, and so are types of
8 bits. Of a sparse or nested tensor it is the norm of the values it stores. A quantised tensor, one of
integers, and one without values, as on the meta device, has none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import torch

from mindinsight.writer.capture.pytorch.tensors import tensors_of

_COMPRESSED: Final = (torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc)


def norm_of_all(tensors: Sequence[torch.Tensor]) -> float | None:
    """L2 norm of several tensors together; None where none of them has a norm."""
    norms = _norms([values for tensor in tensors if (values := stored_values(tensor)) is not None])
    if not norms:
        return None
    device = norms[0].device
    return float(torch.linalg.vector_norm(torch.stack([norm.to(device, torch.float32) for norm in norms])))


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


def _norm(tensor: torch.Tensor) -> torch.Tensor:
    return torch.linalg.vector_norm(tensor, dtype=torch.float32 if tensor.dtype == torch.float16 else None)


def _norm_of_finite(values: torch.Tensor) -> float:
    """L2 norm without minus infinities; infinite only where a value is, however large the others are."""
    norm = float(_norm(values))
    if math.isfinite(norm) or values.is_complex() or bool((values.isnan() | values.isposinf()).any()):
        return norm
    finite = values[~values.isneginf()].double() if values.numel() > 1 else values
    return float(_norm(finite))
