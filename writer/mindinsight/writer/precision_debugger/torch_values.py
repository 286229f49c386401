"""Description of PyTorch values as msprobe's JSON: statistics of tensors, and plain arguments."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import numpy as np
import torch

# Takes the name of a file and the tensor to write into it.
Save: TypeAlias = Callable[[str, torch.Tensor], None]

_DEPTH: Final = 400  # of nested lists
_FORMATS: Final = {
    torch.contiguous_format: "contiguous_format",
    torch.channels_last: "channels_last",
    torch.channels_last_3d: "channels_last_3d",
    torch.preserve_format: "preserve_format",
}


class Describer:
    """Writer of values as JSON. ``save`` gets each tensor that has values, with the name of its file."""

    def __init__(self, md5: bool, save: Save | None) -> None:
        self._md5 = md5
        self._save = save

    def describe(self, value: Any, stem: str, depth: int = 0) -> Any:
        """A value as JSON: a leaf, a list or an object of them; None for what has no description.

        ``stem`` is the entry and the side; the places in lists and dictionaries join it in file names.
        """
        if depth > _DEPTH:
            return None
        if isinstance(value, torch.Tensor):
            return self._tensor(value, stem)
        if isinstance(value, torch.Size):
            return {"type": "torch.Size", "value": [int(size) for size in value]}
        if isinstance(value, tuple) and hasattr(value, "_asdict"):
            value = value._asdict()
        elif hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
            value = {name: getattr(value, name, None) for name in value.__dataclass_fields__}
        if isinstance(value, (list, tuple)):
            return [
                self.describe(item, f"{stem}.{position}", depth + 1) for position, item in enumerate(value)
            ]
        if isinstance(value, Mapping):
            return {str(key): self.describe(item, f"{stem}.{key}", depth + 1) for key, item in value.items()}
        return _plain(value)

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


def is_finite(described: Any) -> bool:
    """Whether all leaves of a description have finite extremes."""
    if isinstance(described, list):
        return all(map(is_finite, described))
    if not isinstance(described, dict):
        return True
    if "Max" in described:
        extremes = (described["Max"], described["Min"])
        return all(number is None or math.isfinite(number) for number in extremes)
    return all(map(is_finite, described.values()))


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
    """CRC-32 of the bytes in C order, as eight hexadecimal digits."""
    flat = values.cpu().contiguous().reshape(-1).resolve_conj().resolve_neg()
    return f"{zlib.crc32(flat.view(torch.uint8).numpy().tobytes()):08x}"


def _plain(value: Any) -> Any:
    """A leaf of what is no tensor and no container."""
    if isinstance(value, (bool, int, float, str)):
        return {"type": type(value).__name__, "value": value}
    if isinstance(value, slice):
        bounds = (value.start, value.stop, value.step)
        return {"type": "slice", "value": [None if bound is None else int(bound) for bound in bounds]}
    if value is Ellipsis:
        return {"type": "ellipsis", "value": "..."}
    if isinstance(value, (torch.dtype, torch.device)):
        return {"type": f"torch.{type(value).__name__}", "value": str(value)}
    if isinstance(value, torch.memory_format):
        return {"type": "torch.memory_format", "format": _FORMATS.get(value)}
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, np.generic):
        return {"type": type(value).__name__, "value": value.item()}
    return None


def _array(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    leaf: dict[str, Any] = {"type": "numpy.ndarray", "dtype": str(array.dtype), "shape": list(array.shape)}
    if not array.size or array.dtype.kind not in "biuf":
        return {**leaf, "Max": None, "Min": None, "Mean": None, "Norm": None}
    with np.errstate(all="ignore"):
        numbers = array.max(), array.min(), array.mean(), np.linalg.norm(array)
    return {**leaf, **dict(zip(("Max", "Min", "Mean", "Norm"), (n.item() for n in numbers), strict=True))}
