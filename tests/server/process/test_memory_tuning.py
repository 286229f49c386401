"""What a server's process does before and after its imports; each in a process of its own."""

import json
import subprocess
import sys
import weakref
from typing import Any

import pytest

from mindinsight.server.process.memory_tuning import FEWEST, MemoryRelease, trim


@pytest.mark.parametrize(
    ("connections", "releases"),
    [
        ([0, 1, 2, 0, 0], 0),
        ([FEWEST - 1, 0, 0], 0),
        ([FEWEST, 0, 0, 0], 1),
        ([FEWEST, FEWEST // 2, FEWEST // 2], 0),
        ([300, 70, 70, 70], 1),
        ([300, 3, 3, 300, 3, 3], 2),
    ],
)
def test_memory_is_released_once_after_a_crowd(connections: Any, releases: int) -> None:
    counts = []
    release = MemoryRelease(lambda: counts.append(1))
    for number in connections:
        release.observe(number)
    assert len(counts) == releases


class Cyclic:
    def __init__(self) -> None:
        self.itself = self


def test_trim_collects_objects_that_refer_to_themselves() -> None:
    left = weakref.ref(Cyclic())
    trim()
    assert left() is None


TOLD = """
import gc, json, os, sys
from mindinsight.server.process.memory_tuning import after_imports, before_imports
from mindinsight.server.commands import start
early = "numpy" in sys.modules
before_imports()
collecting = gc.isenabled()
import numpy
threads = len(os.listdir("/proc/self/task")), os.environ["OPENBLAS_NUM_THREADS"]
after_imports()
print(json.dumps([early, collecting, threads, gc.isenabled(), gc.get_threshold()[0], gc.get_freeze_count()]))
"""


def state_of_process(**environ: Any) -> Any:
    command = [sys.executable, "-c", TOLD]
    return json.loads(subprocess.run(command, env=environ, capture_output=True, text=True, check=True).stdout)


def test_nothing_is_collected_while_loading_and_numpy_starts_no_threads() -> None:
    early, collecting, threads, *_ = state_of_process()
    assert not early, "the command has loaded numpy before it was told anything"
    assert not collecting
    assert threads == [1, "1"]


def test_what_is_loaded_is_not_looked_through_again() -> None:
    *_, collecting, threshold, frozen = state_of_process()
    assert collecting
    assert threshold > 700
    assert frozen > 10_000


def test_who_wants_threads_may_say_so() -> None:
    *_, (_, wanted), _, _, _ = state_of_process(OPENBLAS_NUM_THREADS="3")
    assert wanted == "3"
