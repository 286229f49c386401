"""How long a request for a loaded series takes while eight million points are being loaded."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import numpy as np

from benchmarks import workloads
from benchmarks.servers import Ours, timed_requests

LOADED = "run_0"


def measure() -> list[float]:
    """Seconds of each request, from before the other runs of W1 appear until all are loaded."""
    source = workloads.folder("w1", "mindspore")
    runs = sorted(path.name for path in source.iterdir())
    with tempfile.TemporaryDirectory(prefix="benchmark-", dir=workloads.DATA) as folder:
        base = Path(folder) / "base"
        base.mkdir()
        _add(source, base, LOADED)
        with Ours(base, Path(folder) / "workspace", "--no-cache") as server:
            server.wait(1)
            path = f"/v2/scalar/series?px=600&run={quote(f'./{LOADED}')}&tag={quote('train/loss_1')}"
            timed_requests(server, [path] * 20)
            for name in runs:
                if name != LOADED:
                    _add(source, base, name)
            return list(_until_loaded(server, path, len(runs)))


def _until_loaded(server: Ours, path: str, runs: int) -> Iterator[float]:
    loaded = False
    while not loaded:
        yield from timed_requests(server, [path] * 5)[0]
        loaded = server.loaded(runs)


def _add(source: Path, base: Path, name: str) -> None:
    """A run appears whole: its file is linked, and takes no room."""
    (base.parent / name).mkdir()
    for file in (source / name).iterdir():
        os.link(file, base.parent / name / file.name)
    (base.parent / name).rename(base / name)


def main() -> None:
    times = measure()
    p50, p95 = np.percentile(times, [50, 95])
    print(f"{len(times)} requests: p50 {1000 * p50:.1f} ms, p95 {1000 * p95:.1f} ms")


if __name__ == "__main__":
    main()
