"""One run of a billion points: what indexing it costs, and what opening it again costs.

    python -m benchmarks.billion [--tags 10000] [--steps 100000] [--folder DIRECTORY] [--keep]

The run is one file of MindSpore's format, 37 bytes a point, written first. The disk must hold it and the
index cache, about five bytes a point. With fewer steps the figures per point are those of the smaller run.
CPU seconds and memory (PSS, watched all the time) are those of the server and all its processes.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks import workloads
from benchmarks.servers import Ours

_FILE: Final = 38  # bytes of a point in the file
_CACHE: Final = 6  # and in the index cache
_WATCH: Final = 0.25  # seconds between two looks at the memory


def run_of(tags: int, steps: int, folder: Path) -> Path:
    """Return the base directory with the run, written if missing. Raises OSError without room for it."""
    target = folder / f"{tags}x{steps}-{workloads.VERSION}"
    if not target.exists():
        folder.mkdir(parents=True, exist_ok=True)
        needed, free = tags * steps * (_FILE + _CACHE), shutil.disk_usage(folder).free
        if needed > free:
            raise OSError(f"{folder} has {free / 1e9:.1f} GB free, {needed / 1e9:.1f} GB are needed")
        partial = target.with_suffix(".partial")
        records = workloads.scalar_run(9, tags, steps, "mindspore", workloads.LAYERS)
        workloads.write_run(partial / "wide", records, "mindspore")
        partial.rename(target)
    return target


@contextmanager
def watched(server: Ours) -> Iterator[list[float]]:
    """Yield a list that fills with the memory of a server in MB while the block runs."""
    seen, ended = [0.0], threading.Event()

    def watch() -> None:
        while not ended.wait(_WATCH):
            seen.append(server.memory())

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield seen
    finally:
        ended.set()
        thread.join()


def opened(base: Path, workspace: Path, points: int, name: str) -> str:
    """Return the row of one start of the server."""
    began = time.monotonic()
    with Ours(base, workspace) as server, watched(server) as memory:
        server.patience = 8 * 3600
        while not server.is_loaded(1):
            time.sleep(0.05)
        wall, loading = time.monotonic() - began, server.cpu()
        tag = workloads.LAYERS.format(layer=0, block=7)
        began = time.monotonic()
        server.get_bytes(server.series("wide", tag).replace("px=0", "px=600"))
        chart = time.monotonic() - began
        everything = server.wait(1)
        time.sleep(6)  # until the cache is written
        everything = max(everything, server.cpu())
    microseconds = everything / points * 1e6
    return (
        f"| {name} | {wall:.1f} | {loading:.2f} | {everything:.2f} | {microseconds:.3f} | {chart:.2f} "
        f"| {max(memory):.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tags", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--folder", type=Path, default=workloads.DATA / "billion")
    parser.add_argument("--keep", action="store_true", help="keep the run for the next time")
    options = parser.parse_args()
    points = options.tags * options.steps
    base = run_of(options.tags, options.steps, options.folder)
    with tempfile.TemporaryDirectory(prefix="benchmark-", dir=options.folder) as workspace:
        print(f"{platform.python_version()}, {os.cpu_count()} cores, {points:,} points\n")
        print(
            "| start | loaded, wall s | CPU s until then | CPU s in all | us a point | chart, s | most MB |"
        )
        print("|---|---:|---:|---:|---:|---:|---:|")
        for name in ("first", "again"):
            print(opened(base, Path(workspace), points, name), flush=True)
        cache = sum(path.stat().st_size for path in Path(workspace).glob("cache/*/*.*"))
        print(f"\n{cache / points:.2f} bytes a point in the index cache, load {os.getloadavg()[0]:.1f}")
    if not options.keep:
        shutil.rmtree(base)


if __name__ == "__main__":
    main()
