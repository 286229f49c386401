"""Description of values that are of no framework, and of containers."""

import math
from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from mindinsight.writer.precision_debugger.describer import Describer, is_finite, plain_leaf


class Names(Describer):
    """Describer of a framework whose tensors are sets; leaves are the stems of their files."""

    def leaf(self, value: Any, stem: str) -> dict[str, Any] | None:
        return {"data_name": stem} if isinstance(value, set) else None


@dataclass
class Batch:
    x: Any
    y: Any


def test_places_in_containers_are_in_the_names_of_files() -> None:
    pair = namedtuple("pair", ["left", "right"])
    value = [set(), {"a": (set(), 2)}, Batch(set(), None), pair(set(), "b")]
    described = Names(False, None).describe(value, "entry.input")
    assert described == [
        {"data_name": "entry.input.0"},
        {"a": [{"data_name": "entry.input.1.a.0"}, {"type": "int", "value": 2}]},
        {"x": {"data_name": "entry.input.2.x"}, "y": None},
        {"left": {"data_name": "entry.input.3.left"}, "right": {"type": "str", "value": "b"}},
    ]


def test_a_list_in_itself_ends() -> None:
    value: list[Any] = []
    value.append(value)
    described = Names(False, None).describe(value, "entry")
    depth = 0
    while described:
        described, depth = described[0], depth + 1
    assert depth == 401


@pytest.mark.parametrize(
    ("value", "leaf"),
    [
        (True, {"type": "bool", "value": True}),
        (slice(1, None, 2), {"type": "slice", "value": [1, None, 2]}),
        (..., {"type": "ellipsis", "value": "..."}),
        (np.float32(1.5), {"type": "float32", "value": 1.5}),
        (object(), None),
    ],
)
def test_plain_arguments_have_leaves(value: object, leaf: object) -> None:
    assert plain_leaf(value) == leaf


def test_arrays_have_statistics_unless_they_are_empty_or_text() -> None:
    leaf = plain_leaf(np.array([3.0, -4.0]))
    assert leaf is not None
    assert [leaf[name] for name in ("Max", "Min", "Mean", "Norm")] == [3, -4, -0.5, 5]
    for array in (np.zeros(0), np.array(["a"])):
        empty = plain_leaf(array)
        assert empty is not None
        assert empty["Max"] is None


@pytest.mark.parametrize(
    ("described", "finite"),
    [
        ([{"Max": 1.0, "Min": math.nan}], False),
        ({"x": {"Max": math.inf, "Min": 0.0}}, False),
        ([{"Max": None, "Min": None}, {"type": "float", "value": math.nan}, None], True),
    ],
)
def test_entries_with_extremes_that_are_not_finite_are_told(described: object, finite: bool) -> None:
    assert is_finite(described) is finite
