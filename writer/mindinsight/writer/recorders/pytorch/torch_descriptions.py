"""Description of PyTorch values as msprobe's JSON: statistics of tensors, and PyTorch's own arguments."""

from __future__ import annotations

import zlib
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any, Final

import torch

from mindinsight.writer.recorders import step_files
from mindinsight.writer.recorders.pytorch.torch_tensors import tensors_of

__all__ = ["Describer", "host_copy", "is_tensor", "needs_gradient", "quiet", "save_tensor", "tensors_of"]

_FORMATS: Final = {
    torch.contiguous_format: "contiguous_format",
    torch.channels_last: "channels_last",
    torch.channels_last_3d: "channels_last_3d",
    torch.preserve_format: "preserve_format",
}


class Describer(step_files.Describer):
    """Writer of PyTorch's values as JSON."""

    def leaf(self, value: Any, stem: str) -> dict[str, Any] | None:
        """Leaf of a tensor, size, dtype, device or memory format."""
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
    """Whether a value is a tensor of PyTorch's."""
    return isinstance(value, torch.Tensor)


def needs_gradient(tensor: torch.Tensor) -> bool:
    """Whether the backward pass computes a gradient of a tensor."""
    return bool(tensor.requires_grad)


def host_copy(tensor: torch.Tensor) -> torch.Tensor:
    """Values as they are now, as a file can have them."""
    return tensor.to("cpu", copy=True).contiguous()


def save_tensor(path: Path, tensor: torch.Tensor) -> None:
    """Write a tensor with ``torch.save``; its directory is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(tensor, path)


def quiet() -> AbstractContextManager[Any]:
    """Context in which nothing is recorded by autograd or by a mode."""
    stack = ExitStack()
    stack.enter_context(torch.no_grad())
    stack.enter_context(torch._C.DisableTorchFunction())
    return stack


def _readable(tensor: torch.Tensor) -> torch.Tensor | None:
    """The tensor without autograd; None for one without elements or without memory that can be read."""
    values = tensor.detach()
    if values.is_meta or values.layout is not torch.strided or values.is_quantized or not values.numel():
        return None
    try:
        return values if values.data_ptr() else None
    except RuntimeError:  # a subclass without storage, or a tensor inside vmap
        return None


def _statistics(values: torch.Tensor | None) -> dict[str, Any]:
    """Maximum, minimum, mean and L2 norm, computed in the tensor's own type as msprobe does.

    Of complex numbers it is the magnitude; integers and truth values have extremes only.
    """
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
    """CRC-32 of the bytes in C order, as eight hexadecimal digits.

    Of a copy: a tensor that NumPy has seen cannot be resized any more, as ``fully_shard`` does.
    """
    flat = values.cpu().contiguous().reshape(-1).resolve_conj().resolve_neg().clone()
    return f"{zlib.crc32(flat.view(torch.uint8).numpy().tobytes()):08x}"
