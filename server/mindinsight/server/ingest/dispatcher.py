"""Reading what is left to read: a little in this thread, much in worker processes."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from typing import Final, NamedTuple, TypeAlias

from mindinsight.server.ingest.catalogue import Catalogue
from mindinsight.server.ingest.piece_reader import Answer, Request, read_piece, read_pieces
from mindinsight.server.ingest.read_queue import PIECE, Item, ReadQueue, request_of

_INLINE: Final = 256 << 20  # bytes, less than a second of reading: starting workers takes as long
_AHEAD: Final = 2  # batches for each worker, so that none waits for us
PATIENCE: Final = 120.0  # seconds a worker may take for a batch: far more than it needs on a disk that works

Batch: TypeAlias = list[tuple[Item, Request]]


class _Given(NamedTuple):
    """What was handed to a worker, and when it should be back (monotonic)."""

    batch: Batch
    due: float


class Dispatcher:
    """Takes files from the backlog, has them read, and gives what was found to the catalogue."""

    def __init__(
        self,
        executor: Executor | None,
        workers: int,
        backlog: ReadQueue,
        catalogue: Catalogue,
        bell: Callable[[], None],
    ) -> None:
        """``bell`` is rung, from another thread, when a batch has been read."""
        self._executor = executor
        self._workers = max(1, workers)
        self._backlog = backlog
        self._catalogue = catalogue
        self._bell = bell
        self._running: dict[Future[list[Answer]], _Given] = {}
        self._done: deque[Future[list[Answer]]] = deque()

    @property
    def working(self) -> bool:
        """Whether anything is being read or waits to be."""
        return bool(self._running or self._backlog)

    def collect(self) -> None:
        """Give what workers have read to the catalogue, and give up those that hang."""
        now = time.monotonic()
        for future in [one for one, given in self._running.items() if given.due < now]:
            future.cancel()  # is done then, and ends the worker that is at it
        while self._done:
            future = self._done.popleft()
            batch = self._running.pop(future).batch
            try:
                answers = future.result()
            except (BrokenExecutor, CancelledError):
                self._crashed(batch, hung=future.cancelled())
                continue
            for ((stage, file), request), answer in zip(batch, answers, strict=True):
                self._catalogue.take(stage, file, request, answer)

    def dispatch(self) -> None:
        """Begin to read what comes next."""
        if self._executor is None or self._little:
            self._read_here()
            return
        while self._backlog and len(self._running) < self._workers * _AHEAD:
            batch = self._next_batch(PIECE)
            try:
                future = self._executor.submit(read_pieces, [request for _, request in batch])
            except RuntimeError:  # broken, or shut down while the server ends
                self._crashed(batch)
                return
            turns = 1 + len(self._running) // self._workers
            self._running[future] = _Given(batch, time.monotonic() + turns * PATIENCE)
            future.add_done_callback(self._finished)

    @property
    def _little(self) -> bool:
        """Whether what is left is read here sooner than elsewhere, and without danger."""
        return not (self._running or self._backlog.suspicious) and self._backlog.size <= _INLINE

    def _read_here(self) -> None:
        for (stage, file), request in self._next_batch(PIECE):
            self._catalogue.take(stage, file, request, read_piece(request))
        if self._backlog:
            self._bell()

    def _next_batch(self, budget: int) -> Batch:
        batch: Batch = []
        for stage, file in self._backlog.take(budget):
            file.busy, file.checked = True, file.stamp
            batch.append(((stage, file), request_of(file, budget)))
        return batch

    def _crashed(self, batch: Batch, hung: bool = False) -> None:
        for (stage, file), _ in batch:
            self._catalogue.crashed(stage, file, hung)

    def _finished(self, future: Future[list[Answer]]) -> None:
        self._done.append(future)
        self._bell()
