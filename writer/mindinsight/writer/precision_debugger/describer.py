"""Description of values as msprobe's JSON, with what is a framework's own left to a subclass."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import numpy as np

# Takes the name of a file and the tensor to write into it.
Save: TypeAlias = Callable[[str, Any], None]

_DEPTH: Final = 400  # of nested lists


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
        leaf = self.leaf(value, stem)
        if leaf is not None:
            return leaf
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
        return plain_leaf(value)

    def leaf(self, value: Any, stem: str) -> dict[str, Any] | None:
        """Leaf of a tensor or another value of the framework; None for everything else."""
        raise NotImplementedError


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


def plain_leaf(value: Any) -> dict[str, Any] | None:
    """A leaf of what is no tensor, no container and of no framework."""
    if isinstance(value, (bool, int, float, str)):
        return {"type": type(value).__name__, "value": value}
    if isinstance(value, slice):
        bounds = (value.start, value.stop, value.step)
        return {"type": "slice", "value": [None if bound is None else int(bound) for bound in bounds]}
    if value is Ellipsis:
        return {"type": "ellipsis", "value": "..."}
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
