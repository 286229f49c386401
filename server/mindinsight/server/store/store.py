"""The store: a reference to the newest snapshot, which is swapped, and its subscribers."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from mindinsight.server.store.run import Snapshot
from mindinsight.server.types import Kind

ChangedKind: TypeAlias = Kind | Literal["lineage", "dump"]
Callback: TypeAlias = "Callable[[Changes], None]"

_RANDOM_BITS: Final = 12  # with the time in milliseconds a number that JavaScript reads exactly

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Changes:
    """What is different in a snapshot from the one before it."""

    version: int
    runs: frozenset[str]  # ids that were added, removed or changed
    kinds: Mapping[str, frozenset[ChangedKind]]  # for changed runs: which kinds got something new
    list: bool = False  # whether runs came or went, or what is told about all of them changed


class Store:
    """Holds the newest snapshot. One thread publishes, any number read; reading takes no lock.

    Versions begin with the time, so that they grow from one start of the server to the next, and with a
    random part, so that several servers on one base directory do not use the same ones.
    """

    def __init__(self, base: str = "", watch: str = "polling") -> None:
        version = time.time_ns() // 1_000_000 << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)
        self._snapshot = Snapshot(version, runs={}, left_out=0, base=base, watch=watch, scanned=0.0)
        self._callbacks: tuple[Callback, ...] = ()
        self._lock = threading.Lock()

    def snapshot(self) -> Snapshot:
        return self._snapshot

    def subscribe(self, callback: Callback) -> Callable[[], None]:
        """Call ``callback`` after each publication, in the publishing thread; returns how to stop that."""
        with self._lock:
            self._callbacks = (*self._callbacks, callback)

        def unsubscribe() -> None:
            with self._lock:
                self._callbacks = tuple(other for other in self._callbacks if other is not callback)

        return unsubscribe

    def scanned(self, when: float) -> None:
        """Note a look at the base that showed nothing new; readers are not told."""
        self._snapshot = replace(self._snapshot, scanned=when)

    def publish(self, snapshot: Snapshot, changes: Changes) -> None:
        """Let readers see ``snapshot`` from now on and tell subscribers; versions must grow."""
        if snapshot.version <= self._snapshot.version:
            raise ValueError(f"version {snapshot.version} after {self._snapshot.version}")
        self._snapshot = snapshot
        for callback in self._callbacks:
            try:
                callback(changes)
            except Exception:
                _log.exception("a subscriber of the store failed")
