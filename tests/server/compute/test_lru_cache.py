"""LRU caches: values made once, and sessions that are stopped when they are dropped."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from mindinsight.server.compute.lru_cache import LruCache, SessionCache

PATIENCE = 60  # s


class Slow:
    """Makes a thing when told to, and counts how often it is asked to."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing
        self.asked = 0
        self.begun, self.go_on = threading.Event(), threading.Event()

    def __call__(self) -> Any:
        self.asked += 1
        self.begun.set()
        assert self.go_on.wait(PATIENCE)
        if isinstance(self.thing, Exception):
            raise self.thing
        return self.thing


@pytest.fixture
def threads() -> Iterator[Any]:
    with ThreadPoolExecutor(4) as pool:
        yield pool


def test_who_asks_meanwhile_gets_the_same_and_others_do_not_wait(threads: Any) -> None:
    cache, slow = LruCache[object](4), Slow(object())
    first = threads.submit(cache.get, "slow", slow)
    assert slow.begun.wait(PATIENCE)
    second = threads.submit(cache.get, "slow", slow)
    assert threads.submit(cache.get, "quick", lambda: "made").result(PATIENCE) == "made"
    assert cache.values() == ["made"]
    assert not first.done() and not second.done()
    slow.go_on.set()
    assert first.result(PATIENCE) is second.result(PATIENCE) is slow.thing
    assert slow.asked == 1


def test_what_fails_fails_for_all_who_wait_and_is_tried_again(threads: Any) -> None:
    cache, slow = LruCache[str](4), Slow(ValueError("no graph"))
    waiting = [threads.submit(cache.get, "a", slow)]
    assert slow.begun.wait(PATIENCE)
    waiting.append(threads.submit(cache.get, "a", slow))
    slow.go_on.set()
    for future in waiting:
        with pytest.raises(ValueError, match="no graph"):
            future.result(PATIENCE)
    assert cache.values() == []
    assert cache.get("a", lambda: "made") == "made"


def test_what_was_not_asked_for_longest_is_forgotten() -> None:
    cache = LruCache[str](2)
    for key in ("a", "b", "a", "c"):
        cache.get(key, partial(str, key))
    assert cache.values() == ["a", "c"]
    assert cache.get("b", lambda: "again") == "again"


def test_what_is_forgotten_while_it_is_made_still_reaches_those_who_asked(threads: Any) -> None:
    cache, slow = LruCache[str](1), Slow("slow")
    future = threads.submit(cache.get, "slow", slow)
    assert slow.begun.wait(PATIENCE)
    cache.get("other", lambda: "other")
    slow.go_on.set()
    assert future.result(PATIENCE) == "slow"
    assert cache.values() == ["other"]


def test_what_is_dropped_while_it_is_made_is_evicted_when_it_is(threads: Any) -> None:
    dropped: list[Any] = []
    cache, slow = LruCache[str](1, evict=dropped.append), Slow("slow")
    future = threads.submit(cache.get, "slow", slow)
    assert slow.begun.wait(PATIENCE)
    cache.get("other", lambda: "other")
    assert dropped == []
    slow.go_on.set()
    assert future.result(PATIENCE) == "slow"
    assert dropped == ["slow"]
    cache.clear()
    assert (dropped, cache.find("other")) == (["slow", "other"], None)


class Thing:
    stopped = False

    def stop(self) -> None:
        self.stopped = True


class OtherThing(Thing):
    pass


def test_the_one_not_used_for_longest_is_stopped() -> None:
    sessions = SessionCache(capacity=2)
    a, b = sessions.get("a", Thing, Thing), sessions.get("b", Thing, Thing)
    assert sessions.get("a", Thing, Thing) is a
    c = sessions.get("c", Thing, Thing)
    assert (a.stopped, b.stopped, c.stopped) == (False, True, False)
    assert sessions.get("b", Thing, Thing) is not b


def test_keys_are_those_of_a_kind_and_the_end_stops_all() -> None:
    sessions = SessionCache()
    thing, other = sessions.get(1, Thing, Thing), sessions.get(1, OtherThing, OtherThing)
    assert thing is not other
    sessions.stop()
    assert thing.stopped
    assert sessions.get(1, Thing, Thing) is not thing


def test_a_dropped_session_is_stopped_and_made_anew() -> None:
    sessions = SessionCache()
    first = sessions.get("a", Thing, Thing)
    sessions.drop("a", Thing, first)
    second = sessions.get("a", Thing, Thing)
    sessions.drop("a", Thing, first)  # by somebody who comes later, for the same reason
    assert (first.stopped, second.stopped, sessions.get("a", Thing, Thing) is second) == (True, False, True)
