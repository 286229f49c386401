"""Locks of the server that record what is done while they are held: see docs/decisions/locks.md.

`record` comes before the server is imported. From then on every lock and condition that a module of the
server makes is recorded: under which other one it is taken, for how much processor time it is held, and what
is opened, listed, renamed, connected or started meanwhile.
"""

import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

_OURS = "mindinsight.server."
_INPUT_OUTPUT = ("open", "os.", "shutil.", "tempfile.", "socket.", "sqlite3.", "subprocess.")
_held = threading.local()


class Recorded:
    """Lock, or that of a condition, that records."""

    faults: list[str] = []  # noqa: RUF012
    longest: dict[str, float] = {}  # noqa: RUF012 (seconds of processor time by module)

    def __init__(self, module: str, lock: Any) -> None:
        self._module, self._lock = module, lock
        Recorded.longest.setdefault(module, 0.0)

    def acquire(self, *how: Any, **named: Any) -> bool:
        stack = _stack()
        if stack:
            Recorded.faults.append(f"{self._module} is taken under {stack[-1][0]}")
        if not self._lock.acquire(*how, **named):
            return False
        stack.append((self._module, time.thread_time()))
        return True

    def release(self) -> None:
        module, since = _stack().pop()
        Recorded.longest[module] = max(Recorded.longest[module], time.thread_time() - since)
        self._lock.release()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *error: object) -> None:
        self.release()


def _stack() -> list[tuple[str, float]]:
    if not hasattr(_held, "stack"):
        _held.stack = []
    stack: list[tuple[str, float]] = _held.stack
    return stack


def record(report: Path | None = None, patch: Any = setattr) -> None:
    """Record the locks of the server made from now on. A report is written each second, with the
    names of threads."""
    make_lock, make_condition = threading.Lock, threading.Condition

    def lock() -> Any:
        module = sys._getframe(1).f_globals.get("__name__", "")
        return Recorded(module, make_lock()) if module.startswith(_OURS) else make_lock()

    def condition(lock: Any = None) -> Any:
        module = sys._getframe(1).f_globals.get("__name__", "")
        if module.startswith(_OURS):
            lock = Recorded(module, make_lock())
        return make_condition(lock)

    start = threading.Thread.start

    def start_thread(thread: threading.Thread) -> None:
        _watch("os.start_thread", (thread.name,))
        start(thread)

    patch(threading.Thread, "start", start_thread)
    patch(threading, "Lock", lock)
    patch(threading, "Condition", condition)
    sys.addaudithook(_watch)
    if report is not None:
        threading.Thread(target=_write, args=(report,), daemon=True).start()


def _watch(event: str, arguments: Any) -> None:
    stack = getattr(_held, "stack", None)
    if stack and event.startswith(_INPUT_OUTPUT):
        Recorded.faults.append(f"{event} under {stack[-1][0]}: {arguments!r}"[:300])


def _write(report: Path) -> None:
    while True:
        time.sleep(1)
        threads = [thread.name for thread in threading.enumerate()]
        text = json.dumps([Recorded.faults.copy(), Recorded.longest.copy(), threads])
        report.with_suffix(".new").write_text(text)
        report.with_suffix(".new").replace(report)
