"""Each distinct tag has one number, whatever its length and however many share a slot of the table."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mindinsight.server.formats.events.tags import TagNumbers, Tags

TAGS = st.lists(st.text("ab/é", max_size=20), min_size=1, max_size=40)


def numbers_of(table: TagNumbers, texts: list[str]) -> list[int]:
    encoded = [text.encode() for text in texts]
    sizes = np.array([len(octets) for octets in encoded], np.int64)
    offsets = np.cumsum(sizes) - sizes
    return list(table.of(b"".join(encoded) + bytes(8), Tags(offsets, sizes)))


@settings(max_examples=30)
@given(st.lists(TAGS, min_size=1, max_size=4))
def test_equal_tags_have_equal_numbers_over_all_batches(batches: list[list[str]]) -> None:
    table = TagNumbers(sum(map(len, batches)))
    for batch in batches:
        assert [table.names[number] for number in numbers_of(table, batch)] == batch
    assert sorted(table.names) == sorted({text for batch in batches for text in batch})


def test_more_tags_than_slots_are_told_apart() -> None:
    texts = [f"layer_{number}/weight" for number in range(1000)]
    table = TagNumbers(1)
    assert [table.names[number] for number in numbers_of(table, texts * 2)] == texts * 2
    assert len(table.names) == 1000


def test_tags_that_differ_in_their_last_byte_or_their_length_differ() -> None:
    texts = ["a" * 16, "a" * 15 + "b", "a" * 17, "a" * 8, "a" * 7, ""]
    table = TagNumbers(len(texts))
    assert numbers_of(table, texts) == numbers_of(table, texts)
    assert len(set(numbers_of(table, texts))) == len(texts)
