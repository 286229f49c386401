"""Waiting for what another thread, process or task does."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# s: a busy machine may take long, and nothing is measured here. Less than pytest's timeout in pyproject.toml.
PATIENCE = 120.0


def until(
    condition: Callable[[], T], seconds: float = PATIENCE, show: Callable[[], object] | None = None
) -> T:
    """Return the first true value of `condition`. Fail after `seconds`, with what `show` returns."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, show() if show else value
        time.sleep(0.02)
    return value


async def until_async(condition: Callable[[], T], seconds: float = PATIENCE) -> T:
    """Return the first true value of `condition`, while other tasks of the event loop run."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end
        await asyncio.sleep(0.01)
    return value
