"""Values collected since the last recorded step, and the queue to the thread that writes them."""

import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, Final

from mindinsight.writer import options
from mindinsight.writer.buffer_pool import BufferPool
from mindinsight.writer.encoding import events, kinds, scalars
from mindinsight.writer.encoding.encoder import LARGEST_EVENT, Item, TooLarge
from mindinsight.writer.encoding.events import Job
from mindinsight.writer.files.event_queue import EventQueue

# Memory of a queued step and of a scalar in it, on CPython 3.11: tuple, list, float, references.
_STEP_BYTES: Final = 200
_SCALAR_BYTES: Final = 40

PluginFilter = Callable[[str], bool]


class Pending:
    """Buffer of values that wait for their step. Several threads may add values, one at a time may take
    them."""

    def __init__(self) -> None:
        self._buffers = BufferPool()
        self.scalars: list[Any] = []  # tag, value, tag, value, ...
        self.good_tags: set[str] = set()  # scalar tags that were checked
        self._items: list[Item] = []
        self._room = LARGEST_EVENT
        self.refused: list[tuple[str, str]] = []  # reason, tag of values that are too large for the step

    def tags(self) -> list[str]:
        """Return the tags of the collected values, each once."""
        return list(
            dict.fromkeys(
                [*self.scalars[::2], *(item.tag for item in self._items), *(tag for _, tag in self.refused)]
            )
        )

    def clear(self) -> None:
        """Discard all collected values."""
        self.scalars.clear()
        self._items.clear()
        self.refused.clear()
        self._room = LARGEST_EVENT

    def add(self, plugin: Any, name: Any, value: Any) -> None:
        """Validate ``value``, and keep a copy of it under the tag ``name``. Raises like
        ``SummaryRecord.add_value``, and TooLarge, which is also noted in ``refused``."""
        kind, tag = _kind(plugin), options.tag(name)
        if kind == "scalar":
            self.scalars.extend((tag, scalars.number(tag, value)))
            self.good_tags.add(tag)
            return
        try:
            item = kinds.encoder(kind).item(tag, value, self._room, self._buffers)
        except TooLarge as error:
            self.refused.append((str(error), tag))
            raise
        self._room -= kinds.encoder(kind).size(item)
        self._items.append(item)

    def single_job(self, step: int, wall: float, plugin: Any, name: Any, value: Any) -> Job:
        """Return the job that records ``value`` alone, as its own event. Raises like ``add``. Collected
        values remain."""
        kind, tag = _kind(plugin), options.tag(name)
        if kind == "scalar":
            return step, wall, [tag, scalars.number(tag, value)], (), _STEP_BYTES + 2 * _SCALAR_BYTES
        item = kinds.encoder(kind).item(tag, value, LARGEST_EVENT, self._buffers)
        return step, wall, [], (item,), _STEP_BYTES + size_of(item)

    def take(self, step: int, wall: float, plugin_filter: PluginFilter | None = None) -> list[Job]:
        """Remove the collected values and return them as jobs: one for the step's event, one for each
        message. Return [] if nothing was collected. Values of kinds that ``plugin_filter`` rejects are
        discarded."""
        # In place and by count, because another thread may be adding to the same list.
        size = len(self.scalars)
        pairs = self.scalars[:size]
        del self.scalars[:size]
        if plugin_filter is None and not self._items:
            return [(step, wall, pairs, (), _STEP_BYTES + _SCALAR_BYTES * size)] if pairs else []
        return self._take_all(step, wall, pairs, plugin_filter or (lambda plugin: True))

    def done(self, jobs: Iterable[Job]) -> None:
        """Reuse the memory of ``jobs`` that were written to disk. Called by the writing thread."""
        give_back(self._buffers, jobs)

    def _take_all(self, step: int, wall: float, pairs: list[Any], plugin_filter: PluginFilter) -> list[Job]:
        items = [item for item in self._items if plugin_filter(item.kind)]
        pairs = pairs if pairs and plugin_filter("scalar") else []
        self._items.clear()
        self._room = LARGEST_EVENT
        singles = [item for item in items if item.kind in events.MESSAGE_FIELDS]
        together = [item for item in items if item not in singles] if singles else items
        jobs: list[Job] = [(step, wall, [], (item,), _STEP_BYTES + size_of(item)) for item in singles]
        if pairs or together:
            cost = _STEP_BYTES + _SCALAR_BYTES * len(pairs) + sum(map(size_of, together))
            jobs.append((step, wall, pairs, together, cost))
        return jobs


def _kind(plugin: Any) -> str:
    kind = plugin.lower() if isinstance(plugin, str) else plugin
    if kind not in kinds.NAMES:
        raise ValueError(f"plugin must be one of {', '.join(kinds.NAMES)}, got {plugin!r}")
    return str(kind)


def give_back(buffers: BufferPool, jobs: Iterable[Job]) -> None:
    """Return the arrays of written jobs to the pool."""
    for _, _, _, items, _ in jobs:
        for item in items:
            if not isinstance(item.payload, bytes):
                buffers.give_back(item.payload)


def size_of(item: Item) -> int:
    """Return the bytes of an item's payload in memory."""
    return len(item.payload) if isinstance(item.payload, bytes) else item.payload.nbytes


class StepQueue:
    """Collector of one recorder's values, which queues all values of a step together for the writing thread.

    A lock lets one of several threads at a time queue a step. ``strict`` raises TooLarge for a value that
    exceeds the size of a message. Otherwise the value is dropped, with tag and step in the log.
    """

    def __init__(self, events: EventQueue, pending: Pending, strict: bool) -> None:
        self._events = events
        self._pending = pending
        self._strict = strict
        self._lock = threading.Lock()

    def collect(self, plugin: str, name: str, value: Any) -> None:
        """Collect a value of a plugin under a name for the next step. Raises TypeError or ValueError for an
        invalid value, and TooLarge only if strict, else a value that is too large is left out."""
        try:
            self._pending.add(plugin, name, value)
        except TooLarge:
            if self._strict:
                raise

    def put_step(self, step: int, plugin_filter: Callable[[str], bool] | None) -> None:
        """Queue everything collected as ``step``, and log the values that were too large. Values of kinds
        that ``plugin_filter`` rejects are discarded."""
        with self._lock:
            for job in self._pending.take(step, time.time(), plugin_filter):
                self._events.put(job)
            if self._pending.refused:
                for reason, tag in self._pending.refused:
                    self._events.drop(reason, [(tag, step)])
                self._pending.refused.clear()

    def put_value(self, step: int, wall_time: float | None, plugin: str, name: str, value: Any) -> None:
        """Queue a value as a separate event, at ``wall_time`` (default: now). Raises like ``Pending.add``,
        TooLarge only if strict."""
        try:
            wall = time.time() if wall_time is None else wall_time
            job = self._pending.single_job(step, wall, plugin, name, value)
        except TooLarge as error:
            self._events.drop(str(error), [(name, step)])
            if self._strict:
                raise
            return
        with self._lock:
            self._events.put(job)

    def put_at_once(self, step: int, item: Item, size: int) -> None:
        """Queue an encoded item of ``size`` bytes, and wake the thread that writes."""
        with self._lock:
            self._events.put((step, time.time(), [], (item,), size))
        self._events.wake()

    def discard(self) -> list[str]:
        """Discard the values that no step was recorded for, and return their tags."""
        with self._lock:
            tags = self._pending.tags()
            self._pending.clear()
        return tags

    def forget(self) -> None:
        """Discard the collected values in a child process, because they belong to the parent."""
        self._lock = threading.Lock()
        self._pending.clear()
