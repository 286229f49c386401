"""The newcomer's minute: from ``pip install`` to the first chart of fifty runs, ours beside TensorBoard.

``python -m benchmarks.newcomer`` prints a Markdown table and writes it to ``benchmarks/results/newcomer.md``.
Both packages are installed from the registry into fresh virtual environments without pip's cache of wheels,
ours from a wheel that is built first. The runs are fifty of W2 in TensorBoard's format. A chart is answered
when the server that was just started has listed every run and gives the points of one tag of each.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks import workloads
from benchmarks.servers import Ours, Server, TensorBoard

ROOT = Path(__file__).parents[1]
RESULT = Path(__file__).with_name("results") / "newcomer.md"
RUNS = 50
ROUNDS = 3
TAG = "train/loss_1"
PATIENCE = 120.0  # seconds


@dataclass(frozen=True)
class Installed:
    """An environment, and what it took to make it."""

    python: Path
    seconds: float  # wall
    cpu: float
    packages: int
    size: float  # MB


def install(folder: Path, requirement: str | Path) -> Installed:
    """A fresh environment with a package and all it needs; seconds are those of ``pip install``."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    before, size = _cpu_of_children(), _size(folder)
    began = time.monotonic()
    options = ["--quiet", "--no-cache-dir", str(requirement)]
    subprocess.run([str(python), "-m", "pip", "install", *options], check=True)
    seconds, cpu = time.monotonic() - began, _cpu_of_children() - before
    packages = len(list(folder.glob("lib/python*/site-packages/*.dist-info")))
    return Installed(python, seconds, cpu, packages, (_size(folder) - size) / 1e6)


def _cpu_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*"))


def link_runs(base: Path) -> list[str]:
    """Some runs of W2, linked into ``base``; their names."""
    source = workloads.folder("w2", "tensorboard")
    names = sorted(path.name for path in source.iterdir())[:RUNS]
    for name in names:
        (base / name).mkdir(parents=True)
        for file in (source / name).iterdir():
            os.link(file, base / name / file.name)
    return names


def first_chart(begin: Callable[[], Server], names: list[str]) -> tuple[float, float]:
    """Wall and CPU seconds from the start of a server until one tag of every run was answered."""
    began = time.monotonic()
    with begin() as server:
        while not _answered(server, names):
            if time.monotonic() - began > PATIENCE:
                raise TimeoutError(f"{server.name} has not answered")
            time.sleep(0.02)
        return time.monotonic() - began, server.cpu()


def _answered(server: Server, names: list[str]) -> bool:
    try:
        if not server.loaded(len(names)):
            return False
        for path in server.first_page:
            server.get_bytes(path)
        for name in names:
            server.get_bytes(server.series(name, TAG))
    except (OSError, ValueError, KeyError):
        return False
    return True


def row(name: str, installed: Installed, charts: list[tuple[float, float]]) -> str:
    wall, cpu = (statistics.median(values) for values in zip(*charts, strict=True))
    first, median = charts[0][0], f"{wall:.1f} ({cpu:.1f})"
    return (
        f"| {name} | {installed.seconds:.1f} ({installed.cpu:.1f}) | {installed.packages} | "
        f"{installed.size:.0f} | {first:.1f} | {median} | {installed.seconds + first:.1f} |"
    )


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="benchmark-", dir=workloads.DATA) as scratch:
        folder = Path(scratch)
        options = ["--quiet", "--no-deps", "-w", str(folder), str(ROOT)]
        subprocess.run([sys.executable, "-m", "pip", "wheel", *options], check=True)
        base = folder / "runs"
        names = link_runs(base)
        ours = install(folder / "ours", next(folder.glob("mindinsight-*.whl")))
        theirs = install(folder / "theirs", "tensorboard")
        (folder / "workspaces").mkdir()
        charts: tuple[list[tuple[float, float]], ...] = ([], [])
        for number in range(ROUNDS):
            workspace = folder / "workspaces" / str(number)
            charts[0].append(first_chart(partial(Ours, base, workspace, python=ours.python), names))
            charts[1].append(first_chart(partial(TensorBoard, theirs.python, base), names))
        code = "import importlib.metadata as m; print(m.version('tensorboard'))"
        version = subprocess.run([theirs.python, "-c", code], capture_output=True, text=True, check=True)
    lines = [row("ours", ours, charts[0]), row("TensorBoard", theirs, charts[1])]
    text = (
        "# The newcomer's minute\n\n"
        f"{os.cpu_count()} cores, CPython {platform.python_version()}, "
        f"load {', '.join(f'{load:.1f}' for load in os.getloadavg())}. "
        f"mindinsight {importlib.metadata.version('mindinsight')}, tensorboard {version.stdout.strip()}.\n"
        "Made by `python -m benchmarks.newcomer`. Wall seconds, CPU seconds in brackets. "
        f"The chart: one tag of {RUNS} runs,\nanswered by a server that was just started; "
        f"the first start after the installation, and the median of {ROUNDS}.\n\n"
        "| | pip install, s | packages | MB | start to the first chart, s | median | in total |\n"
        "|---|---:|---:|---:|---:|---:|---:|\n" + "\n".join(lines) + "\n"
    )
    print(text)
    RESULT.write_text(text)


if __name__ == "__main__":
    main()
