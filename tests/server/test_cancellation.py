"""Tokens: work that is no longer wanted ends at its next check, with everything it waits for."""

import threading
from concurrent.futures import BrokenExecutor, Future

import pytest

from mindinsight.server.cancellation import (
    Cancelled,
    Token,
    check,
    checked,
    claim,
    current,
    result_of,
    under,
    watch,
)


def test_work_ends_at_its_next_check() -> None:
    token, seen = Token(), list[int]()
    check()
    with under(token), pytest.raises(Cancelled):
        for number in checked(range(10)):
            seen.append(number)
            if number == 3:
                token.cancel()
    assert seen == [0, 1, 2, 3]
    assert current() is None


def test_what_is_watched_is_cancelled_once_and_what_is_done_is_forgotten() -> None:
    token, calls = Token(), list[str]()
    running, done = Future[int](), Future[int]()
    with under(token):
        watch(running)
        watch(done)
    done.set_result(1)
    token.on_cancel("a", lambda: calls.append("a"))
    token.on_cancel("b", lambda: calls.append("b"))
    token.forget("b")
    token.cancel()
    token.cancel()
    assert running.cancelled()
    assert calls == ["a"]
    token.on_cancel("late", lambda: calls.append("late"))
    assert calls == ["a", "late"]


def test_a_wait_ends_when_the_work_is_cancelled() -> None:
    token, future = Token(), Future[int]()
    threading.Timer(0.05, token.cancel).start()
    with under(token):
        watch(future)
        with pytest.raises(Cancelled):
            result_of(future, 30)


def test_a_wait_has_a_limit_and_says_who_ended_the_work() -> None:
    future = Future[int]()
    with pytest.raises(BrokenExecutor, match=r"not done within 0\.01 seconds"):
        result_of(future, 0.01)
    assert future.cancelled()
    with pytest.raises(BrokenExecutor, match="ended"):
        result_of(future)
    failed = Future[int]()
    failed.set_exception(TimeoutError("of the work"))
    with pytest.raises(TimeoutError, match="of the work"):
        result_of(failed)


def test_memory_is_claimed_of_the_work_that_reads() -> None:
    claimed = list[int]()
    claim(7)
    with under(Token(claimed.append)):
        claim(8)
    assert claimed == [8]
    token = Token()
    token.cancel()
    with under(token), pytest.raises(Cancelled):
        claim(1)
