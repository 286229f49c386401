"""Critical sections of a thread, which no exception from another thread interrupts.

An exception that another thread raises (``PyThreadState_SetAsyncExc``) comes between any two instructions.
Between the closing of a descriptor and the note that it is closed, it makes the thread close the same number
again: by then the file or connection of somebody else.
"""

from __future__ import annotations

import ctypes
import threading
from typing import Final


class Interruption:
    """An exception that other threads may raise in a thread, once it is in no critical section."""

    def __init__(self, error: type[BaseException]) -> None:
        self._error = error
        self._lock = threading.Lock()
        self._sections = 0  # entered and not left
        self._due = False

    def admit(self) -> None:
        """Have it apply to the thread that calls this, for as long as that runs."""
        _thread.interruption = self

    def raise_in(self, thread: int) -> None:
        """Raise the exception in the thread of this identifier: now, or after its critical section."""
        with self._lock:
            if self._sections:
                self._due = True
            else:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(thread), ctypes.py_object(self._error)
                )

    def hold(self) -> None:
        with self._lock:
            self._sections += 1

    def release(self) -> None:
        with self._lock:
            self._sections -= 1
            due = self._due and not self._sections
            self._due = self._due and not due
        if due:
            raise self._error


class _CriticalSection:
    """Context manager; without cost in threads that nobody interrupts. Sections may lie in one another."""

    def __enter__(self) -> None:
        if (interruption := _thread.interruption) is not None:
            interruption.hold()

    def __exit__(self, *error: object) -> None:
        if (interruption := _thread.interruption) is not None:
            interruption.release()


class _Thread(threading.local):
    interruption: Interruption | None = None


_thread: Final = _Thread()
critical_section: Final = _CriticalSection()
