"""Sections of a thread that no exception from outside interrupts."""

import threading

import pytest

from mindinsight.server.files.critical_section import Interruption, critical_section


class Ended(BaseException):
    pass


def test_the_exception_comes_at_the_end_of_the_outermost_section() -> None:
    interruption, done = Interruption(Ended), list[str]()
    interruption.admit()
    with pytest.raises(Ended), critical_section:
        with critical_section:
            interruption.raise_in(threading.get_ident())
            done.append("inner")
        done.append("outer")
    assert done == ["inner", "outer"]
    with critical_section:  # it comes once
        pass
    Interruption(Ended).admit()


def test_outside_of_sections_it_comes_at_once() -> None:
    interruption, caught = Interruption(Ended), threading.Event()
    working = threading.Event()

    def work() -> None:
        interruption.admit()
        with critical_section:
            pass
        try:
            while True:
                working.set()
        except Ended:
            caught.set()

    thread = threading.Thread(target=work)
    thread.start()
    working.wait()
    interruption.raise_in(thread.ident or 0)
    assert caught.wait(30)
    thread.join()


def test_an_exception_for_one_thread_leaves_the_sections_of_others_alone() -> None:
    interruption = Interruption(Ended)
    thread = threading.Thread(target=interruption.admit)
    thread.start()
    thread.join()
    with critical_section:
        interruption.raise_in(0)  # no thread has this identifier
