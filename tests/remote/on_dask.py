"""Heavy work on a real Dask cluster of processes: the same results as here, whatever dies meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.server.compute.cluster_executor import ClusterError, ClusterExecutor
from mindinsight.server.debug.compare.dump_comparison import Side, compare_sides
from mindinsight.server.formats.dumps import open_dump

DATA = Path(__file__).parents[1] / "data" / "dumps"


class Cluster:
    """A scheduler and its workers, each a process of its own."""

    def __init__(self) -> None:
        self.address = ""
        self.scheduler: subprocess.Popen[str] | None = None
        self.workers: list[subprocess.Popen[str]] = []

    def start_scheduler(self, port: int = 0) -> None:
        code = (
            "import asyncio, sys\nfrom distributed import Scheduler\n"
            "async def run():\n"
            f"    async with Scheduler(host='127.0.0.1', port={port}, dashboard=False) as scheduler:\n"
            "        print(scheduler.address, flush=True)\n        await scheduler.finished()\n"
            "asyncio.run(run())"
        )
        self.scheduler = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        assert self.scheduler.stdout is not None
        self.address = self.scheduler.stdout.readline().strip()

    def start_worker(self, *options: str) -> None:
        command = [sys.executable, "-m", "distributed.cli.dask_worker", self.address]
        usual = ["--no-dashboard", "--nthreads", "1", "--no-nanny", "--death-timeout", "60"]
        self.workers.append(
            subprocess.Popen([*command, *usual, *options], text=True, stderr=subprocess.DEVNULL)
        )

    def kill(self, process: subprocess.Popen[str]) -> None:
        process.send_signal(signal.SIGKILL)
        process.wait()

    def end(self) -> None:
        for process in [*self.workers, *([self.scheduler] if self.scheduler else [])]:
            process.kill()
            process.wait()


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    cluster = Cluster()
    cluster.start_scheduler()
    try:
        yield cluster
    finally:
        cluster.end()


def executor_of(cluster: Cluster, *folders: Path) -> ClusterExecutor:
    """An executor whose cluster has its workers."""
    end = time.monotonic() + 60
    while True:
        executor = ClusterExecutor(cluster.address, folders)
        try:
            executor.submit(abs, -1).result(60)
        except ClusterError as error:
            if "no worker" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(0.2)
        else:
            return executor


def write_dump(folder: Path, noise: float) -> Path:
    """A dump of many small tensors, as MindSpore's synchronous dump names them."""
    chance = np.random.default_rng(1)
    target = folder / "rank_0" / "net" / "0" / "0"
    target.mkdir(parents=True)
    for number in range(600):
        values = chance.standard_normal((32, 32)).astype(np.float32) + np.float32(noise * (number > 300))
        np.save(
            target / f"MatMul.op{number}.0.0.{1700000000000000 + number}.output.0.DefaultFormat.npy", values
        )
    return folder


def rows_of(first: Path, second: Path, executor: Any) -> list[Any]:
    sides = [Side(open_dump(path), 0, 0) for path in (first, second)]
    return list(compare_sides(sides[0], sides[1], {}, executor))


def test_a_comparison_is_the_same_bit_for_bit(cluster: Cluster, tmp_path: Path) -> None:
    first, second = write_dump(tmp_path / "a", 0), write_dump(tmp_path / "b", 1e-3)
    for _ in range(2):
        cluster.start_worker()
    with executor_of(cluster, first, second) as executor:
        far = rows_of(first, second, executor)
    assert len(far) == 600
    assert repr(far) == repr(rows_of(first, second, None))


def test_a_worker_killed_in_the_middle_costs_nothing_but_time(cluster: Cluster, tmp_path: Path) -> None:
    for _ in range(2):
        cluster.start_worker()
    with executor_of(cluster) as executor:
        futures = [executor.submit(time.sleep, 0.2) for _ in range(30)] + [executor.submit(os.getpid)]
        time.sleep(1)
        cluster.kill(cluster.workers[0])
        assert [future.result(60) for future in futures[:-1]] == [None] * 30
        assert futures[-1].result(60) != os.getpid()


def test_a_call_that_ends_its_workers_is_an_error(cluster: Cluster) -> None:
    for _ in range(4):
        cluster.start_worker()
    with executor_of(cluster) as executor, pytest.raises(ClusterError, match="died over it"):
        executor.submit(os._exit, 1).result(120)


def test_a_scheduler_that_starts_again_is_joined_again(cluster: Cluster) -> None:
    cluster.start_worker()
    port = int(cluster.address.rpartition(":")[2])
    with executor_of(cluster) as executor:
        pending: Future[None] = executor.submit(time.sleep, 3)
        assert cluster.scheduler is not None
        cluster.kill(cluster.scheduler)
        cluster.start_scheduler(port)
        cluster.start_worker()
        end = time.monotonic() + 90
        while time.monotonic() < end:
            try:
                assert executor.submit(abs, -2).result(60) == 2
                break
            except ClusterError:
                time.sleep(0.5)
        try:
            assert pending.result(60) is None
        except ClusterError as error:
            assert "lost it" in str(error) or "no worker" in str(error) or "reached" in str(error)


def test_what_cannot_work_says_why(cluster: Cluster, tmp_path: Path) -> None:
    with ClusterExecutor(cluster.address) as executor, pytest.raises(ClusterError, match="has no worker"):
        executor.submit(abs, -1).result(60)
    cluster.start_worker()
    with executor_of(cluster):
        pass
    absent = tmp_path / "absent"
    with (
        ClusterExecutor(cluster.address, [absent]) as executor,
        pytest.raises(ClusterError, match="does not see the directory"),
    ):
        executor.submit(abs, -1).result(60)
    with (
        ClusterExecutor("tcp://127.0.0.1:9") as executor,
        pytest.raises(ClusterError, match="cannot be reached"),
    ):
        executor.submit(abs, -1).result(60)
