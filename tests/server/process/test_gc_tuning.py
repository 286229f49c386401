"""What a server's process does before and after its imports; each in a process of its own."""

import json
import subprocess
import sys
from typing import Any

TOLD = """
import gc, json, os, sys
from mindinsight.server.process.gc_tuning import after_imports, before_imports
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
