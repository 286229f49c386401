"""Options of a collector and their validation, with MindSpore's rules and exceptions."""

import logging
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from mindinsight.writer import options
from mindinsight.writer.hyper_config import VARIABLE, HyperConfigError, read_hyper_config

_log: Final = logging.getLogger(__name__)
_SIZES: Final = (3, 256)  # points along one side of a landscape


@dataclass(frozen=True)
class Landscape:
    """Settings of loss landscapes, with the names of ``collect_landscape``."""

    landscape_size: int = 40  # points along one side
    unit: str = "step"  # or epoch: unit of ``intervals``
    num_samples: int = 2048  # over which a loss is evaluated
    create_landscape: Mapping[str, bool] | None = None  # train: one for each interval, result: one of the end
    intervals: tuple[tuple[int, ...], ...] = ()  # one landscape each. Weights are saved at each number

    def parts(self) -> dict[str, bool]:
        """Return {"train": bool, "result": bool}: which landscapes to make, by default only "train"."""
        return dict(self.create_landscape or {"train": True, "result": False})


@dataclass(frozen=True)
class CollectedKinds:
    """Kinds to collect, one field for each key of ``collect_specified_data``."""

    collect_metric: bool = True
    collect_graph: bool = True
    collect_train_lineage: bool = True
    collect_eval_lineage: bool = True
    collect_input_data: bool = True
    collect_dataset_graph: bool = True
    collect_code: bool = True
    collect_system: bool = True
    collect_console: bool = True
    histogram_regular: str | None = None  # None: the first five parameters
    collect_landscape: Landscape | None = None
    histograms: bool = True  # False when defaults are off and histogram_regular was not given


def collected_kinds(specified: Any, keep_defaults: Any) -> CollectedKinds:
    """Return the kinds to collect, from ``collect_specified_data`` and ``keep_default_action``. Raises
    TypeError and ValueError like ``SummaryCollector``. Unlike MindSpore's collector, this one saves no
    weights for a landscape unless ``collect_landscape`` is given."""
    options.typed(keep_defaults, bool, "keep_default_action")
    specified = options.typed(specified, Mapping, "collect_specified_data", optional=True) or {}
    names = [field.name for field in fields(CollectedKinds) if field.name != "histograms"]
    _check_keys(specified, names, "collect_specified_data")
    chosen = {name: options.typed(specified.get(name, keep_defaults), bool, name) for name in names[:-2]}
    return CollectedKinds(
        **chosen,
        histogram_regular=_pattern(specified.get("histogram_regular")),
        collect_landscape=landscape(specified.get("collect_landscape")),
        histograms=keep_defaults or "histogram_regular" in specified,
    )


def _check_keys(given: Mapping[str, Any], names: Sequence[str], argument: str) -> None:
    if unknown := [key for key in given if key not in names]:
        raise ValueError(f"{argument} has unknown keys {unknown}; known are {', '.join(names)}")


def landscape(given: Any) -> Landscape | None:
    """Return the settings of ``collect_landscape``, or None if it is None or empty. Raises TypeError or
    ValueError for invalid settings."""
    if not options.typed(given, Mapping, "collect_landscape", optional=True):
        return None
    _check_keys(given, [field.name for field in fields(Landscape)], "collect_landscape")
    settings = Landscape(**{**given, "intervals": _intervals(given.get("intervals"))})
    _check(settings)
    return settings


def frequency(value: Any, argument: str) -> int:
    """Return ``value`` if it is an int above zero. Raises TypeError or ValueError otherwise."""
    number: int = options.typed(value, int, argument)
    if number <= 0:
        raise ValueError(f"{argument} must be above zero, got {number}")
    return number


def optional_frequency(value: Any, argument: str) -> int | None:
    """Return ``value`` if it is None or an int above zero. Raises TypeError or ValueError otherwise."""
    return None if value is None else frequency(value, argument)


def custom_lineage(user_facts: Any, environment: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """Return ``custom_lineage_data`` merged over the same key of the JSON in MINDINSIGHT_HYPER_CONFIG.
    Raises TypeError for a name that is no text, or a value that is no number or text. A variable that is
    not valid is logged and ignored."""
    options.typed(user_facts, Mapping, "custom_lineage_data", optional=True)
    facts = {**_hyper_config(environment.get(VARIABLE, "")), **(user_facts or {})}
    for name, value in facts.items():
        if not isinstance(name, str) or not isinstance(value, (int, float, str)):
            raise TypeError(f"custom_lineage_data takes numbers and text by name, got {name!r}: {value!r}")
    return facts


def _hyper_config(text: str) -> Mapping[str, Any]:
    if not text:
        return {}
    try:
        facts = read_hyper_config(text).get("custom_lineage_data", {})
    except HyperConfigError as error:
        _log.warning("the tuner's values are not recorded: %s", error)
        return {}
    if not isinstance(facts, dict):
        _log.warning("custom_lineage_data in %s is not a JSON object", VARIABLE)
        return {}
    return facts


def _pattern(value: Any) -> str | None:
    pattern: str | None = options.typed(value, str, "histogram_regular", optional=True)
    try:
        re.compile(pattern or "")
    except re.error as error:
        raise ValueError(f"histogram_regular is not a valid regular expression: {error}") from error
    return pattern


def _intervals(value: Any) -> tuple[tuple[int, ...], ...]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(group, (list, tuple)) for group in value):
        raise TypeError(f"collect_landscape needs intervals, a list of lists of int, got {value!r}")
    groups = tuple(tuple(group) for group in value)
    if not groups or any(len(group) < 3 for group in groups):
        raise ValueError("each of the intervals of collect_landscape needs at least 3 numbers")
    if any(isinstance(number, bool) or not isinstance(number, int) for group in groups for number in group):
        raise TypeError(f"the intervals of collect_landscape must be lists of int, got {value!r}")
    return groups


def _check(settings: Landscape) -> None:
    for name in ("landscape_size", "num_samples"):
        frequency(getattr(settings, name), name)
    if not _SIZES[0] <= settings.landscape_size <= _SIZES[1]:
        raise ValueError(f"landscape_size must be from {_SIZES[0]} to {_SIZES[1]}")
    if settings.unit not in ("step", "epoch"):
        raise ValueError(f"unit must be 'step' or 'epoch', got {settings.unit!r}")
    parts = settings.parts()
    if set(parts) != {"train", "result"} or not all(isinstance(part, bool) for part in parts.values()):
        raise ValueError("create_landscape must give a bool for both 'train' and 'result'")
