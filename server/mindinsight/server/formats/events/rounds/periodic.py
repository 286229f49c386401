"""Periodic scanner: guesses that record lengths repeat, and checks all that follow in one comparison."""

from __future__ import annotations

from typing import Final

import numpy as np

from mindinsight.server.types import Ints

LONGEST_PERIOD: Final = 64  # records
_EVIDENCE: Final = 24  # records
_FIRST_ROUNDS: Final = 64
_GROWTH: Final = 8
_CACHED: Final = 1 << 18  # bytes looked through at a time, to stay in the processor's cache


def repeats(data: bytes, at: int, headers: list[bytes], sizes: dict[bytes, int]) -> tuple[Ints, int]:
    """Starts of the whole records from ``at`` that go on with the end of ``headers``.

    ``sizes`` gives the framed size of a record by its 12 header bytes. Returns the offset after them, too;
    there are none when ``headers`` end in no pattern, or it does not go on.
    """
    pattern = headers[len(headers) - _period(headers) :]
    steps = np.cumsum([0] + [sizes[header] for header in pattern])
    rounds = _rounds(data, at, pattern, steps) if pattern else 0
    starts = at + int(steps[-1]) * np.arange(rounds)[:, None] + steps[:-1]
    return starts.ravel(), at + rounds * int(steps[-1])


def _rounds(data: bytes, at: int, pattern: list[bytes], steps: Ints) -> int:
    """How many times the pattern goes on; more are tried each time that all of some did."""
    stride, rounds, batch = int(steps[-1]), 0, _FIRST_ROUNDS
    while True:
        possible = min(batch, (len(data) - at) // stride - rounds)
        agreeing = _agreeing(data, at + rounds * stride, pattern, steps, possible)
        rounds += agreeing
        if agreeing < batch:
            return rounds
        batch = min(batch * _GROWTH, max(_CACHED // stride, _FIRST_ROUNDS))


def _period(headers: list[bytes]) -> int:
    """Length of the pattern that ``headers`` end in, or 0.

    That is the shortest one that goes back over the last ``_EVIDENCE`` headers, else the shortest that ends
    them twice: records of five tags, long and short in turns, end in pairs that are no pattern.
    """
    shortest = 0
    for period in range(1, min(LONGEST_PERIOD, len(headers) // 2) + 1):
        if headers[-period:] == headers[-2 * period : -period]:
            shortest = shortest or period
            span = max(period, min(_EVIDENCE, len(headers) - period))
            if headers[-span:] == headers[-span - period : -period]:
                return period
    return shortest


def _agreeing(data: bytes, at: int, pattern: list[bytes], steps: Ints, rounds: int) -> int:
    """How many of ``rounds`` repetitions of the pattern from ``at`` have exactly its headers."""
    stride = int(steps[-1])
    for header, step in zip(pattern, steps[:-1].tolist(), strict=True):
        for offset, dtype in ((0, "<u8"), (8, "<u4")):
            if not rounds:
                return 0
            words = np.ndarray((rounds,), np.dtype(dtype), data, at + step + offset, (stride,))
            wrong = words != np.frombuffer(header, dtype, 1, offset)
            if wrong.any():
                rounds = int(wrong.argmax())
    return rounds
