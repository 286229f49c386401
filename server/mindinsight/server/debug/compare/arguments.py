"""Comparison of operator arguments other than tensors: numbers, booleans, texts and lists of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

OperatorKey: TypeAlias = tuple[str, str]  # graph, name as recorded
Arguments: TypeAlias = Mapping[OperatorKey, tuple[tuple[str, str], ...]]

INPUT = "input."


class Difference(NamedTuple):
    """An argument that differs between two operators, as JSON texts."""

    slot: str
    target: str
    reference: str


def differences(
    target: Iterable[tuple[str, str]], reference: Iterable[tuple[str, str]]
) -> Iterator[Difference]:
    """Arguments in the same slot and of the same type on both sides that are not equal.

    A missing argument, or an integer instead of a float, is no difference: the same call can be written in
    many ways. Results are no arguments.
    """
    reference_arguments = dict(reference)
    for name, text in target:
        if (
            name.startswith(INPUT)
            and name in reference_arguments
            and _differ(text, reference_arguments[name])
        ):
            yield Difference(name.removeprefix(INPUT), text, reference_arguments[name])


def _differ(text: str, other: str) -> bool:
    if text == other:  # NaN too
        return False
    value, other_value = _value(text), _value(other)
    return value is not None and type(value) is type(other_value) and bool(value != other_value)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:  # a very long text is recorded only in part
        return text
