"""``python -m benchmarks.opener``: what opening files from folder to folder costs when 999 runs are loaded.

Revisions of this repository are measured in turns, each in processes of its own: the one before files were
opened by ``openat`` and without following links, the one in which they were, and the present one. Written to
``benchmarks/results/opener.md``.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tarfile
import tempfile
import time
from io import BytesIO
from pathlib import Path

from benchmarks.encoding import first_record
from benchmarks.workloads import FILE_NAME, START, folder
from mindinsight.server.files.opener import opened

ROOT = Path(__file__).parents[1]
RESULT = Path(__file__).with_name("results") / "opener.md"
REVISIONS = ("b34d414^", "b34d414", "HEAD")
SOURCES = ("proto", "server", "web", "writer")
LOAD = """
import sys, tempfile, time
from pathlib import Path
from mindinsight.server.ingest.loader import Loader
from mindinsight.server.settings import Settings
from mindinsight.server.store.store import Store
settings = Settings(Path(sys.argv[1]), Path(tempfile.mkdtemp()), reload_interval=0, cache=False)
for turn in range(2):
    store, began = Store(), time.process_time()
    Loader(settings, store).load()
    spent = time.process_time() - began
assert len(store.snapshot().runs) == int(sys.argv[2])
print(spent)
"""


def extract(revision: str, target: Path) -> dict[str, str]:
    """Put the sources of a revision into a folder; the environment in which Python finds them first."""
    packed = subprocess.run(
        ["git", "archive", revision, *SOURCES], cwd=ROOT, capture_output=True, check=True
    ).stdout
    with tarfile.open(fileobj=BytesIO(packed)) as archive:
        archive.extractall(target, filter="data")
    return {**os.environ, "PYTHONPATH": os.pathsep.join(str(target / source) for source in SOURCES)}


def named(revision: str) -> str:
    """A revision with the hash it has now."""
    command = ["git", "rev-parse", "--short", revision]
    short = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    return f"`{revision}`" if revision == short else f"`{revision}` ({short})"


def tiny_runs(base: Path, runs: int) -> Path:
    """Runs whose files hold their first record only: little but opening is done."""
    for number in range(runs):
        path = base / f"run_{number:03}" / FILE_NAME["mindspore"].format(int(START))
        path.parent.mkdir(parents=True)
        path.write_bytes(first_record(START, "mindspore"))
    return base


def load_seconds(environment: dict[str, str], base: Path, runs: int) -> float:
    """CPU seconds of one loading in a process that has loaded once before."""
    command = [sys.executable, "-c", LOAD, str(base), str(runs)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def open_microseconds(path: Path, turns: int = 20_000) -> tuple[float, float]:
    """CPU microseconds of one opening by name, and of one part by part."""
    began = time.process_time()
    for _ in range(turns):
        os.close(os.open(path, os.O_RDONLY))
    between = time.process_time()
    for _ in range(turns):
        with opened(path):
            pass
    return (between - began) / turns * 1e6, (time.process_time() - between) / turns * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--revisions", nargs="+", default=REVISIONS)
    options = parser.parse_args()
    runs = 999
    loads = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    with tempfile.TemporaryDirectory() as scratch:
        bases = {
            "999 runs × 5 tags × 1 000 steps": folder("w2", "mindspore"),
            "999 runs of one record": tiny_runs(Path(scratch, "tiny"), runs),
        }
        environments = {
            revision: extract(revision, Path(scratch, str(number)))
            for number, revision in enumerate(options.revisions)
        }
        seconds: dict[tuple[str, str], list[float]] = {}
        for _ in range(options.rounds):
            for what, base in bases.items():
                for revision, environment in environments.items():
                    spent = load_seconds(environment, base, runs)
                    seconds.setdefault((what, revision), []).append(spent)
        plain, by_parts = open_microseconds(next(bases["999 runs of one record"].rglob("*_MS")))
    rows = [
        f"| {what} | " + " | ".join(f"{min(seconds[what, revision]):.3f}" for revision in environments) + " |"
        for what in bases
    ]
    lines = [
        "# Cost of opening files part by part",
        "",
        f"{platform.machine()}, {os.cpu_count()} cores, CPython {platform.python_version()}; "
        f"load {loads} before. Made by `python -m benchmarks.opener`:",
        f"CPU seconds of a loading in one process, the least of {options.rounds} in turns.",
        "",
        f"One opening by name costs {plain:.1f} µs of CPU, one part by part {by_parts:.1f} µs.",
        "",
        "| loaded | " + " | ".join(map(named, environments)) + " |",
        "|---|" + "---:|" * len(environments),
        *rows,
        "",
    ]
    RESULT.write_text("\n".join(lines), encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
