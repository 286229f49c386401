"""What is being looked at, kept while it is used: inspections, checks and comparisons."""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, TypeVar

from mindinsight.server.compute.plugin_state import Stoppable

KEPT: Final = 8  # of each server; a listing of 100 000 tensors takes about 100 MB

Kept = TypeVar("Kept", bound=Stoppable)


class LruCache:
    """Things by key; the one not used for longest is stopped and forgotten when there are too many."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._lock = threading.Lock()
        self._held: OrderedDict[object, Stoppable] = OrderedDict()
        self._numbers = itertools.count(1)

    def get(self, key: object, kind: type[Kept], make: Callable[[], Kept]) -> Kept:
        """The thing of a key, made when it is not there."""
        with self._lock:
            held = self._held.get(key)
            if not isinstance(held, kind):
                held = make()
                self._held[key] = held
            self._held.move_to_end(key)
            while len(self._held) > self._kept:
                self._held.popitem(last=False)[1].stop()
            return held

    def add(self, thing: Stoppable) -> int:
        """Keep a thing under a new number."""
        with self._lock:
            number = next(self._numbers)
        self.get(number, type(thing), lambda: thing)
        return number

    def find(self, number: int, kind: type[Kept]) -> Kept | None:
        """The thing of a number; None when there is none of this kind, or no longer."""
        with self._lock:
            held = self._held.get(number)
            if not isinstance(held, kind):
                return None
            self._held.move_to_end(number)
            return held

    def stop(self) -> None:
        with self._lock:
            for held in self._held.values():
                held.stop()
            self._held.clear()
