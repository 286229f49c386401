"""Inspection of one rank and step of a dump: its tensors, and their statistics as they are computed."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

from mindinsight.server.cancellation import LONGEST
from mindinsight.server.compute.background_jobs import BackgroundJob, Threads
from mindinsight.server.compute.lru_cache import LruCache
from mindinsight.server.debug.examine import TensorResult, measure_all
from mindinsight.server.debug.statistics_cache import StatisticsCache
from mindinsight.server.debug.watchpoints import SlotKey, slot_key
from mindinsight.server.formats.dumps import growing_paths, list_operators, list_tensors, open_dump
from mindinsight.server.formats.dumps.dump_types import Dump, FileDamage, Operator, TensorEntry
from mindinsight.server.formats.dumps.dump_types import Listing as FileListing

PATIENCE: Final = 2.0  # seconds between checks for changes
MARGIN: Final = 1_000_000_000  # nanoseconds by which the clock of a file system may be behind
RETRY: Final = 5_000_000_000  # nanoseconds until a failed job is tried again
MAX_CHECKED: Final = 100  # damaged files that are checked for changes


class Listing:
    """Listing of a step at one time, with a background job that computes the statistics of its tensors."""

    def __init__(
        self,
        dump: Dump,
        rank: int,
        step: int,
        executor: Executor,
        cache: StatisticsCache | None,
        threads: Threads,
    ) -> None:
        self._started = time.time_ns()
        listing = list_tensors(dump, rank, step)
        self.dump = dump
        self.rank = rank
        self.step = step
        self.entries: Sequence[TensorEntry] = tuple(listing.items)  # a tuple, as it is searched often
        self.damage: Sequence[FileDamage] = listing.damage
        self._job = BackgroundJob(
            threads, lambda: measure_all(self.entries, executor, cache), len(self.entries)
        )

    @property
    def results(self) -> Sequence[TensorResult]:
        """Return the statistics of the tensors measured so far, from the first tensor on."""
        return self._job.items

    @property
    def done(self) -> bool:
        """Return True if the job has ended, with all tensors measured or with an error."""
        return self._job.done

    @cached_property
    def positions(self) -> Mapping[SlotKey, int]:
        """Return the position of each tensor in the listing."""
        return {slot_key(entry): i for i, entry in enumerate(self.entries)}

    @cached_property
    def types(self) -> Sequence[str]:
        """Return the types of operators, sorted."""
        return sorted({entry.type for entry in self.entries})

    @cached_property
    def named_dtypes(self) -> frozenset[str]:
        """Return the recorded data types, with "" if some are not recorded."""
        return frozenset(entry.dtype for entry in self.entries)

    @cached_property
    def operators(self) -> Mapping[tuple[str, str], Operator]:
        """Return the operators by graph and recorded name, in execution order."""
        return {(operator.graph, operator.recorded): operator for operator in self._operators.items}

    @property
    def listed_operators(self) -> Sequence[Operator]:
        """Return all operators. Those of the graph without a tensor have no recorded name to find them by."""
        return self._operators.items

    @property
    def operator_damage(self) -> Sequence[FileDamage]:
        """Return the damage of the files that describe operators, including tensor files."""
        return self._operators.damage

    @cached_property
    def _operators(self) -> FileListing[Operator]:
        return list_operators(self.dump, self.rank, self.step)

    def result(self, entry: TensorEntry) -> TensorResult | None:
        """Return the statistics of one tensor, or None until they are computed. Raises KeyError for a tensor
        that is not in the listing."""
        position = self.positions[slot_key(entry)]
        return self.results[position] if position < len(self.results) else None

    @property
    def is_stale(self) -> bool:
        """Return True if listing the step again may show more. That is so if a damaged file was modified
        since the listing, because its writer had not finished, or if an error ended the job some seconds
        ago: the workers that died may have been killed from outside."""
        if not self.done:
            return False
        if self._job.error:
            return time.time_ns() - self._started > RETRY
        damaged = [result.damage.path for result in self.results if result.damage is not None]
        return any(_stamp(Path(path)) >= self._started - MARGIN for path in damaged[:MAX_CHECKED])

    def wait(self, seconds: float = LONGEST) -> bool:
        """Wait until the job has ended, and return False if it is still running after ``seconds``."""
        return self._job.wait(seconds)

    def stop(self) -> None:
        """Stop measuring. Results so far remain."""
        self._job.stop()


class _Checked(NamedTuple):
    """Listing, with the stamps of the files and the time of the last check."""

    listing: Listing
    stamps: tuple[int, ...]
    at: float  # time.monotonic()


class Inspection:
    """Holder of the current listing of a step, which is replaced when the dump has grown."""

    def __init__(
        self,
        path: str,
        rank: int,
        step: int,
        executor: Executor,
        cache: StatisticsCache | None,
        threads: Threads,
    ) -> None:
        self._path = path
        self._rank = rank
        self._step = step
        self._list: Callable[[Dump], Listing] = lambda dump: Listing(
            dump, rank, step, executor, cache, threads
        )
        self._refreshes = LruCache[_Checked](0)
        self._checked: _Checked | None = None
        self._stopped = False

    def listing(self) -> Listing:
        """Return the current listing, or raise UnreadableError if the dump is missing."""
        checked = self._checked
        if checked is None or time.monotonic() - checked.at > PATIENCE:
            checked = self._refreshes.get("listing", self._refreshed)
        return checked.listing

    def stop(self) -> None:
        """Stop the job of the current listing, and of any later one."""
        self._stopped = True
        if self._checked is not None:
            self._checked.listing.stop()

    def _refreshed(self) -> _Checked:
        dump, before = open_dump(self._path), self._checked
        stamps = tuple(map(_stamp, growing_paths(dump, self._rank, self._step)))
        listing = before.listing if before is not None else None
        if listing is None or (before and stamps != before.stamps) or listing.is_stale:
            if listing is not None:
                listing.stop()
            listing = self._list(dump)
        self._checked = _Checked(listing, stamps, time.monotonic())
        if self._stopped:  # the inspection was dropped in the meantime
            listing.stop()
        return self._checked


def _stamp(path: Path) -> int:
    """Return the modification time of a file in nanoseconds, or 0 if it is missing."""
    try:
        return path.lstat().st_mtime_ns
    except OSError:
        return 0
