"""Conversion of a training's configuration to lineage, from a nested dict, dataclass or namespace."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, is_dataclass
from typing import Any, Final

from mindinsight.writer.arrays import to_numpy

Fact = bool | int | float | str
_LONGEST: Final = 1000  # characters of a setting that has no plain form
_DEEPEST: Final = 8  # levels. What is nested deeper, or in itself, becomes text
# Names of settings in use -> the fact of a training's lineage that they are, and its type.
_TRAIN_FACTS: Final[Mapping[str, tuple[str, type]]] = {
    "lr": ("learning_rate", float),
    "learning_rate": ("learning_rate", float),
    "batch_size": ("batch_size", int),
    "bsize": ("batch_size", int),
    "per_device_train_batch_size": ("batch_size", int),
    "epoch": ("epoch", int),
    "epochs": ("epoch", int),
    "max_epochs": ("epoch", int),
    "num_train_epochs": ("epoch", int),
    "optimizer": ("optimizer", str),
    "optim": ("optimizer", str),
    "loss_function": ("loss_function", str),
    "model": ("network", str),
    "network": ("network", str),
}


def flatten(configuration: Any) -> dict[str, Fact]:
    """Return the settings of ``configuration`` by path (``optimizer.lr``). Settings of None are omitted.

    A configuration is a dict, dataclass or Namespace, also nested. Of any other value the result is {}.
    Numbers, bools, text and arrays of one element are kept. Lists become JSON. Other values become text of at
    most 1000 characters.
    """
    return dict(_facts(configuration, "", 0))


def train_facts(facts: Mapping[str, Fact]) -> dict[str, Fact]:
    """Return the facts that fit a field of a training's lineage, by the name of the field. The last part
    of a path must be a known name, and the value must fit the field's type. Of several facts for one field
    the first is used."""
    known: dict[str, Fact] = {}
    for path, value in facts.items():
        name, kind = _TRAIN_FACTS.get(path.rpartition(".")[2], ("", str))
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not name or name in known:
            continue
        if kind is str and isinstance(value, str):
            known[name] = value
        elif kind is float and number:
            known[name] = float(value)
        elif kind is int and number and float(value).is_integer() and 0 <= float(value) < 1 << 31:
            known[name] = int(value)
    return known


def _facts(value: Any, path: str, depth: int) -> Iterator[tuple[str, Fact]]:
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    elif type(value).__name__ in ("Namespace", "SimpleNamespace"):
        value = vars(value)
    if isinstance(value, Mapping) and depth < _DEEPEST:
        for name, setting in value.items():
            yield from _facts(setting, f"{path}.{name}" if path else str(name), depth + 1)
    elif path and value is not None:
        yield path, _plain(value)


def _plain(value: Any) -> Fact:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (list, tuple)):
        return json.dumps(value, default=str)[:_LONGEST]
    fact = single_fact(value)
    if fact is not None:
        return fact
    try:
        return str(to_numpy(value).values.tolist())[:_LONGEST]
    except TypeError:
        return str(getattr(value, "__name__", value))[:_LONGEST]


def single_fact(value: Any) -> Fact | None:
    """Return a number, bool or text, or the element of a one-element array, or None for any other value."""
    if isinstance(value, (bool, int, float, str)):
        return value
    try:
        array = to_numpy(value).values
    except TypeError:
        return None
    number: Fact | None = array.item() if array.size == 1 and array.dtype.kind in "biuf" else None
    return number
