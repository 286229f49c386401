"""Sequences laid side by side."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindinsight.server.graph.comparison import alignment as module
from mindinsight.server.graph.comparison.alignment import align

WORDS = st.lists(st.sampled_from("abcd"), max_size=12)


def laid(left: Any, right: Any, *keys: Any) -> list[Any]:
    """The words that were paired; ``keys`` are functions of words."""
    pairs = align(range(len(left)), range(len(right)), [keyed(left, right, key) for key in keys or [str]])
    return [(left[item], right[other]) for item, other in pairs]


def keyed(left: Any, right: Any, key: Any) -> tuple[Any, Any]:
    return (lambda item: key(left[item])), (lambda other: key(right[other]))


def test_equal_items_are_paired_around_one_that_was_put_in() -> None:
    assert laid("abcd", "abxcd") == [("a", "a"), ("b", "b"), ("c", "c"), ("d", "d")]
    assert laid("abxcd", "abcd") == [("a", "a"), ("b", "b"), ("c", "c"), ("d", "d")]


def test_what_is_left_between_equal_items_is_paired_in_order() -> None:
    assert laid("axb", "ayb") == [("a", "a"), ("x", "y"), ("b", "b")]
    assert laid("axyb", "azb") == [("a", "a"), ("x", "z"), ("b", "b")]


def test_a_second_key_decides_between_what_the_first_left() -> None:
    left, right = ["Conv one 3", "Conv two 5"], ["Conv two 7"]
    assert laid(left, right) == [("Conv one 3", "Conv two 7")]
    assert laid(left, right, str, lambda word: word.split()[1]) == [("Conv two 5", "Conv two 7")]


def test_one_and_one_are_a_pair_whatever_they_are() -> None:
    assert laid("a", "b") == [("a", "b")]
    assert laid("", "b") == laid("a", "") == []


def test_where_too_much_would_be_compared_ends_still_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LARGEST", 4)
    assert laid("abcdeyz", "abxcfdyz") == [
        ("a", "a"), ("b", "b"), ("c", "x"), ("d", "c"), ("e", "f"), ("y", "y"), ("z", "z")
    ]  # fmt: skip


@given(WORDS, WORDS)
def test_no_item_is_in_two_pairs_and_no_pairs_cross(left: Any, right: Any) -> None:
    pairs = align(range(len(left)), range(len(right)), [keyed(left, right, str)])
    assert pairs == sorted(pairs)
    for side in (0, 1):
        indices = [pair[side] for pair in pairs]
        assert indices == sorted(set(indices))
    assert len(pairs) <= min(len(left), len(right))


@given(WORDS)
def test_a_sequence_beside_itself(words: Any) -> None:
    assert align(range(len(words)), range(len(words)), [keyed(words, words, str)]) == [
        (index, index) for index in range(len(words))
    ]
