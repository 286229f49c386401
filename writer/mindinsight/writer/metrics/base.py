"""Base class of metrics, which build up over the batches of an evaluation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from mindinsight.writer.arrays import to_numpy
from mindinsight.writer.frameworks.mindspore_types import mindspore_subclass

Update = TypeVar("Update", bound=Callable[..., Any])


class Metric(ABC):
    """Base class, with the methods of ``mindspore.train.Metric``; MindSpore's Model takes it as its own.

    Override ``clear``, ``update`` and ``eval``. Calling the object does all three for one batch.
    """

    _mindspore_name: ClassVar[str] = "Metric"

    def __init__(self) -> None:
        self._indexes: list[int] | None = None
        self.clear()

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return mindspore_subclass(type(self), "mindspore.train.metrics", self._mindspore_name)

    @abstractmethod
    def clear(self) -> None:
        """Forget all batches."""

    @abstractmethod
    def update(self, *inputs: Any) -> None:
        """Add a batch."""

    @abstractmethod
    def eval(self) -> Any:
        """The metric over all batches since ``clear``. Raises RuntimeError without one."""

    def __call__(self, *inputs: Any) -> Any:
        self.clear()
        self.update(*inputs)
        return self.eval()

    @property
    def indexes(self) -> list[int] | None:
        """Which of the network's outputs ``update`` uses, in its order; None for all."""
        return self._indexes

    def set_indexes(self, indexes: list[int]) -> Metric:
        """Have ``update`` use these of its inputs, in this order. Raises ValueError unless a list of int."""
        if not isinstance(indexes, list) or not all(type(index) is int for index in indexes):
            raise ValueError(f"indexes must be a list of int, got {indexes!r}")
        self._indexes = indexes
        return self


def rearrange_inputs(update: Update) -> Update:
    """Decorator of an ``update`` that is to honour ``set_indexes``."""

    @wraps(update)
    def chosen(self: Metric, *inputs: Any) -> Any:
        return update(self, *(inputs if self.indexes is None else [inputs[index] for index in self.indexes]))

    return chosen  # type: ignore[return-value]


def array_of(value: object) -> npt.NDArray[Any]:
    """The numbers of a tensor, list or array. Raises TypeError when there are none."""
    return np.asarray(to_numpy(value).values)


def pair_of(metric: str, inputs: tuple[Any, ...]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Prediction and truth. Raises ValueError for another number of inputs."""
    if len(inputs) != 2:
        raise ValueError(f"{metric} takes the prediction and the truth, got {len(inputs)} inputs")
    return array_of(inputs[0]), array_of(inputs[1])
