"""Extractors of the values of a step: each function yields (plugin, tag, value) of one kind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from mindinsight.writer.callbacks.loss import loss_of
from mindinsight.writer.collector import training_objects

_FEW: Final = 5  # parameters whose histograms are recorded when none are named

Arguments = Mapping[str, Any]
Values = Iterator[tuple[str, str, Any]]


def loss(arguments: Arguments) -> Values:
    """The mean of the network's first output. Raises TypeError when it holds no numbers."""
    yield "scalar", "loss/auto", loss_of(arguments.get("net_outputs"))


def learning_rate(arguments: Arguments) -> Values:
    """The rate of the first group of parameters, and of each further one under a tag with its number."""
    for index, rate in enumerate(training_objects.learning_rates(arguments.get("optimizer"))):
        yield "scalar", f"learning_rate{f'_{index}' if index else ''}/auto", rate


def input_data(arguments: Arguments) -> Values:
    """The first column of the batch as pictures; nothing in sink mode, where the loop does not have it."""
    element = first(arguments.get("train_dataset_element"))
    if element is not None:
        yield "image", "input_data/auto", element


def histograms(arguments: Arguments, pattern: str | None) -> Values:
    """The parameters whose names match ``pattern`` from the start, the first five without one."""
    trained = training_objects.parameters(arguments.get("network"), arguments.get("optimizer"))
    if pattern is None:
        chosen = list(islice(trained, _FEW))
    else:
        chosen = [entry for entry in trained if re.match(pattern, entry[0])]
    for name, value in chosen:
        yield "histogram", f"{name}/auto", value


def first(element: Any) -> Any:
    """The first column of a batch."""
    while isinstance(element, (list, tuple)) and element:
        element = element[0]
    if isinstance(element, Mapping):
        return first(list(element.values()))
    return element
