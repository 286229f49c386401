"""Checks of hyper-parameters and of their results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mindinsight.writer import options
from mindinsight.writer.arrays import to_numpy
from mindinsight.writer.encoding import scalars
from mindinsight.writer.encoding.tfevents.hparams import HyperParameter
from mindinsight.writer.summary_writer.target import Trial


def trial(
    parameters: Mapping[str, Any],
    metrics: Mapping[str, Any],
    domains: Mapping[str, Sequence[Any]] | None,
    run_name: str | None,
) -> Trial:
    """The arguments of ``add_hparams``, with plain values; parameters that are None are left out.

    Raises TypeError for what is no dict, and for a parameter that is neither number, text, bool nor an array
    of one element; ValueError for the domain of an unknown parameter.
    """
    for name, mapping in (("hparam_dict", parameters), ("metric_dict", metrics)):
        if not isinstance(mapping, Mapping):
            raise TypeError(f"{name} must be a dict, got {type(mapping).__name__}")
    plain = {
        options.tag(name): _plain(name, value) for name, value in parameters.items() if value is not None
    }
    numbers = {options.tag(name): scalars.number(name, value) for name, value in metrics.items()}
    choices = {name: [_plain(name, value) for value in values] for name, values in (domains or {}).items()}
    if unknown := sorted(set(choices) - set(plain)):
        raise ValueError(f"hparam_domain_discrete names unknown hyper-parameters: {', '.join(unknown)}")
    return Trial(plain, numbers, choices, None if run_name is None else options.tag(run_name))


def _plain(name: str, value: Any) -> HyperParameter:
    if isinstance(value, (bool, int, float, str)):
        return value
    try:
        array = to_numpy(value).values
    except TypeError:
        array = np.empty(0)
    if array.size != 1 or array.dtype.kind not in "biuf":
        raise TypeError(f"hyper-parameter '{name}' must be a number, a bool or text, got {value!r}")
    number: bool | int | float = array.reshape(-1)[0].item()
    return number
