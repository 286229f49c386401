"""What decoding event files costs: CPU seconds, points a second, linearity, mixed against uniform records.

``python -m benchmarks.decode`` prints a Markdown table. The figures are CPU time of one process, the least of
three rounds; files come from the page cache.
"""

from __future__ import annotations

import os
import platform
import resource
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from benchmarks import workloads
from mindinsight.server.formats.events import read_section
from mindinsight.server.ingest.loader import Loader
from mindinsight.server.process.memory_tuning import after_imports
from mindinsight.server.settings import Settings
from mindinsight.server.store.store import Store
from mindinsight.server.types import DecodedSection

PIECE = 8 << 20  # bytes read at a time
ROUNDS = 3
SIZES = (10**6, 10**7, 8 * 10**7)  # points of one run


def sections(path: Path) -> Iterable[DecodedSection]:
    """The whole file, piece by piece."""
    offset = 0
    while True:
        section = read_section(str(path), offset, PIECE)
        if section.next_offset == offset:
            return
        yield section
        offset = section.next_offset


def points_of(section: DecodedSection) -> int:
    scalars = sum(block.values.size for block in section.blocks)
    scalars += sum(rows.values.size for rows in section.rows)
    return scalars + sum(len(reference.steps) for reference in section.references)


def decode(paths: list[Path]) -> tuple[int, float]:
    """Points in the files and the least CPU seconds that reading them took."""
    seconds = []
    for _ in range(ROUNDS):
        began = time.process_time()
        points = sum(points_of(section) for path in paths for section in sections(path))
        seconds.append(time.process_time() - began)
    return points, min(seconds)


def load(name: str) -> tuple[int, float]:
    """Points of a workload and the least CPU seconds in which one process reads, decodes and keeps them."""
    rounds = [
        _loaded(Settings(workloads.folder(name, "mindspore"), Path(), reload_interval=0, cache=False))
        for _ in range(ROUNDS)
    ]
    return rounds[0][0], min(seconds for _, seconds in rounds)


def load_again(name: str) -> tuple[float, float, float]:
    """CPU seconds, the least, in which one process opens a base first and with a cache; its bytes a point."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as workspace:
        settings = Settings(workloads.folder(name, "mindspore"), Path(workspace), reload_interval=0)
        rounds = [_loaded(settings) for _ in range(ROUNDS)]
        _keep(settings)
        size = sum(path.stat().st_size for path in Path(workspace).rglob("*.pack"))
        again = min(_loaded(settings)[1] for _ in range(ROUNDS))
        return min(seconds for _, seconds in rounds), again, size / rounds[0][0]


def _keep(settings: Settings) -> None:
    """Fill the cache, as a server does that goes on."""
    store = Store()
    keeping = Loader(settings, store)
    keeping.start()
    while not (runs := store.snapshot().runs) or any(run.read < run.total for run in runs.values()):
        time.sleep(0.1)
    keeping.stop()


def _loaded(settings: Settings) -> tuple[int, float]:
    """Points, and the CPU seconds in which this process loaded them."""
    store = Store()
    began = time.process_time()
    Loader(settings, store).load()
    seconds = time.process_time() - began
    runs = store.snapshot().runs.values()
    references = [series for run in runs for tags in run.references.values() for series in tags.values()]
    points = sum(series.count for run in runs for series in run.scalars.values())
    return points + sum(series.count for series in references), seconds


def files(name: str) -> list[Path]:
    return sorted(path for path in workloads.folder(name, "mindspore").rglob("events.*") if path.is_file())


def long_run(points: int) -> Path:
    """One file of that many points, ten a step."""
    directory = workloads.DATA / f"long-{workloads.VERSION}" / str(points)
    if not directory.exists():
        partial = directory.with_suffix(".partial")
        workloads.write_run(partial, workloads.scalar_run(0, 10, points // 10, "mindspore"), "mindspore")
        partial.rename(directory)
    return next(directory.iterdir())


def row(title: str, paths: list[Path]) -> float:
    """Print one line; returns CPU seconds per point."""
    points, seconds = decode(paths)
    size = sum(path.stat().st_size for path in paths)
    print(
        f"| {title} | {points:,} | {size / 1e6:,.0f} | {seconds:.2f} | {points / seconds / 1e6:.1f} "
        f"| {seconds / points * 1e9:.0f} |"
    )
    return seconds / points


def mixed_load() -> float:
    """CPU to load a point of W6 against one of W1."""
    (points, uniform), (mixed_points, mixed) = load("w1"), load("w6")
    return (mixed / mixed_points) / (uniform / points)


def main() -> None:
    after_imports()
    print(f"CPython {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    print("| files | points | MB | CPU s | million points a second | ns a point |")
    print("|---|---:|---:|---:|---:|---:|")
    uniform = row("W1: 8 runs of 10 tags and 100 000 steps", files("w1"))
    mixed = row("W6: mixed records", files("w6"))
    row("W3: histograms, images, tensors", files("w3"))
    costs = [row(f"one run of {points:,} points", [long_run(points)]) for points in SIZES]
    print(f"\nW6 against W1 per point: {mixed / uniform:.2f} decoded, {mixed_load():.2f} loaded")
    for name in ("w1", "w2", "wide"):
        first, again, size = load_again(name)
        print(f"{name} loaded: {first:.2f} CPU s, again {again:.2f}, {size:.2f} bytes a point in the cache")
    print(f"80 M points against 1 M per point: {costs[-1] / costs[0]:.2f}")
    print(f"Most memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
