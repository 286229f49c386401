"""The server and its workers die at any moment; what they show afterwards is what is in the files."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mindinsight.proto.framing import decode_header, decode_payload
from mindinsight.proto.summary_pb2 import Event
from mindinsight.server.ingest.loader import INLINE
from tests.thoroughness import amount

PROMISED = 2  # s, docs/writer.md: what was recorded before that is in the file
TRAINING = """
import sys
import numpy as np
from mindinsight.writer import SummaryRecord
with SummaryRecord(sys.argv[1]) as record:
    for step in range(10**9):
        for number in range(20):
            record.add_value("scalar", f"loss{number}", 1.0)
        record.record(step)
        np.ones((200, 200)) @ np.ones((200, 200))
"""


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


def test_a_hang_up_ends_a_server_as_a_request_to_end_does(base: Any, server: Any, wait: Any) -> None:
    base.run("a")
    server.start()
    assert server.shows(a=99) is True
    below = server.children()
    server.process.send_signal(signal.SIGHUP)
    assert server.process.wait(60) == 0
    assert wait(lambda: not any(alive(pid) for pid in below))
    assert not list((server.workspace.parent / "state" / "mindinsight").glob("*.json"))


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
    assert wait(lambda: server.steps() == wanted, 120, server.steps)
    health = server.get("health")
    assert (health["files_unreadable"], health["damaged_stretches"]) == (0, 0)
    assert health["points"] == 5 * 60


def test_workers_that_are_stopped_do_not_keep_the_server_from_ending(
    base: Any, server: Any, wait: Any
) -> None:
    os.truncate(base.run("a"), INLINE + (64 << 20))
    server.start()
    wait(lambda: server.runs() and all(run["read"] >= run["total"] > 0 for run in server.runs().values()))
    stopped = wait(
        server.workers
    )  # which have begun: one that is stopped before is not known to its server yet
    assert stopped
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    assert server.get("health")["status"] == "ok"
    assert server.stop() == 0
    assert wait(lambda: not any(alive(pid) for pid in stopped))


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """So many processes that compute, beside whatever else the machine does."""
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def test_a_killed_training_loses_two_seconds_at_most(tmp_path: Path, wait: Any) -> None:
    """With ``make thorough`` at a load average above 10; in ``make test`` others may delay it."""
    chance = random.Random(2)
    with busy(amount(12, 0)):
        for number in range(amount(15, 1)):
            run = tmp_path / str(number)
            training = subprocess.Popen([sys.executable, "-c", TRAINING, str(run)])
            try:
                assert wait(lambda run=run: any(path.stat().st_size for path in run.glob("*MS")), 120)
                time.sleep(chance.uniform(2, 4))
            finally:
                killed = time.time()
                training.kill()
                training.wait()
            (path,) = run.glob("*MS")
            assert killed - last_event(path).wall_time <= amount(PROMISED, 5 * PROMISED)


def last_event(path: Path) -> Event:
    """The event of the last record that is whole; every one before it is."""
    data, at, payload = path.read_bytes(), 0, b""
    while (size := decode_header(data[at : at + 12].ljust(12))) is not None and at + 16 + size <= len(data):
        payload = decode_payload(data[at + 12 : at + 16 + size]) or b""
        at += 16 + size
    return Event.FromString(payload)


def alive(pid: Any) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
