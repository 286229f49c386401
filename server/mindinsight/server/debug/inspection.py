"""One rank and step of a dump being looked at: its tensors, and their statistics as they are found."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from functools import cached_property
from pathlib import Path
from typing import Final

from mindinsight.server.compute.background_job import BackgroundJob
from mindinsight.server.debug.examine import Answer, measure_all
from mindinsight.server.debug.statistics_cache import StatisticsCache
from mindinsight.server.debug.watchpoints import SlotKey, slot_key
from mindinsight.server.formats.dumps import growing_paths, list_operators, list_tensors, open_dump
from mindinsight.server.formats.dumps.types import Dump, FileDamage, Operator, TensorEntry
from mindinsight.server.formats.dumps.types import Listing as FileListing

PATIENCE: Final = 2.0  # seconds for which a listing is not looked at again
MARGIN: Final = 1_000_000_000  # nanoseconds by which clocks of files may be behind
LOOKED_AT: Final = 100  # damaged files that are looked at again


class Listing:
    """What one look at a step found, and the statistics of it so far."""

    def __init__(
        self, dump: Dump, rank: int, step: int, executor: Executor, cache: StatisticsCache | None
    ) -> None:
        self._started = time.time_ns()
        found = list_tensors(dump, rank, step)
        self.dump = dump
        self.rank = rank
        self.step = step
        self.entries: Sequence[TensorEntry] = tuple(found.items)  # searched again and again
        self.damage: Sequence[FileDamage] = found.damage
        self._work = BackgroundJob(lambda: measure_all(self.entries, executor, cache), len(self.entries))

    @property
    def answers(self) -> Sequence[Answer]:
        """Statistics of the first tensors; the rest is still being counted."""
        return self._work.items

    @property
    def done(self) -> bool:
        return self._work.done

    @cached_property
    def places(self) -> Mapping[SlotKey, int]:
        """Where each tensor stands."""
        return {slot_key(entry): i for i, entry in enumerate(self.entries)}

    @cached_property
    def types(self) -> Sequence[str]:
        """Types of operators, by name."""
        return sorted({entry.type for entry in self.entries})

    @cached_property
    def named_dtypes(self) -> frozenset[str]:
        """Data types as the dump names them; with "" when it does not name all."""
        return frozenset(entry.dtype for entry in self.entries)

    @cached_property
    def operators(self) -> Mapping[tuple[str, str], Operator]:
        """Operators by graph and recorded name, in execution order."""
        return {(each.graph, each.recorded): each for each in self._operators.items}

    @property
    def operator_damage(self) -> Sequence[FileDamage]:
        """What of the files about operators could not be used, those of tensors included."""
        return self._operators.damage

    @cached_property
    def _operators(self) -> FileListing[Operator]:
        return list_operators(self.dump, self.rank, self.step)

    def answer(self, entry: TensorEntry) -> Answer | None:
        """Statistics of one tensor, when they are known already."""
        place = self.places[slot_key(entry)]
        return self.answers[place] if place < len(self.answers) else None

    @property
    def outdated(self) -> bool:
        """Whether a file that could not be read was written to since: its writer had not finished."""
        if not self.done:
            return False
        damaged = [answer.damage.path for answer in self.answers if answer.damage is not None]
        return any(_stamp(Path(path)) >= self._started - MARGIN for path in damaged[:LOOKED_AT])

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the statistics of all tensors."""
        return self._work.wait(seconds)

    def stop(self) -> None:
        self._work.stop()


class Inspection:
    """Keeps a listing of one step fresh while its dump is being written."""

    def __init__(
        self, path: str, rank: int, step: int, executor: Executor, cache: StatisticsCache | None
    ) -> None:
        self._path = path
        self._rank = rank
        self._step = step
        self._executor = executor
        self._cache = cache
        self._lock = threading.Lock()
        self._listing: Listing | None = None
        self._stamps: tuple[int, ...] = ()
        self._looked = 0.0

    def listing(self) -> Listing:
        """The newest listing. Raises ``UnreadableError`` when the dump is gone."""
        with self._lock:
            if self._listing is None or time.monotonic() - self._looked > PATIENCE:
                self._look()
            assert self._listing is not None
            return self._listing

    def stop(self) -> None:
        if self._listing is not None:
            self._listing.stop()

    def _look(self) -> None:
        dump = open_dump(self._path)
        stamps = _stamps(dump, self._rank, self._step)
        if self._listing is None or stamps != self._stamps or self._listing.outdated:
            self.stop()
            self._listing = Listing(dump, self._rank, self._step, self._executor, self._cache)
            self._stamps = stamps
        self._looked = time.monotonic()


def _stamps(dump: Dump, rank: int, step: int) -> tuple[int, ...]:
    return tuple(map(_stamp, growing_paths(dump, rank, step)))


def _stamp(path: Path) -> int:
    try:
        return path.lstat().st_mtime_ns
    except OSError:
        return 0
