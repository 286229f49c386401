"""When memory is given back to the system: once, after many connections have gone."""

import weakref
from typing import Any

import pytest

from mindinsight.server.process.memory_release import FEWEST, MemoryRelease, trim


@pytest.mark.parametrize(
    ("connections", "releases"),
    [
        ([0, 1, 2, 0, 0], 0),
        ([FEWEST - 1, 0, 0], 0),
        ([FEWEST, 0, 0, 0], 1),
        ([FEWEST, FEWEST // 2, FEWEST // 2], 0),
        ([300, 70, 70, 70], 1),
        ([300, 3, 3, 300, 3, 3], 2),
    ],
)
def test_memory_is_released_once_after_a_crowd(connections: Any, releases: int) -> None:
    counts = []
    release = MemoryRelease(lambda: counts.append(1))
    for number in connections:
        release.observe(number)
    assert len(counts) == releases


class Cyclic:
    def __init__(self) -> None:
        self.itself = self


def test_trim_collects_objects_that_refer_to_themselves() -> None:
    left = weakref.ref(Cyclic())
    trim()
    assert left() is None
