"""Description of MindSpore's values as msprobe's JSON: statistics of tensors, and files of them."""

from __future__ import annotations

import zlib
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import mindspore
import numpy as np

from mindinsight.writer.arrays import NumberArray, to_numpy
from mindinsight.writer.recorders import step_files
from mindinsight.writer.recorders.mindspore.mindspore_values import tensors_of

__all__ = ["Describer", "host_copy", "is_tensor", "needs_gradient", "quiet", "save_tensor", "tensors_of"]


class Describer(step_files.Describer):
    """Writer of MindSpore's values as JSON."""

    def leaf(self, value: Any, stem: str) -> dict[str, Any] | None:
        """Leaf of a tensor or a type."""
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
    """Whether a value is a tensor of MindSpore's."""
    return isinstance(value, mindspore.Tensor)


def needs_gradient(tensor: mindspore.Tensor) -> bool:
    """Whether the backward pass computes a gradient of a tensor."""
    return tensor._grad_node is not None


def host_copy(tensor: mindspore.Tensor) -> NumberArray:
    """Values as they are now; bfloat16 as float32, as msprobe writes it."""
    return np.array(to_numpy(tensor).values, order="C")


def save_tensor(path: Path, values: NumberArray) -> None:
    """Write an array as ``.npy``; its directory is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, values, allow_pickle=False)


def quiet() -> AbstractContextManager[Any]:
    """Context for our own work, which runs no operator of MindSpore's."""
    return nullcontext()


def _statistics(values: NumberArray) -> dict[str, Any]:
    """Maximum, minimum, mean and L2 norm; integers count as float32, complex numbers by their magnitude."""
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
