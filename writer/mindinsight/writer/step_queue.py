"""Queue between a training loop and the thread that writes: values are collected, then put under a step."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from mindinsight.writer.encoding.encoder import Item, TooLarge
from mindinsight.writer.files.event_file import EventFile
from mindinsight.writer.pending import Pending


class StepQueue:
    """Queue of one recorder's jobs. Several threads may add; a lock lets one at a time hand over.

    ``strict`` raises TooLarge for a value that fits no message. Otherwise it is dropped, with tag and step.
    """

    def __init__(self, events: EventFile, pending: Pending, strict: bool) -> None:
        self._events = events
        self._pending = pending
        self._strict = strict
        self._lock = threading.Lock()

    def collect(self, plugin: str, name: str, value: Any) -> None:
        """Keep a value for the next step. Raises as ``Pending.add``."""
        try:
            self._pending.add(plugin, name, value)
        except TooLarge:
            if self._strict:
                raise

    def put_step(self, step: int, plugin_filter: Callable[[str], bool] | None) -> None:
        """Queue everything collected under ``step``, and report what was too large for it."""
        with self._lock:
            for job in self._pending.take(step, time.time(), plugin_filter):
                self._events.put(job)
            if self._pending.refused:
                for reason, tag in self._pending.refused:
                    self._events.drop(reason, [(tag, step)])
                self._pending.refused.clear()

    def put_value(self, step: int, wall_time: float | None, plugin: str, name: str, value: Any) -> None:
        """Queue a value as an event of its own, of now unless ``wall_time`` says otherwise."""
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

    def forget(self) -> None:
        """Drop, in a child process, what was collected: it belongs to the parent."""
        self._lock = threading.Lock()
        self._pending.clear()
