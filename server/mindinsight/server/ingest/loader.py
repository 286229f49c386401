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
from mindinsight.server.ingest.index_cache import GROWTH, IndexCache, cache_folder
from mindinsight.server.ingest.piece_reader import (
    SectionRequest,
    SectionResult,
    read_file_section,
    read_file_sections,
)
from mindinsight.server.ingest.scanner import Scanner
from mindinsight.server.settings import Settings
from mindinsight.server.settings.base_dirs import home, joined, stores
from mindinsight.server.store.store import Store

if TYPE_CHECKING:
    from mindinsight.server.ingest.mirrors import Mirrors


# Bytes read without workers; that takes about a second, which starting workers takes too.
INLINE: Final = 512 << 20
_AHEAD: Final = 2  # batches submitted for each worker, so that no worker waits for the loader
PATIENCE: Final = 120.0  # seconds a worker may take for a batch: far more than a working disk needs

Batch: TypeAlias = list[tuple[Item, SectionRequest]]


class _Submission(NamedTuple):
    """Batch that a worker reads, and when its result is due (monotonic seconds)."""

    batch: Batch
    due: float


class Dispatcher:
    """Dispatcher of read requests: queued files are read, and the results go to the catalogue."""

    def __init__(
        self,
        executor: Executor | None,
        workers: int,
        queue: ReadQueue,
        catalogue: Catalogue,
        wake: Callable[[], None],
    ) -> None:
        """Create a dispatcher. ``wake`` is called from another thread when a batch has been read."""
        self._executor = executor
        self._workers = max(1, workers)
        self._queue = queue
        self._catalogue = catalogue
        self._wake = wake
        self._running: dict[Future[list[SectionResult]], _Submission] = {}
        self._done: deque[Future[list[SectionResult]]] = deque()

    @property
    def working(self) -> bool:
        """Return True if files are being read or are queued."""
        return bool(self._running or self._queue)

    def collect(self) -> None:
        """Pass results of workers to the catalogue without waiting, and cancel batches that are overdue."""
        now = time.monotonic()
        for future in [future for future, submission in self._running.items() if submission.due < now]:
            future.cancel()  # ends the worker that reads it
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
        """Start reading the next files: in workers, or one batch in this thread if little is queued."""
        if self._executor is None or self._is_small:
            self._read_inline()
            return
        while self._queue and len(self._running) < self._workers * _AHEAD:
            batch = self._next_batch()
            try:
                future = self._executor.submit(read_file_sections, [request for _, request in batch])
            except RuntimeError:  # the executor is broken, or the server is shutting down
                self._record_crash(batch)
                return
            turns = 1 + len(self._running) // self._workers
            self._running[future] = _Submission(batch, time.monotonic() + turns * PATIENCE)
            future.add_done_callback(self._on_done)

    @property
    def _is_small(self) -> bool:
        """Return True if the queue is read faster, and safely, in this thread."""
        return not (self._running or self._queue.suspicious) and self._queue.size <= INLINE

    def _read_inline(self) -> None:
        """Read one batch in this thread."""
        for (stage, file), request in self._next_batch():
            self._catalogue.take(stage, file, request, read_file_section(request))
        if self._queue:
            self._wake()

    def _next_batch(self) -> Batch:
        """Take the next files from the queue, and return them with their read requests."""
        batch: Batch = []
        for stage, file in self._queue.take(PIECE):
            file.busy, file.checked = True, file.stamp
            batch.append(((stage, file), request_of(file, PIECE)))
        return batch

    def _record_crash(self, batch: Batch, hung: bool = False) -> None:
        """Record a crash for all files of a batch."""
        for (stage, file), _ in batch:
            self._catalogue.record_crash(stage, file, hung)

    def _on_done(self, future: Future[list[SectionResult]]) -> None:
        """Note that a batch has been read. Called from another thread."""
        self._done.append(future)
        self._wake()


_PUBLISH: Final = 0.1  # seconds between two publications during reading: how late pages show what was read
_PAUSE: Final = 5  # times a publication until the next one; publishing a wide run is slow
_SHARE: Final = 2  # after checking for changes, twice that time is left to other threads
_SAVE: Final = 5.0  # seconds between two checks whether to write the cache, which a killed server lacks
_RELEASE: Final = 1.0  # seconds between two releases of pages of cold columns; bounds the memory they take
_MIN_MOVED: Final = 16 << 20  # bytes moved to cold columns after which freed memory is returned to the system
_STOP: Final = 0.5  # seconds that shutdown waits for the loader, which may hang in a read
_REST: Final = 1.0  # seconds that the loop sleeps, at most, so that the time of the last scan is current

_log = logging.getLogger(__name__)


