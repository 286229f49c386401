from typing import Any

import pytest

from mindinsight.server.graph.scopes.folding import folded_tree
from mindinsight.server.graph.search import (
    BadPattern,
    count_types,
    matcher,
    nest,
    parse_query,
    query_nodes,
    query_outer,
)


@pytest.fixture
def tree(graph: Any, blocks: Any) -> Any:
    nodes = [*blocks(3), ("Default/net/Add-op0", ["Default/net/Out-op0", "fc.weight", "cst1"])]
    return folded_tree(graph(nodes, parameters=["fc.weight", "fc.bias"], constants={"cst1": 7}))


def matches(tree: Any, text: str = "", types: Any = (), regex: bool = False) -> list[Any]:
    return [tree.paths[index] for index in query_nodes(tree, parse_query(text, regex), types)]


def test_part_of_a_name_in_any_case_beginnings_first(tree: Any) -> None:
    assert matches(tree, "relu") == [f"Default/net/{n}-Block/act/ReLU-op{n}" for n in range(3)]
    assert matches(tree, "o")[0].endswith("/Out-op0")


def test_a_slash_searches_paths(tree: Any) -> None:
    assert matches(tree, "1-block/act/") == ["Default/net/1-Block/act/ReLU-op1"]
    assert matches(tree, "1-block/act")[0] == "Default/net/1-Block/act"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("2 matmul", ["2-Block/MatMul-op2"]),  # a word of the name, and one of a scope around it
        ("block 1 relu", ["1-Block/act/ReLU-op1"]),
        ("net.1", ["1-Block"]),  # a module, as PyTorch and MindSpore call it, without what is in it
        ("1.act", ["1-Block/act"]),
        ("1.act relu", ["1-Block/act/ReLU-op1"]),
        ("net.1.a", ["1-Block/act"]),  # while it is typed
        ("1 add", []),
        ("et.1", []),
        ("net..1", []),
        ("net/1 relu", ["1-Block/act/ReLU-op1"]),  # a path, with or without the classes
        ("net/1-block relu", ["1-Block/act/ReLU-op1"]),
    ],
)
def test_words_of_scopes_and_names_of_modules(query: str, expected: list[str], tree: Any) -> None:
    assert matches(tree, query) == [f"Default/net/{path}" for path in expected]


def test_a_number_is_not_part_of_another(graph: Any) -> None:
    names = ["net/7/Add-op17", "net/17/Add-op7", "net/71/Add-op8"]
    tree = folded_tree(graph([(name, []) for name in names]))
    assert matches(tree, "71 add") == ["net/71/Add-op8"]


def test_a_number_that_counts_operators_is_no_name_of_a_layer(graph: Any) -> None:
    tree = folded_tree(graph([(name, []) for name in ("net/7/Add-op17", "net/17/Add-op7")]))
    assert matches(tree, "7 add") == ["net/7/Add-op17"]
    assert matches(tree, "op7 add") == ["net/17/Add-op7"]
    assert "net/17/Add-op7" in matches(tree, "7")


def test_patterns_match_the_name_from_its_beginning(tree: Any) -> None:
    assert matches(tree, r"^(MatMul|ReLU)-op[02]$", regex=True) == [
        "Default/net/0-Block/MatMul-op0",
        "Default/net/0-Block/act/ReLU-op0",
        "Default/net/2-Block/MatMul-op2",
        "Default/net/2-Block/act/ReLU-op2",
    ]


def test_types(tree: Any) -> None:
    assert sorted(matches(tree, types=["ReLU", "Add"])) == [
        *(f"Default/net/{n}-Block/act/ReLU-op{n}" for n in range(3)),
        "Default/net/Add-op0",
    ]
    assert count_types(tree) == {"MatMul": 3, "ReLU": 3, "Add": 1, "In": 1, "Out": 1}


def test_parameters_and_constants_by_name(tree: Any) -> None:
    nodes = query_outer(tree, parse_query("FC.", regex=True))
    assert [tree.graph.names[node] for node in nodes] == ["fc.weight", "fc.bias"]


def test_what_is_found_stands_in_its_scopes(tree: Any) -> None:
    shape: list[Any] = nest(
        tree,
        query_nodes(tree, parse_query("relu")),
        lambda index, inside: {tree.paths[index].split("/")[-1]: inside},
    )
    blocks: list[Any] = [{f"{n}-Block": [{"act": [{f"ReLU-op{n}": []}]}]} for n in range(3)]
    assert shape == [{"Default": [{"net": blocks}]}]


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*$", "(a|aa)+$", "(.*)*x", "a*a*a*a*a*a*b"])
def test_nested_repetitions_are_linear(pattern: str) -> None:
    assert matcher(pattern, regex=True)("a" * 100_000 + "!") in (-1, 100_001)


def test_where_a_pattern_is_found() -> None:
    assert matcher("Mul.*2$", regex=True)("net/matmul-op2") == 7
    assert matcher("b.", regex=True)("\udc80ÄB\U0001f600") == 2
    assert matcher("a.c", regex=False)("abc xA.C") == 5
    assert matcher("x", regex=True)("abc") == -1


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("ab**", "bad repetition operator: ** at character 3"),
        ("x[z-a]", "invalid character class range: z-a at character 3"),
        ("(", "missing ): ("),
        ("a(?=b)", "lookaround is not supported: (?= at character 2"),
        (r"(a)\1", r"invalid escape sequence: \1 at character 4"),
        ("((a{100}){100}){100}", "invalid repetition size: {100} at character 4"),
        ("\\", "trailing \\"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(pattern: str, why: str) -> None:
    with pytest.raises(BadPattern) as error:
        matcher(pattern, regex=True)
    assert str(error.value) == why
