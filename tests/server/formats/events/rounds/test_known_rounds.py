"""Rounds that an earlier file had: the next file is read as if nothing were known, whatever is in it."""

import pytest

from mindinsight.server.formats.events import decode
from mindinsight.server.formats.events.record_shape import record_shape
from mindinsight.server.formats.events.rounds.known_rounds import find, learn
from mindinsight.server.formats.events.rounds.model import joined
from mindinsight.server.formats.tensorboard import TENSORBOARD
from tests.narrowing import require
from tests.server.formats.events.rounds.test_decoder import CASES, TAGS, Point, expected, points, read, record


def encoded(written: list[Point]) -> list[bytes]:
    return [record(*point) for point in written]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("left_out", [0, 3])
def test_a_second_file_is_read_like_the_first(name: str, left_out: int) -> None:
    decode(b"".join(encoded(CASES[name])), 0, True, TENSORBOARD)
    written = CASES[name][left_out:]
    stretch = decode(b"".join(encoded(written)), 0, True, TENSORBOARD)
    assert read(stretch) == expected(written)
    assert (stretch.damage, stretch.records) == ((), len(written))


def test_damage_in_rounds_that_are_known_is_found() -> None:
    written = [*points(TAGS, range(1, 400))]
    records = encoded(written)
    whole = b"".join(records)
    decode(whole, 0, True, TENSORBOARD)
    at = sum(map(len, records[:1000]))
    for offset, reason in ((len(records[1000]) - 6, "damage.body_crc"), (9, "damage.length_crc")):
        broken = bytearray(whole)
        broken[at + offset] ^= 0x10
        stretch = decode(bytes(broken), 0, True, TENSORBOARD)
        assert read(stretch) == expected(written[:1000] + written[1001:])
        assert [(region.offset, region.size, region.reason) for region in stretch.damage] == [
            (at, len(records[1000]), reason)
        ]


def test_rounds_are_found_by_their_first_record_and_where_a_step_begins() -> None:
    records = encoded([*points(["known/a", "known/b"], range(1, 101))])
    data = b"".join(records)
    shapes = [require(record_shape(record[12:-4], TENSORBOARD)) for record in records[:2]]
    assert find(data, 0, 0, TENSORBOARD) is None
    model = joined(tuple(shapes))
    learn(data, 0, model, TENSORBOARD)
    result = require(find(data, 0, 7, TENSORBOARD))
    assert (result.row, result.repeats, result.model) == (7, 100, model)
    assert result.model.starts(0, 100).tolist() == [sum(map(len, records[:row])) for row in range(200)]
    assert find(data, len(records[0]), 1, TENSORBOARD) is None  # in the midst of a step
    few = len(data) - sum(map(len, records[-40:]))
    assert find(data, few, 160, TENSORBOARD) is None
