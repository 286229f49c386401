"""Store: a reference to the newest snapshot, which is replaced atomically, and its subscribers."""

import logging
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from mindinsight.server.store.run import Snapshot
from mindinsight.server.store.series import JoinedColumns
from mindinsight.server.types import Kind

ChangedKind: TypeAlias = Kind | Literal["lineage", "dump"]
Callback: TypeAlias = "Callable[[Changes], None]"

_RANDOM_BITS: Final = 12  # with the time in milliseconds, versions stay below 2^53, exact in JavaScript

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Changes:
    """Differences between a snapshot and the one before it."""

    version: int
    runs: frozenset[str]  # ids that were added, removed or changed
    kinds: Mapping[str, frozenset[ChangedKind]]  # by changed run: the kinds with new data
    list: bool = False  # whether runs were added or removed, or facts about all runs changed


class Store:
    """Store of the newest snapshot.

    One thread publishes, any number reads. Reading takes no lock.

    Versions begin with the time, so that they grow from one start of the server to the next, and with a
    random part, so that several servers on one base directory use different versions.
    """

    def __init__(self, base: str = "", watch: str = "polling") -> None:
        version = time.time_ns() // 1_000_000 << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)
        self._snapshot = Snapshot(version, runs={}, left_out=0, base=base, watch=watch, scanned=0.0)
        self.joined = JoinedColumns()
        self._callbacks: tuple[Callback, ...] = ()
        self._lock = threading.Lock()

    def snapshot(self) -> Snapshot:
        """Return the newest snapshot."""
        return self._snapshot

    def subscribe(self, callback: Callback) -> Callable[[], None]:
        """Call ``callback`` after each publication, in its thread, until the returned function is called."""
        with self._lock:
            self._callbacks = (*self._callbacks, callback)

        def unsubscribe() -> None:
            with self._lock:
                self._callbacks = tuple(other for other in self._callbacks if other is not callback)

        return unsubscribe

    def scanned(self, when: float) -> None:
        """Set the time of the last scan to Unix time ``when``. Subscribers are not called."""
        self._snapshot = replace(self._snapshot, scanned=when)

    def publish(self, snapshot: Snapshot, changes: Changes) -> None:
        """Replace the snapshot and call the subscribers. Raises ValueError if its version is not newer."""
        if snapshot.version <= self._snapshot.version:
            raise ValueError(f"version {snapshot.version} after {self._snapshot.version}")
        self._snapshot = snapshot
        for callback in self._callbacks:
            try:
                callback(changes)
            except Exception:
                _log.exception("a subscriber of the store raised an exception")
