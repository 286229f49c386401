"""When memory is given back to the system: once, after many connections have gone."""

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


def test_the_c_library_takes_the_call() -> None:
    trim()
