"""Mirrors of the stores among the base directories, each kept in step by a thread of its own."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from mindinsight.server.compute.threads import start_within_limit
from mindinsight.server.files.remote_store import RemoteStore, open_store
from mindinsight.server.ingest.remote.mirror import Mirror
from mindinsight.server.settings import Settings
from mindinsight.server.settings.base_dirs import Base, stores
from mindinsight.server.store.run import Trouble

SLOW: Final = 60.0  # seconds after which a pass that is still going on is said to be slow
LONGEST: Final = 60.0  # seconds between two passes over a store that does not answer

_log = logging.getLogger(__name__)


class Mirrors:
    """All mirrors of a server; none costs nothing."""

    def __init__(self, settings: Settings) -> None:
        self._interval = max(settings.reload_interval, 1.0)
        self._stopping = threading.Event()
        self._following = [_Following(base, self._stopping) for base in stores(settings.summary_base_dir)]
        self._threads: list[threading.Thread] = []

    def sync(self) -> None:
        """One pass over every store, in this thread."""
        for following in self._following:
            following.sync()

    def start(self) -> None:
        """Go on with passes in the background."""
        for following in self._following:
            thread = threading.Thread(
                target=following.run, args=(self._interval,), name="mirror", daemon=True
            )
            start_within_limit(thread)
            self._threads.append(thread)

    def stop(self) -> None:
        """End; a request that is under way is not waited for."""
        self._stopping.set()

    def troubles(self) -> tuple[Trouble, ...]:
        """What is wrong with which store now."""
        return tuple(
            Trouble(following.url, reason) for following in self._following if (reason := following.trouble())
        )


class _Following:
    """Passes over one store."""

    def __init__(self, base: Base, stopping: threading.Event) -> None:
        self.url = base.url
        self._stopping = stopping
        self._mirror = Mirror(RemoteStore(base.url, stopping), Path(base.path), stopping)
        self._begun: float | None = None  # monotonic time of a pass that is going on
        self._logged = ""

    def run(self, interval: float) -> None:
        wait = interval
        while not self._stopping.is_set():
            self.sync()
            answers = self._mirror.trouble in ("", "remote.many", "remote.name", "remote.cut")
            wait = interval if answers else min(2 * wait, max(LONGEST, interval))
            self._stopping.wait(wait)

    def sync(self) -> None:
        self._begun = time.monotonic()
        try:
            self._mirror.sync()
        except Exception as error:  # its text may hold credentials
            _log.warning("a pass over a store failed: %s", type(error).__name__)
            self._mirror.trouble = "remote.unreachable"
        finally:
            self._begun = None
        if self._mirror.trouble != self._logged:
            self._logged = self._mirror.trouble
            _log.warning("%s: %s", self.url, self._logged or "well again")

    def trouble(self) -> str:
        begun = self._begun
        slow = begun is not None and time.monotonic() - begun > SLOW
        return self._mirror.trouble or ("remote.slow" if slow else "")


def check_stores(bases: Iterable[Base]) -> None:
    """Raises BadSettings for a store that no installed package can open."""
    for base in bases:
        open_store(base.url)
