import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from mindinsight.server.compute.once_cache import OnceCache

PATIENCE = 60  # s


class Slow:
    """Makes a thing when told to, and counts how often it is asked to."""

    def __init__(self, thing):
        self.thing = thing
        self.asked = 0
        self.begun, self.go_on = threading.Event(), threading.Event()

    def __call__(self):
        self.asked += 1
        self.begun.set()
        assert self.go_on.wait(PATIENCE)
        if isinstance(self.thing, Exception):
            raise self.thing
        return self.thing


@pytest.fixture
def threads():
    with ThreadPoolExecutor(4) as pool:
        yield pool


def test_who_asks_meanwhile_gets_the_same_and_others_do_not_wait(threads):
    once, slow = OnceCache[object](4), Slow(object())
    first = threads.submit(once.get, "slow", slow)
    assert slow.begun.wait(PATIENCE)
    second = threads.submit(once.get, "slow", slow)
    assert threads.submit(once.get, "quick", lambda: "made").result(PATIENCE) == "made"
    assert once.made() == ["made"]
    assert not first.done() and not second.done()
    slow.go_on.set()
    assert first.result(PATIENCE) is second.result(PATIENCE) is slow.thing
    assert slow.asked == 1


def test_what_fails_fails_for_all_who_wait_and_is_tried_again(threads):
    once, slow = OnceCache[str](4), Slow(ValueError("no graph"))
    waiting = [threads.submit(once.get, "a", slow)]
    assert slow.begun.wait(PATIENCE)
    waiting.append(threads.submit(once.get, "a", slow))
    slow.go_on.set()
    for one in waiting:
        with pytest.raises(ValueError, match="no graph"):
            one.result(PATIENCE)
    assert once.made() == []
    assert once.get("a", lambda: "made") == "made"


def test_what_was_not_asked_for_longest_is_forgotten():
    once = OnceCache[str](2)
    for key in ("a", "b", "a", "c"):
        once.get(key, lambda key=key: key)
    assert once.made() == ["a", "c"]
    assert once.get("b", lambda: "again") == "again"


def test_what_is_forgotten_while_it_is_made_still_reaches_those_who_asked(threads):
    once, slow = OnceCache[str](1), Slow("slow")
    asked = threads.submit(once.get, "slow", slow)
    assert slow.begun.wait(PATIENCE)
    once.get("other", lambda: "other")
    slow.go_on.set()
    assert asked.result(PATIENCE) == "slow"
    assert once.made() == ["other"]
