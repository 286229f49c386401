"""Files that a reader never comes to the end of: other requests are answered, and the server can be ended."""

import os
import shutil
import threading
import urllib.error
import zipfile
from pathlib import Path

import pytest

DATA = Path(__file__).parents[1] / "data" / "dumps"
AT_ONCE = 20


def fifo(base):
    """A dump whose statistics are a pipe that nobody writes to."""
    with zipfile.ZipFile(DATA / "samples" / "ms_sync_full_stats.zip") as archive:
        archive.extractall(base / "dump")
    for path in list((base / "dump").rglob("statistic.csv")):
        path.unlink()
        os.mkfifo(path)
    return "v2/dump/tensors?dump={dump}&step={step}"


def sparse(base):
    """A file of weights of a terabyte of nothing."""
    shutil.copytree(DATA / "ckpt", base / "weights")
    with (base / "weights" / "large.ckpt").open("wb") as file:
        file.truncate(1 << 40)
    return "v2/dump/checkpoint?file=./weights/large.ckpt"


@pytest.mark.parametrize("make", [fifo, sparse])
def test_twenty_requests_for_it_keep_nobody_waiting(base, server, wait, make):
    base.run("run")
    path = make(base.path)
    server.start(deadline=5.0)
    assert wait(lambda: server.steps() and server.steps().get("./run") == 99)
    if "{dump}" in path:
        assert wait(lambda: server.get("v2/dump/list")["dumps"])
        dump = server.get("v2/dump/list")["dumps"][0]["id"]
        step = server.get(f"v2/dump/summary?dump={dump}")["ranks"][0]["steps"][0]
        path = path.format(dump=dump, step=step)
    statuses = []

    def ask():
        try:
            server.get(path)
            statuses.append(200)
        except urllib.error.HTTPError as error:
            statuses.append(error.code)

    threads = [threading.Thread(target=ask) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for _ in range(10):  # while they wait
        assert server.get("health")["status"] == "ok"
        assert server.get("v2/scalar/series?run=./run&tag=loss")
        assert server.runs()
    for thread in threads:
        thread.join(120)
    assert len(statuses) == AT_ONCE
    assert set(statuses) <= {200, 422, 503}
    assert server.stop() == 0
