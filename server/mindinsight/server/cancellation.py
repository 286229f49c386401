"""Cooperative cancellation: each task runs under a token, which it checks at stated intervals.

Nothing is ever raised into a thread from outside. Loops with a length that depends on a file or on a client
call `check` at least once for every `INTERVAL` bytes or elements.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Future
from concurrent.futures import TimeoutError as TooLate
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from traceback import clear_frames
from typing import Final, TypeVar

T = TypeVar("T")

INTERVAL: Final = 8 << 20  # bytes or elements between two checks: 1 to 5 ms of a NumPy function over float32
LONGEST: Final = 3600.0  # seconds that anything waits for a future: longer than any deadline of a request


class Cancelled(BaseException):  # not an Exception: code that goes on after any error must not go on
    """Error: the work is no longer wanted."""


class Token:
    """Cancellation token of a task. Any thread may cancel the task by it. Takes no lock."""

    def __init__(self, claim: Callable[[int], None] | None = None) -> None:
        """Create a token that is not cancelled. `claim` is called before many bytes are read, and raises if
        memory is short."""
        self.cancelled = False
        self.claim = claim
        self._callbacks: dict[Hashable, Callable[[], object]] = {}

    def cancel(self) -> None:
        """Cancel the task and everything it waits for."""
        self.cancelled = True
        with suppress(KeyError):
            while True:
                self._callbacks.popitem()[1]()

    def on_cancel(self, key: Hashable, callback: Callable[[], object]) -> None:
        """Call `callback` when the task is cancelled, or at once if it already is, unless `forget(key)` comes
        first."""
        self._callbacks[key] = callback
        if self.cancelled:
            self.cancel()

    def forget(self, key: Hashable) -> None:
        """Remove the callback registered under `key`, if there is one."""
        self._callbacks.pop(key, None)


_current: ContextVar[Token | None] = ContextVar("token of the work that this thread does", default=None)


def current() -> Token | None:
    """Return the token of the task that this thread runs, None if it runs none."""
    return _current.get()


@contextmanager
def under(token: Token | None) -> Iterator[None]:
    """Make `token` the current token of this thread during the block, so that `check` there obeys it."""
    before = _current.set(token)
    try:
        yield
    finally:
        _current.reset(before)


def clear_frames_of(error: BaseException | None) -> None:
    """Drop the local variables of the calls that an error has ended. An error that is kept in a future,
    which one of these calls waited for, is freed only by the garbage collector, minutes later in a server
    with nothing to do. A file that a generator has open stays open as long."""
    while error is not None:
        clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


def check() -> None:
    """Raise Cancelled if the task that this thread runs is cancelled."""
    token = _current.get()
    if token is not None and token.cancelled:
        raise Cancelled


def checked(items: Iterable[T]) -> Iterator[T]:
    """Iterate over `items` with a check before each."""
    for item in items:
        check()
        yield item


def claim(size: int) -> None:
    """Claim memory for reading `size` bytes at once, unless the task of this thread is cancelled. Raises
    Cancelled or MemoryError."""
    token = _current.get()
    if token is not None:
        if token.cancelled:
            raise Cancelled
        if token.claim is not None:
            token.claim(size)


def watch(future: Future[T]) -> None:
    """Cancel `future` when the task that this thread runs is cancelled."""
    token = _current.get()
    if token is not None:
        token.on_cancel(future, future.cancel)
        future.add_done_callback(token.forget)


def result_of(future: Future[T], seconds: float = LONGEST) -> T:
    """Return the result of a future, waiting at most `seconds`. Raises Cancelled if the task of this thread
    is cancelled meanwhile, BrokenExecutor if the future is cancelled otherwise or is not done in time, and
    the error of the future."""
    try:
        return future.result(seconds)
    except CancelledError:
        check()
        raise BrokenExecutor("the work was ended") from None
    except TooLate:
        if future.done():  # an error of the work
            raise
        future.cancel()
        raise BrokenExecutor(f"it was not done within {seconds:g} seconds") from None
