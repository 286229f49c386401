"""Arguments of operators that are no tensors: numbers, truth values, texts and lists of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from mindinsight.server.formats.dumps.types import Operator

OperatorKey: TypeAlias = tuple[str, str]  # graph, name as recorded
Arguments: TypeAlias = Mapping[OperatorKey, tuple[tuple[str, str], ...]]

INPUT = "input."


class Difference(NamedTuple):
    """An argument that two operators were given differently, as JSON texts."""

    slot: str
    target: str
    reference: str


def arguments_of(operators: Iterable[Operator]) -> Arguments:
    """What each operator was given besides tensors, by graph and recorded name."""
    return {(each.graph, each.recorded): each.arguments for each in operators if each.arguments}


def differences(
    target: Iterable[tuple[str, str]], reference: Iterable[tuple[str, str]]
) -> Iterator[Difference]:
    """Arguments both were given in the same place and of the same kind, that are not the same.

    An argument one side was not given says nothing, nor does a whole number instead of a broken one:
    calls are written in many ways that mean the same. Results are no arguments.
    """
    theirs = dict(reference)
    for name, text in target:
        if name.startswith(INPUT) and name in theirs and _differ(text, theirs[name]):
            yield Difference(name.removeprefix(INPUT), text, theirs[name])


def _differ(text: str, other: str) -> bool:
    if text == other:  # NaN too
        return False
    one, two = _value(text), _value(other)
    return one is not None and type(one) is type(two) and bool(one != two)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:  # a very long text is kept by its beginning
        return text
