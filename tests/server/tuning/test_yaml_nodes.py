"""YAML as people mean it, and errors that say where and what."""

import math
import tracemalloc
from typing import Any

import pytest

from mindinsight.server.tuning.yaml_nodes import ConfigError, Node, read_yaml


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1e-5", 1e-5),
        ("-3", -3),
        ("on", "on"),
        ("True", True),
        ("'true'", "true"),
        ("'1'", "1"),
        ("null", None),
        ("~", None),
        ("1.2.3", "1.2.3"),
    ],
)
def test_scalars_are_what_they_look_like(text: str, expected: Any) -> None:
    node, _ = read_yaml(f"key: {text}")
    data = node.mapping()["key"].data
    assert (data, type(data)) == (expected, type(expected))


def test_every_node_knows_its_line_and_key() -> None:
    node, warnings = read_yaml("a:\n  b:\n    - 1\n    - c: 2\na2: 3\na2: 4\n")
    inner = node.mapping()["a"].mapping()["b"].items()[1].mapping()["c"]
    assert (inner.line, inner.key, inner.data) == (4, "a.b[1].c", 2)
    assert node.mapping()["a2"].data == 4
    assert warnings == ("line 6: a2 is already set in line 5. The last value counts.",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty"),
        ("a: [1", "line 1: this is not YAML"),
        ("a: " + "[" * 30 + "]" * 30, "more than 20 levels"),
    ],
)
def test_what_is_no_file_of_values_is_an_error(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        read_yaml(text)


@pytest.mark.parametrize(
    ("method", "data", "words"),
    [
        ("mapping", "name:loss", "YAML needs a space after the colon"),
        ("items", "text", "must be a list, such as"),
        ("text", 1, "must be a text, got 1"),
        ("number", math.inf, "must be a number, got inf"),
        ("number", True, "must be a number, got True"),
        ("truth", "yes", "must be true or false, got 'yes'"),
        ("scalar", None, "must be a number or a text, got nothing"),
        ("scalar", [], "got a list"),
    ],
)
def test_a_value_of_another_kind_is_named_with_its_place(method: str, data: Any, words: str) -> None:
    with pytest.raises(ConfigError) as raised:
        getattr(Node(data, 3, "a.b"), method)()
    assert str(raised.value).startswith("line 3: a.b: ")
    assert words in str(raised.value)


def test_what_is_not_allowed_is_told_what_is() -> None:
    node = Node({"x": Node(1, 2, "x")}, 1, "")
    with pytest.raises(ConfigError, match=r"line 2: x: is not known; allowed are y, z\."):
        node.mapping("y", "z")
    with pytest.raises(ConfigError, match="must be one of a, b, got 'c'"):
        Node("c", 1, "key").text("a", "b")
    for data in (0, 11, True, 1.0):
        with pytest.raises(ConfigError, match="a whole number from 1 to 10"):
            Node(data, 1, "key").whole(1, 10)
    assert Node(10, 1, "key").whole(1, 10) == 10


def test_aliases_of_aliases_are_counted_before_they_take_memory() -> None:
    """700 bytes that stand for a thousand million values."""
    lists = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lists += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
    tracemalloc.start()
    with pytest.raises(ConfigError, match="more than 20,000 values"):
        read_yaml("\n".join(lists))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 << 20


@pytest.mark.parametrize("text", ["[" * 20_000, "a: " + "{b: " * 20_000, "- " * 20_000])
def test_levels_without_end_are_a_sentence(text: str) -> None:
    with pytest.raises(ConfigError, match="more than 20 levels"):
        read_yaml(text)


def test_an_alias_of_what_it_lies_in_is_a_sentence() -> None:
    with pytest.raises(ConfigError, match="more than 20 levels"):
        read_yaml("&a [*a]")


def test_a_long_file_is_a_sentence() -> None:
    with pytest.raises(ConfigError, match="at most 1,048,576 are read"):
        read_yaml("a: " + "x" * (1 << 20))


def test_a_key_that_is_a_list_is_a_sentence() -> None:
    with pytest.raises(ConfigError, match="a key must be a text"):
        read_yaml("? [a, b]\n: c")
