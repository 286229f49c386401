"""Dispatcher of reads: few bytes are read in this thread, many in worker processes."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from typing import Final, NamedTuple, TypeAlias

from mindinsight.server.ingest.catalogue import Catalogue
from mindinsight.server.ingest.piece_reader import PieceRequest, PieceResult, read_piece, read_pieces
from mindinsight.server.ingest.read_queue import PIECE, Item, ReadQueue, request_of

INLINE: Final = 512 << 20  # bytes, about a second of reading: starting workers takes as long
_AHEAD: Final = 2  # batches for each worker, so that none waits for us
PATIENCE: Final = 120.0  # seconds a worker may take for a batch: far more than it needs on a disk that works

Batch: TypeAlias = list[tuple[Item, PieceRequest]]


class _Submission(NamedTuple):
    """What was handed to a worker, and when it should be back (monotonic)."""

    batch: Batch
    due: float


class Dispatcher:
    """Takes files from the backlog, has them read, and gives what was found to the catalogue."""

    def __init__(
        self,
        executor: Executor | None,
        workers: int,
        queue: ReadQueue,
        catalogue: Catalogue,
        wake: Callable[[], None],
    ) -> None:
        """``wake`` is called, from another thread, when a batch has been read."""
        self._executor = executor
        self._workers = max(1, workers)
        self._queue = queue
        self._catalogue = catalogue
        self._wake = wake
        self._running: dict[Future[list[PieceResult]], _Submission] = {}
        self._done: deque[Future[list[PieceResult]]] = deque()

    @property
    def working(self) -> bool:
        """Whether anything is being read or waits to be."""
        return bool(self._running or self._queue)

    def collect(self) -> None:
        """Give what workers have read to the catalogue, and give up those that hang."""
        now = time.monotonic()
        for future in [future for future, submission in self._running.items() if submission.due < now]:
            future.cancel()  # is done then, and ends the worker that is at it
        while self._done:
            future = self._done.popleft()
            batch = self._running.pop(future).batch
            try:
                answers = future.result()
            except (BrokenExecutor, CancelledError):
                self._record_crash(batch, hung=future.cancelled())
                continue
            for ((stage, file), request), answer in zip(batch, answers, strict=True):
                self._catalogue.take(stage, file, request, answer)

    def dispatch(self) -> None:
        """Begin to read what comes next."""
        if self._executor is None or self._is_little:
            self._read_here()
            return
        while self._queue and len(self._running) < self._workers * _AHEAD:
            batch = self._next_batch(PIECE)
            try:
                future = self._executor.submit(read_pieces, [request for _, request in batch])
            except RuntimeError:  # broken, or shut down while the server ends
                self._record_crash(batch)
                return
            turns = 1 + len(self._running) // self._workers
            self._running[future] = _Submission(batch, time.monotonic() + turns * PATIENCE)
            future.add_done_callback(self._finished)

    @property
    def _is_little(self) -> bool:
        """Whether what is left is read here sooner than elsewhere, and without danger."""
        return not (self._running or self._queue.suspicious) and self._queue.size <= INLINE

    def _read_here(self) -> None:
        for (stage, file), request in self._next_batch(PIECE):
            self._catalogue.take(stage, file, request, read_piece(request))
        if self._queue:
            self._wake()

    def _next_batch(self, budget: int) -> Batch:
        batch: Batch = []
        for stage, file in self._queue.take(budget):
            file.busy, file.checked = True, file.stamp
            batch.append(((stage, file), request_of(file, budget)))
        return batch

    def _record_crash(self, batch: Batch, hung: bool = False) -> None:
        for (stage, file), _ in batch:
            self._catalogue.record_crash(stage, file, hung)

    def _finished(self, future: Future[list[PieceResult]]) -> None:
        self._done.append(future)
        self._wake()
