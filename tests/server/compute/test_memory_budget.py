"""Memory is refused before it is gone, over all calls together."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from mindinsight.server.compute.memory_budget import (
    COPIES,
    RESERVE,
    SHARE,
    MemoryBudget,
    MemoryShort,
    release_freed_memory,
)


def test_calls_share_what_there_is_and_give_it_back() -> None:
    budget = MemoryBudget(RESERVE + 3 * SHARE)
    shares = [budget.share() for _ in range(3)]
    with pytest.raises(MemoryShort):
        budget.share()
    shares.pop().release()
    again = budget.share()
    with pytest.raises(MemoryShort):
        again.claim(SHARE)
    for share in shares:
        share.release()
    again.claim(SHARE)
    again.claim(1)  # less than it has
    assert budget.free() == 3 * SHARE - COPIES * SHARE
    again.release()
    assert budget.free() == 3 * SHARE


def test_the_limit_of_the_process_counts() -> None:
    code = "from mindinsight.server.compute.memory_budget import MemoryBudget; print(MemoryBudget().free())"
    room = subprocess.check_output(
        [sys.executable, "-c", code],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)),
    )
    assert 0 < int(room) < 1 << 30


def test_memory_between_small_allocations_goes_back() -> None:
    blocks = [bytes(4000 + number % 8) for number in range(20_000)]  # 80 MB
    last = bytes(4000)  # the end of the heap stays in use
    full = _resident()
    blocks[:] = blocks[-1:]
    release_freed_memory()
    assert _resident() < full - (40 << 20)
    assert len(last) == 4000


def _resident() -> int:
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
