"""``python -m benchmarks.many_ranks``: jobs of up to thousands of ranks, and a line through what they cost.

Every rank is a run of 50 tags and 2 000 steps: 100 000 points. CPU time until all is read, memory, the list
of runs, and the ranks' view of one tag are measured at each number of ranks; a straight line is fitted and
extrapolated to 10 000 and 100 000 ranks, with its largest residual beside it.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.servers import Ours
from benchmarks.workloads import scalar_run, write_run

RESULT = Path(__file__).with_name("results") / "many_ranks.md"
RANKS = (100, 300, 1000, 3000)
LARGER = (10_000, 100_000)
TAGS, STEPS = 50, 2000


class Measurement(NamedTuple):
    """What a job costs. MB, CPU seconds, milliseconds."""

    ranks: int
    memory: float  # MB over the server on an empty directory
    reading: float  # CPU s from the start until everything is read
    again: float  # CPU s of the next start, from the index cache
    listing: float  # CPU ms of the list of runs
    view: float  # CPU ms of the ranks' view of one tag, the first time
    polling: float  # CPU ms of a second in which nothing happens


def write_job(base: Path, ranks: int) -> None:
    """Directories ``job/rank_N`` with the same records; each is a file of its own."""
    source = write_run(base / "job" / "rank_0", scalar_run(0, TAGS, STEPS, "mindspore"), "mindspore")
    for rank in range(1, ranks):
        target = base / "job" / f"rank_{rank}"
        target.mkdir()
        shutil.copyfile(source, target / source.name)


def measure(folder: Path, ranks: int) -> Measurement:
    base, workspace, empty = folder / "base", folder / "workspace", folder / "empty"
    empty.mkdir()
    write_job(base, ranks)
    with Ours(empty, folder / "other") as server:
        server.wait(0)
        bare = server.memory()
    options = ("--max-runs", "100000", "--watch", "polling")
    with Ours(base, workspace, *options) as server:
        reading = server.wait(ranks)
        memory = server.memory() - bare
        listing = _cost(server, lambda: server.get_bytes("/v2/runs"))
        tags = [row["tag"] for row in server.get("/v2/tags?kind=scalar&brief=true")["tags"]]
        paths = [f"/v2/scalar/ranks?job=./job&tag={tag}" for tag in tags[:2]]
        server.get_bytes(paths[0])  # the interface is loaded with the first question
        view = _cost(server, lambda: server.get_bytes(paths[1]))
        before = server.cpu()
        time.sleep(10)
        polling = (server.cpu() - before) * 100
    with Ours(base, workspace, *options) as server:
        again = server.wait(ranks)
    return Measurement(ranks, memory, reading, again, listing, view, polling)


def _cost(server: Ours, ask: Callable[[], object]) -> float:
    before = server.cpu()
    ask()
    return (server.cpu() - before) * 1000


def fitted(measurements: Sequence[Measurement], field: str, ranks: int) -> tuple[float, float]:
    """The value of the line through a column at so many ranks, and the largest residual as a share."""
    known = np.array([m.ranks for m in measurements], np.float64)
    values = np.array([getattr(m, field) for m in measurements], np.float64)
    weights = 1 / np.maximum(values, 1e-9)  # residuals as shares
    slope, start = np.polyfit(known, values, 1, w=weights)
    residual = float(np.max(np.abs(slope * known + start - values) / np.maximum(values, 1e-9)))
    return float(slope * ranks + start), residual


def table(measurements: Sequence[Measurement]) -> str:
    fields = Measurement._fields[1:]
    heads = (
        "memory MB",
        "reading CPU s",
        "again CPU s",
        "list CPU ms",
        "ranks' view CPU ms",
        "idle CPU ms/s",
    )
    lines = ["| ranks | " + " | ".join(heads) + " |", "|--:|" + "--:|" * len(heads)]
    for m in measurements:
        lines.append(f"| {m.ranks:,} | " + " | ".join(f"{getattr(m, field):,.1f}" for field in fields) + " |")
    for ranks in LARGER:
        values = [fitted(measurements, field, ranks)[0] for field in fields]
        lines.append(
            f"| *{ranks:,}, by the line* | " + " | ".join(f"*{value:,.0f}*" for value in values) + " |"
        )
    shares = [fitted(measurements, field, 0)[1] for field in fields]
    lines.append("| largest residual | " + " | ".join(f"{share:.0%}" for share in shares) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, nargs="+", default=RANKS)
    measurements = []
    for ranks in parser.parse_args().ranks:
        with tempfile.TemporaryDirectory(prefix="ranks-") as folder:
            measurements.append(measure(Path(folder), ranks))
        print(measurements[-1], flush=True)
    RESULT.write_text(
        f"# A job of many ranks\n\n`python -m benchmarks.many_ranks`: {TAGS} tags, {STEPS:,} steps a rank.\n"
        f"View: the ranks' view of one tag, asked for the first time.\n\n{table(measurements)}\n"
    )
    print(table(measurements))


if __name__ == "__main__":
    main()
