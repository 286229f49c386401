"""Searches of lineage: what a body may be, and which rows it finds."""

from typing import Any

import pytest

from mindinsight.server.v1.lineage_search import parse_search, sort_rows
from mindinsight.server.v1.v1_responses import Fault, V1Error

ROWS: list[dict[str, Any]] = [
    {"summary_dir": "./a", "learning_rate": 0.1, "epoch": 3, "network": "Net", "metric/acc": 0.9},
    {"summary_dir": "./b", "learning_rate": None, "epoch": 5, "network": "Net", "user_defined/kind": "x"},
    {"summary_dir": "./c", "learning_rate": 0.001, "epoch": 4, "network": "Other", "user_defined/kind": 2},
]


def matching_runs(body: Any) -> list[Any]:
    return [row["summary_dir"] for row in parse_search(body).matching(ROWS)]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({"learning_rate": {"lt": 0.05}}, ["./c"]),
        ({"learning_rate": {"ge": 0.001}}, ["./a", "./c"]),
        ({"learning_rate": {"not_in": [0.1]}}, ["./b", "./c"]),
        ({"learning_rate": {"in": [None, "x", {}, 0.001]}}, ["./b", "./c"]),
        ({"learning_rate": {"not_in": [None, []]}}, ["./a", "./c"]),
        ({"network": {"eq": "Net"}, "epoch": {"gt": 3}}, ["./b"]),
        ({"network": {"in": ["Other", "None"]}}, ["./c"]),
        ({"metric/acc": {"le": 1}}, ["./a"]),
        ({"user_defined/kind": {"eq": 2}}, ["./c"]),
        ({"user_defined/kind": {"gt": 1}}, ["./c"]),
        ({"user_defined/kind": {"eq": None}}, ["./a"]),
        ({"user_defined/kind": {"in": "xyz"}}, ["./b"]),
        ({"user_defined/kind": {"in": 5}}, []),
        ({"user_defined/kind": {"in": [2.0, True]}}, ["./c"]),
        ({"epoch": {"in": [1.5, "3", 3]}}, ["./a"]),
        ({"network": {}}, ["./a", "./b", "./c"]),
        ({}, ["./a", "./b", "./c"]),
    ],
)
def test_conditions_are_joined_by_and(condition: Any, expected: Any) -> None:
    assert matching_runs(condition) == expected


@pytest.mark.parametrize(
    "body",
    [
        [],
        {"nothing": {"eq": 1}},
        {"metric/": {"eq": 1}},
        {"user_defined/": {"eq": 1}},
        {"network": {"lt": "a"}},
        {"network": {"eq": 1}},
        {"epoch": {"eq": 1.5}},
        {"epoch": {"eq": True}},
        {"epoch": {"gt": -1}},
        {"loss": {"near": 1}},
        {"loss": {"in": 1}},
        {"loss": 1},
        {"limit": 0},
        {"limit": True},
        {"offset": 100_001},
        {"sorted_name": "colour"},
        {"sorted_type": "ascending"},
        {"sorted_name": "loss", "sorted_type": "up"},
        {"lineage_type": {"eq": "both"}},
        {"lineage_type": "model"},
        {"lineage_type": None},
        {"lineage_type": {"in": [["model"]]}},
        {"learning_rate": {"eq": None}},
        {"network": {"eq": None}},
        {"epoch": {"lt": None}},
        {"metric/acc": {"gt": None}},
        {"loss": None},
        {"limit": None},
        {"sorted_name": None},
        {"sorted_type": None},
        {f"metric/{number}": {"gt": 0} for number in range(1001)},
    ],
)
def test_every_fault_of_the_body_has_one_code(body: Any) -> None:
    with pytest.raises(V1Error) as error:
        parse_search(body)
    assert error.value.fault is Fault.LINEAGE_SEARCH
    assert error.value.fault.code == "50542218"


def test_pages_count_pages_and_limit_defaults_only_beside_offset() -> None:
    rows = [{"summary_dir": str(number)} for number in range(25)]
    assert [row["summary_dir"] for row in parse_search({"offset": 2}).page(rows)] == [
        "20",
        "21",
        "22",
        "23",
        "24",
    ]
    assert len(parse_search({"limit": 7}).page(rows)) == 7
    assert len(parse_search({}).page(rows)) == 25
    assert parse_search({"offset": 3, "limit": 10}).page(rows) == []


def test_missing_values_sort_lowest_and_types_do_not_mix() -> None:
    def order(name: Any, descending: Any) -> list[Any]:
        return [row["summary_dir"] for row in sort_rows(ROWS, name, descending)]

    assert order("learning_rate", False) == ["./b", "./c", "./a"]
    assert order("learning_rate", True) == ["./a", "./c", "./b"]
    assert order("user_defined/kind", False) == ["./a", "./c", "./b"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([True, 0.5, 3], [0.5, True, 3]),
        ([{"x": 1}, {"x": 0}], [{"x": 1}, {"x": 0}]),
        (["b", [1], "a"], [[1], "a", "b"]),
    ],
)
def test_values_sort_as_python_compares_them_else_by_their_types(values: Any, expected: Any) -> None:
    rows = [{"user_defined/x": value} for value in values]
    assert [row["user_defined/x"] for row in sort_rows(rows, "user_defined/x", False)] == expected


class HistogramColumns(str):
    """A text that counts how often it is compared with another that is equal to it or not."""

    __slots__ = ()
    comparisons = 0

    def __eq__(self, other: Any) -> Any:
        type(self).comparisons += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_a_long_list_is_not_gone_through_for_every_row() -> None:
    rows = [{"summary_dir": HistogramColumns(f"./run{number}")} for number in range(200)]
    names = [f"./other{number}" for number in range(5000)]
    search = parse_search({"summary_dir": {"in": [*names, "./run7"]}})
    assert search.matching(rows) == [rows[7]]
    assert HistogramColumns.comparisons < 5000


def test_halves() -> None:
    assert parse_search({"lineage_type": {"eq": "model"}}).halves == {"model"}
    assert parse_search({"lineage_type": {"in": ["dataset", "model"]}}).halves == {"model", "dataset"}
    assert parse_search({"lineage_type": {"eq": "model", "in": ["dataset"]}}).halves == {"dataset"}
    assert parse_search({"lineage_type": {}}).halves == {"model", "dataset"}
    assert parse_search({"lineage_type": {"in": []}}).halves == frozenset()
