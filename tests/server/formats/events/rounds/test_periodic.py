"""The guess that record lengths repeat: the whole pattern is taken, and not a part that repeats by itself."""

from typing import Any

import pytest

from mindinsight.proto.framing import encode_record
from mindinsight.server.formats.events.rounds.periodic import repeats


@pytest.mark.parametrize(
    "sizes", [[9], [9, 5], [9, 5, 9, 5, 9], [3, 3, 3, 7], [5, 5, 9, 5, 5, 9, 9]], ids=str
)
@pytest.mark.parametrize("walked", [29, 32, 33, 34, 35, 36])
def test_everything_that_repeats_is_found_at_any_phase(sizes: Any, walked: int) -> None:
    records = [encode_record(b"x" * size) for size in sizes * 50]
    at = sum(map(len, records[:walked]))
    known = {record[:12]: len(record) for record in records}
    starts, end = repeats(b"".join(records), at, [record[:12] for record in records[:walked]], known)
    left = len(records) - walked
    assert len(starts) == left - left % len(sizes)
    assert end == at + sum(map(len, records[walked : walked + len(starts)]))


def test_a_pattern_that_began_just_now_is_found_too() -> None:
    records = [encode_record(b"x" * size) for size in [*range(20, 50), *[3, 4] * 20]]
    known = {record[:12]: len(record) for record in records}
    at = sum(map(len, records[:34]))
    starts, end = repeats(b"".join(records), at, [record[:12] for record in records[:34]], known)
    assert (len(starts), end) == (36, sum(map(len, records)))
