"""Freed memory goes back to the system."""

from pathlib import Path

from mindinsight.server.compute.freed_memory import release_freed_memory


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
