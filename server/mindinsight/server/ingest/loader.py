"""Loader: one thread that discovers, reads, stages and publishes, with workers for large files."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from mindinsight.server.compute.background_jobs import start_within_limit
from mindinsight.server.compute.memory_budget import release_freed_memory
from mindinsight.server.ingest.catalogue import PIECE, BaseStatus, Catalogue, Item, ReadQueue, request_of
from mindinsight.server.ingest.cold_columns import ColdColumns
from mindinsight.server.ingest.index_cache import IndexCache
from mindinsight.server.ingest.piece_reader import PieceRequest, PieceResult, read_piece, read_pieces
from mindinsight.server.ingest.scanner import Scanner
from mindinsight.server.settings import Settings
from mindinsight.server.settings.base_dirs import home, joined, stores
from mindinsight.server.store.store import Store

if TYPE_CHECKING:
    from mindinsight.server.ingest.mirrors import Mirrors


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


_PUBLISH: Final = 0.1  # seconds between two publications while much is read
_PAUSE: Final = 5  # times as long as a publication took, at least: a wide run has many series
_SHARE: Final = 2  # after following for a while, so many times as long is left to others
_SAVE: Final = 5.0  # seconds between two thoughts of writing the cache
_RELEASE: Final = 1.0  # seconds between two releases of pages that were looked at
_MUCH: Final = 16 << 20  # bytes that were held in other places before, so that memory there is free
_STOP: Final = 0.5  # seconds that the end of a server waits for the loader
_REST: Final = 1.0  # seconds the loop sleeps at most

_log = logging.getLogger(__name__)


class Loader:
    """Keeps a store up to date with the base directories."""

    def __init__(self, settings: Settings, store: Store, executor: Executor | None = None) -> None:
        """Without an executor everything is read in the loader's own thread."""
        self._once = settings.reload_interval == 0
        self._wake = threading.Event()
        self._stopping = False
        self._thread: threading.Thread | None = None
        self._queue = ReadQueue()
        bases = settings.summary_base_dir
        self._cold = ColdColumns(settings.workspace / "cache") if settings.cache else None
        self._cache = IndexCache(settings.workspace, home(bases), self._cold) if settings.cache else None
        status = BaseStatus(joined(bases), "polling")
        self._catalogue = Catalogue(store, self._queue, status, self._cache, self._cold)
        self._mirrors = _mirrors_of(settings)
        self._scanner = Scanner(settings, self._catalogue, self._wake.set)
        self._dispatcher = Dispatcher(
            executor, settings.workers, self._queue, self._catalogue, self._wake.set
        )
        self._store = store
        self._publish_at = 0.0  # monotonic time
        self._scan_noted_at = 0.0
        self._save_at = time.monotonic() + _SAVE
        self._release_at = 0.0
        self._released = 0  # bytes that had been moved to cold columns when memory was last released
        self._begun = False

    def start(self) -> None:
        """Begin to load, and to follow what changes."""
        self._thread = threading.Thread(target=self._run, name="loader", daemon=True)
        start_within_limit(self._thread)

    def stop(self) -> None:
        """End loading; what readers have seen stays in the store."""
        self._stopping = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join(_STOP)
            self._thread = None

    def want(self, run_ids: Iterable[str]) -> None:
        """Read these runs before the others: somebody looks at them.

        The loader need not be woken for that: as long as anything is left to read it is at work.
        """
        self._queue.want(run_ids)

    def load(self) -> None:
        """Look once and read everything there is, in the calling thread."""
        if self._mirrors:
            self._mirrors.sync()
            self._catalogue.note_stores(self._mirrors.troubles())
        self._scan_first()
        while self._work() and not self._stopping:
            self._wake.wait(_REST)
            self._wake.clear()

    def _run(self) -> None:
        try:
            if self._once:
                self.load()
            else:
                while not self._stopping:
                    self._run_round()
        finally:
            if self._mirrors:
                self._mirrors.stop()
            self._scanner.stop()
            if self._cache:
                self._cache.save(self._catalogue.stages, everything=True)

    def _scan_first(self) -> None:
        """The first look, with what an earlier server knew; readers see the list of runs at once."""
        if self._cache:
            self._cache.open()
        self._scanner.scan()
        if self._cache:
            self._cache.release(self._catalogue.stages)
        self._publish()

    def _run_round(self) -> None:
        try:
            working = self._follow()
        except Exception:  # whatever it is, the next round finds the rest
            _log.exception("a round of the loader failed")
            working = False
            time.sleep(_REST)
        rest = min(self._scanner.rest(), _PUBLISH if working else _REST)
        if rest > 0 and not self._stopping:
            self._wake.wait(rest)
        self._wake.clear()

    def _follow(self) -> bool:
        """Look, read and publish; whether there is more to do."""
        if not self._begun:
            if self._mirrors:
                self._mirrors.start()
            self._scan_first()
            self._scanner.follow()
            self._begun = True
        began = time.thread_time()
        looked = self._scanner.look()
        if self._mirrors:
            self._catalogue.note_stores(self._mirrors.troubles())
        working = self._work()
        if looked:
            self._scanner.pause(min(_SHARE * (time.thread_time() - began), _REST))
        if self._cache and not working and time.monotonic() >= self._save_at:
            self._save_at = time.monotonic() + _SAVE
            self._cache.save(self._catalogue.stages)
        self._release(working)
        return working

    def _release(self, working: bool) -> None:
        """Give up pages of cold columns now and then, and what reading freed once everything was read."""
        if self._cold is None:
            return
        moved = self._cold.moved - self._released  # bytes
        idle = not working and moved > 0
        if idle or time.monotonic() >= self._release_at:
            self._cold.release()
            self._release_at = time.monotonic() + _RELEASE
        if idle:
            self._released = self._cold.moved
            if moved >= _MUCH:
                release_freed_memory()

    def _work(self) -> bool:
        """One round of reading and publishing; whether there is more to do."""
        now = time.monotonic()
        self._dispatcher.collect()
        self._catalogue.retry(now)
        self._dispatcher.dispatch()
        if now >= self._publish_at or not self._dispatcher.working:
            self._publish()
        return self._dispatcher.working

    def _publish(self) -> None:
        now = time.monotonic()
        if self._catalogue.changed:
            self._catalogue.publish()
            took = time.monotonic() - now
            self._publish_at = now + took + max(_PUBLISH - took, _PAUSE * took)
        elif now >= self._scan_noted_at:
            self._store.scanned(time.time())
        else:
            return
        self._scan_noted_at = now + _REST


def _mirrors_of(settings: Settings) -> Mirrors | None:
    """Mirrors of the stores among the base directories; their code is loaded where there are any."""
    if not stores(settings.summary_base_dir):
        return None
    from mindinsight.server.ingest.mirrors import Mirrors

    return Mirrors(settings)