class Loader:
    """Loader that keeps a store up to date with the base directories."""

    def __init__(self, settings: Settings, store: Store, executor: Executor | None = None) -> None:
        """Create a loader. Without an executor everything is read in the loader's thread."""
        self._once = settings.reload_interval == 0
        self._wake = threading.Event()
        self._stopping = False
        self._thread: threading.Thread | None = None
        self._queue = ReadQueue()
        bases = settings.summary_base_dir
        self._cold: ColdColumns | None = None
        self._cache: IndexCache | None = None
        if settings.cache:
            values = cache_folder(settings.workspace, home(bases))
            self._cold = ColdColumns(settings.workspace / "cache", values=values)
            self._cache = IndexCache(settings.workspace, home(bases), self._cold)
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
        self._released = 0  # bytes moved to cold columns before the last release of memory
        self._begun = False

    def start(self) -> None:
        """Start the thread that reads the base directories and follows changes. Raises RuntimeError if the
        thread does not begin."""
        self._thread = threading.Thread(target=self._run, name="loader", daemon=True)
        start_within_limit(self._thread)

    def stop(self) -> None:
        """Stop the thread. The published data stays in the store."""
        self._stopping = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join(_STOP)
            self._thread = None

    def want(self, run_ids: Iterable[str]) -> None:
        """Read these runs before all others from now on, because a client has opened them. The loader need
        not be woken: it keeps working as long as any bytes are unread."""
        self._queue.want(run_ids)

    def load(self) -> None:
        """Scan once and read everything, in the calling thread. Return when nothing is left to read, or
        after ``stop``."""
        if self._mirrors:
            self._mirrors.sync()
            self._catalogue.set_store_damage(self._mirrors.errors())
        self._scan_first()
        while self._work() and not self._stopping:
            self._wake.wait(_REST)
            self._wake.clear()

    def _run(self) -> None:
        """Run the loader until it is stopped."""
        try:
            if self._once:
                self.load()
            else:
                while not self._stopping:
                    self._run_round()
        finally:
            if self._cache:  # first: the others may wait for a disk
                self._cache.save(self._catalogue.stages, growth=0)
            if self._mirrors:
                self._mirrors.stop()
            self._scanner.stop()

    def _scan_first(self) -> None:
        """Scan for the first time, with the cache of an earlier server. Publishes the list of runs at
        once."""
        if self._cache:
            self._cache.open()
        self._scanner.scan()
        if self._cache:
            self._cache.release(self._catalogue.stages)
        self._publish()

    def _run_round(self) -> None:
        """Run one round and wait for the next. An exception is logged, and the next round continues."""
        try:
            working = self._follow()
        except Exception:  # the next round continues with the other files
            _log.exception("a round of the loader failed; the next round continues")
            working = False
            time.sleep(_REST)
        rest = min(self._scanner.rest(), _PUBLISH if working else _REST)
        if rest > 0 and not self._stopping:
            self._wake.wait(rest)
        self._wake.clear()

    def _follow(self) -> bool:
        """Check for changes, read and publish, and return True if there is more to do."""
        if not self._begun:
            if self._mirrors:
                self._mirrors.start()
            self._scan_first()
            self._scanner.follow()
            self._begun = True
        began = time.thread_time()
        looked = self._scanner.look()
        if self._mirrors:
            self._catalogue.set_store_damage(self._mirrors.errors())
        working = self._work()
        if looked:
            self._scanner.pause(min(_SHARE * (time.thread_time() - began), _REST))
        if self._cache and time.monotonic() >= self._save_at:
            self._save_at = time.monotonic() + _SAVE
            self._cache.save(self._catalogue.stages, None if working else GROWTH)
        self._release(working)
        return working

    def _release(self, working: bool) -> None:
        """Release pages of cold columns now and then, and freed memory after everything was read."""
        if self._cold is None:
            return
        moved = self._cold.moved - self._released  # bytes
        idle = not working and moved > 0
        if idle or time.monotonic() >= self._release_at:
            self._cold.release()
            self._release_at = time.monotonic() + _RELEASE
        if idle:
            self._released = self._cold.moved
            if moved >= _MIN_MOVED:
                release_freed_memory()

    def _work(self) -> bool:
        """Read and publish once, and return True if there is more to do."""
        now = time.monotonic()
        self._dispatcher.collect()
        self._catalogue.retry(now)
        self._dispatcher.dispatch()
        if now >= self._publish_at or not self._dispatcher.working:
            self._publish()
        return self._dispatcher.working

    def _publish(self) -> None:
        """Publish changes, or at least the time of the last scan."""
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
    """Return the mirrors of the remote stores among the base directories, or None without any. Their code
    is imported only if there are any."""
    if not stores(settings.summary_base_dir):
        return None
    from mindinsight.server.ingest.mirrors import Mirrors

    return Mirrors(settings)
