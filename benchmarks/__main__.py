"""``python -m benchmarks``: the index beside its peers, written to ``benchmarks/results/index.md``.

It takes twelve minutes, most of them the peers' own, and a machine with nothing else to do. The peers are
installed by itself, each into an environment of its own. ``--only w1 w3`` measures some rows and writes
nothing; ``--without mindinsight`` leaves a peer out.
"""

from __future__ import annotations

import argparse
import compileall
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.environments import PACKAGES, python_with
from benchmarks.index import MEASURES, Contest, Row
from mindinsight.server.process.memory_tuning import after_imports

ROOT = Path(__file__).parents[1]
RESULT = Path(__file__).with_name("results") / "index.md"
COLUMNS = ("work", "tensorboard", "mindinsight", "ours", "promised")
HEAD = "| work | TensorBoard | MindInsight | ours | promised |\n|---|---|---|---|---|"


def build_ours() -> None:
    """Ours as pip installs it, with bytecode and the bundle of the pages' scripts; a checkout has neither."""
    subprocess.run(["make", "--silent", "bundle"], cwd=ROOT, check=True)
    for folder in ("proto", "server", "web", "writer"):
        compileall.compile_dir(ROOT / folder, quiet=1)


def load() -> str:
    return ", ".join(f"{average:.1f}" for average in os.getloadavg())


def machine() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return f"{model or platform.machine()}, {os.cpu_count()} cores, CPython {platform.python_version()}"


def version(name: str, python: Path | None) -> str:
    if python is None:
        return f"no {name}"
    distribution = PACKAGES[name][0].partition("==")[0]
    code = f"import importlib.metadata as m; print(m.version('{distribution}'))"
    ran = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return f"{name} {ran.stdout.strip()}"


def line(row: Row) -> str:
    return f"| {' | '.join(getattr(row, column) for column in COLUMNS)} |"


def measured(contest: Contest, names: list[str]) -> Iterator[str]:
    """The lines of the table, each printed as soon as it is known; what is going on is told beside them."""
    began = time.monotonic()
    for name in names:
        print(f"[{time.monotonic() - began:4.0f} s] {name}", file=sys.stderr, flush=True)
        for row in MEASURES[name](contest):
            print(line(row), flush=True)
            yield line(row)
    print(f"[{time.monotonic() - began:4.0f} s] done", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=tuple(MEASURES), help="rows to measure; nothing is kept")
    parser.add_argument("--without", nargs="+", choices=tuple(PACKAGES), default=(), help="peers left out")
    options = parser.parse_args()
    for name in (signal.SIGTERM, signal.SIGHUP):  # to leave by the doors, at which servers are ended
        signal.signal(name, lambda number, _: sys.exit(128 + number))
    pythons = {name: None if name in options.without else python_with(name) for name in PACKAGES}
    build_ours()
    after_imports()  # what is measured in this process, as in a server's
    before = load()
    print(HEAD, flush=True)
    with tempfile.TemporaryDirectory(prefix="benchmark-") as scratch:
        contest = Contest(pythons["tensorboard"], pythons["mindinsight"], Path(scratch))
        lines = list(measured(contest, options.only or list(MEASURES)))
    if options.only:
        return
    peers = ", ".join(version(name, python) for name, python in pythons.items())
    RESULT.write_text(
        "# The index beside its peers\n\n"
        f"{machine()}; load {before} before, {load()} after. {peers}.\n"
        "Made by `python -m benchmarks`; what is measured is told in `benchmarks/index.py`, on what in\n"
        f"`benchmarks/workloads.py`.\n\n{HEAD}\n" + "".join(f"{line}\n" for line in lines)
    )


if __name__ == "__main__":
    main()
