"""``python -m benchmarks.cluster``: a comparison of dumps by a Dask cluster of this machine.

Needs ``pip install -e '.[cluster]'``. Two dumps of ``--ranks`` times ``--steps`` times ``--tensors`` tensors
are compared, tensor by tensor, by the local pool and by clusters of 1, 2 and 4 worker processes; all rows
must be equal to the last bit. The table goes to ``benchmarks/results/cluster.md``.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import resource
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mindinsight.server.compute.cluster_executor import ClusterExecutor
from mindinsight.server.compute.worker_pool import WorkerPool
from mindinsight.server.debug.compare.step_comparison import common_steps, compare_steps
from mindinsight.server.formats.dumps import open_dump

RESULT = Path(__file__).with_name("results") / "cluster.md"
LINKS = 20_000  # hard links of one file: fewer than any file system allows
WORKERS = (1, 2, 4)


class Measurement(NamedTuple):
    """What a comparison of all tensors took."""

    by: str
    rows: int
    seconds: float
    server: float  # CPU seconds of the process that shows the rows
    workers: float  # CPU seconds of all others
    digest: str


def write_dump(folder: Path, ranks: int, steps: int, tensors: int, noise: float) -> Path:
    """A dump in MindSpore's synchronous layout; equal tensors are one file with many names."""
    chance = np.random.default_rng(1)
    values = [chance.standard_normal((32, 32)).astype(np.float32) for _ in range(tensors)]
    sources: list[Path] = []
    count = 0
    for rank in range(ranks):
        for step in range(steps):
            target = folder / f"rank_{rank}" / "net" / "0" / str(step)
            target.mkdir(parents=True)
            for number in range(tensors):
                if count % (LINKS * tensors) < tensors:
                    sources[number:] = [folder / f"source{count}.npy"]
                    np.save(sources[number], values[number] + np.float32(noise * (number % 3)))
                name = f"MatMul.op{number}.0.0.{1_700_000_000_000_000 + count}.output.0.DefaultFormat.npy"
                os.link(sources[number], target / name)
                count += 1
    return folder


def compared(first: Path, second: Path, executor: Executor) -> Iterator[str]:
    """Every row of the comparison, rank by rank and step by step, as text."""
    target, reference = open_dump(first), open_dump(second)
    for comparison in compare_steps(target, reference, common_steps(target, reference), None, executor):
        yield from map(repr, comparison.rows)


def measure(by: str, executor: Executor, first: Path, second: Path) -> Measurement:
    digest, rows = hashlib.sha256(), 0
    own, others, began = time.process_time(), _children(), time.perf_counter()
    for row in compared(first, second, executor):
        digest.update(row.encode())
        rows += 1
    seconds, server = time.perf_counter() - began, time.process_time() - own
    executor.shutdown()
    return Measurement(by, rows, seconds, server, _children() - others, digest.hexdigest()[:12])


def _children() -> float:
    """CPU seconds of the processes below this one that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure_cluster(workers: int, first: Path, second: Path) -> Measurement:
    from distributed import LocalCluster

    others = _children()
    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster:
        executor = ClusterExecutor(cluster.scheduler_address, [first, second])
        executor.submit(abs, -1).result()
        result = measure(f"cluster of {workers}", executor, first, second)
    return result._replace(workers=_children() - others)


def table(measurements: Sequence[Measurement]) -> str:
    lines = ["| compared by | tensors | wall s | tensors/s | CPU s, server | CPU s, workers | digest |"]
    lines.append("|---|---|---|---|---|---|---|")
    lines += [
        f"| {m.by} | {m.rows:,} | {m.seconds:.1f} | {m.rows / m.seconds:,.0f} "
        f"| {m.server:.1f} | {m.workers:.1f} | `{m.digest}` |"
        for m in measurements
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--steps", type=int, default=25)
    parser.add_argument("--tensors", type=int, default=40)
    parser.add_argument("--workers", type=int, nargs="*", default=WORKERS)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="cluster-", dir=options.folder))
    try:
        shape = options.ranks, options.steps, options.tensors
        first, second = write_dump(folder / "a", *shape, 0), write_dump(folder / "b", *shape, 1e-3)
        count = os.cpu_count() or 1
        results = [measure(f"{count} local processes", WorkerPool(count, isolated=True), first, second)]
        results += [measure_cluster(workers, first, second) for workers in options.workers]
    finally:
        shutil.rmtree(folder)
    assert len({m.digest for m in results}) == 1, results
    RESULT.write_text(f"# Comparison of dumps by a cluster\n\n{table(results)}\n")
    print(table(results))


if __name__ == "__main__":
    main()
