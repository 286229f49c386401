"""``python -m benchmarks``: the index beside its peers, written to ``benchmarks/results/index.md``.

Environments with the peers (``pip install tensorboard``; ``pip install mindinsight``) are given by option;
one that is not given is left out. It takes a quarter of an hour, and a machine with nothing else to do.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import tempfile
from pathlib import Path

from benchmarks.index import Contest, Row, measure

RESULT = Path(__file__).with_name("results") / "index.md"
COLUMNS = ("work", "tensorboard", "mindinsight", "ours", "promised")


def load() -> str:
    return ", ".join(f"{one:.1f}" for one in os.getloadavg())


def machine() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return f"{model or platform.machine()}, {os.cpu_count()} cores, CPython {platform.python_version()}"


def version(name: str, python: Path | None) -> str:
    if python is None:
        return f"no {name}"
    code = f"import importlib.metadata as m; print(m.version('{name}'))"
    ran = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return f"{name} {ran.stdout.strip()}"


def line(row: Row) -> str:
    return f"| {' | '.join(getattr(row, column) for column in COLUMNS)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tensorboard", type=Path, metavar="PYTHON")
    parser.add_argument("--mindinsight", type=Path, metavar="PYTHON")
    pythons = parser.parse_args()
    before, lines = load(), []
    with tempfile.TemporaryDirectory(prefix="benchmark-") as scratch:
        for row in measure(Contest(pythons.tensorboard, pythons.mindinsight, Path(scratch))):
            lines.append(line(row))
            print(lines[-1], flush=True)
    peers = f"{version('tensorboard', pythons.tensorboard)}, {version('mindinsight', pythons.mindinsight)}"
    RESULT.write_text(
        "# The index beside its peers\n\n"
        f"{machine()}; load {before} before, {load()} after. {peers}.\n"
        "Made by `python -m benchmarks`; what is measured is told in `benchmarks/index.py`, on what in\n"
        "`benchmarks/workloads.py`.\n\n"
        "| work | TensorBoard | MindInsight | ours | promised |\n|---|---|---|---|---|\n"
        + "".join(f"{one}\n" for one in lines)
    )


if __name__ == "__main__":
    main()
