"""Lazy parallel map over an executor, with results in the order of the input."""

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from typing import Final, TypeVar

from mindinsight.server.cancellation import checked, result_of
from mindinsight.server.formats.dumps.dump_types import TensorEntry

Work = TypeVar("Work")
Result = TypeVar("Result")

BATCH: Final = 64  # tensors sent to a worker at once, which share the cost of a message
HEAVY: Final = 32 << 20  # bytes at which a batch is full, so that results of large tensors come soon
AHEAD: Final = 16  # calls under way, unless the executor names more: lost when a reader stops early
HERE: Final = 0.5  # seconds of work that are done in this process: starting others takes about as long


def batched(
    items: Iterable[Work], size: int = BATCH, weight: Callable[[Work], int] = lambda item: 0
) -> Iterator[list[Work]]:
    """Split items into lists of up to `size`. A list ends early once its items weigh `HEAVY` in all."""
    batch: list[Work] = []
    heavy = 0
    for item in items:
        batch.append(item)
        heavy += weight(item)
        if len(batch) == size or heavy >= HEAVY:
            yield batch
            batch, heavy = [], 0
    if batch:
        yield batch


def file_size(entry: TensorEntry | None) -> int:
    """Return the size in bytes of the file that holds a tensor, 0 without a file or if it is unreadable."""
    try:
        return 0 if entry is None or entry.ref is None else os.lstat(entry.ref.path).st_size
    except (OSError, ValueError):
        return 0


def spread(
    function: Callable[[Work], Result],
    work: Iterable[Work],
    executor: Executor | None,
    easy: Callable[[Work], bool] = lambda item: False,
) -> Iterator[Result]:
    """Yield the results of a function in the order of the work, called in `executor`, or in this process
    without an executor or for `easy` work. Raises the errors of the calls, and Cancelled if the task of this
    thread is cancelled.

    Work is never submitted far ahead of the reader. In the first half second calls run in this process,
    unless the executor is `isolated`: small jobs need no worker, and large ones show their first results
    while workers start. Items that are `easy` run in this process as long as no call is pending. Closing the
    iterator cancels the pending calls.
    """
    waiting: deque[Future[Result]] = deque()
    until = time.monotonic() + (0 if getattr(executor, "isolated", False) else HERE)
    try:
        for item in checked(work):
            if executor is None or (not waiting and (time.monotonic() < until or easy(item))):
                yield function(item)
                continue
            waiting.append(executor.submit(function, item))
            if len(waiting) >= max(AHEAD, getattr(executor, "ahead", 0)):
                yield result_of(waiting.popleft())
        while waiting:
            yield result_of(waiting.popleft())
    finally:
        for future in waiting:
            future.cancel()
