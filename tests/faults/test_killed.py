"""The server and its workers die at any moment; what they show afterwards is what is in the files."""

import contextlib
import os
import random
import signal
import time
from typing import Any

from mindinsight.server.ingest.dispatcher import INLINE


def test_a_server_killed_at_any_moment_starts_again_with_the_same_data(base: Any, server: Any) -> None:
    chance, end = random.Random(1), 0
    for _ in range(2):
        for name in ("a", "b", "c"):
            base.run(name, end, end + 20_000)
        end += 20_000
        server.start()
        time.sleep(chance.uniform(0, 0.6))
        server.kill()
    server.start()
    assert server.shows(a=end - 1, b=end - 1, c=end - 1) is True
    assert all(run["damage"] == 0 for run in server.runs().values())
    assert server.get("v2/scalar/series?run=./a&tag=loss&px=0")["series"][0]["count"] == end


def test_workers_end_with_a_killed_server(base: Any, server: Any, wait: Any) -> None:
    os.truncate(base.run("a"), INLINE + (64 << 20))  # so much to read, as it seems, that workers are started
    server.start()
    below = wait(server.children, 10)
    assert below
    server.kill()
    assert wait(lambda: not any(alive(pid) for pid in below))


def test_workers_killed_again_and_again_cost_nothing_but_time(base: Any, server: Any, wait: Any) -> None:
    """With them the process that begins new ones. Somebody who goes on for long is waited for."""
    for name in "abcde":
        # of so many bytes that workers read them
        base.run(name, 0, 0).write_bytes(b"".join(base.heavy(step, INLINE // 256) for step in range(60)))
    wanted = {f"./{name}": 59 for name in "abcde"}
    server.start(workers=2, cache=False)
    killed = wait(server.children)
    assert killed
    while len(killed) < 12 and server.get("health")["points"] < 5 * 60:
        for pid in server.children():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            killed.add(pid)
    assert wait(lambda: server.steps() == wanted, 120), server.steps()
    health = server.get("health")
    assert (health["files_unreadable"], health["damaged_stretches"]) == (0, 0)
    assert health["points"] == 5 * 60


def test_workers_that_are_stopped_do_not_keep_the_server_from_ending(
    base: Any, server: Any, wait: Any
) -> None:
    os.truncate(base.run("a"), INLINE + (64 << 20))
    server.start()
    stopped = wait(server.workers)
    assert stopped
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    assert server.get("health")["status"] == "ok"
    assert server.stop() == 0
    assert wait(lambda: not any(alive(pid) for pid in stopped))


def alive(pid: Any) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
