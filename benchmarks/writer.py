"""What recording costs a training loop: our writer beside MindSpore's, torch's and tensorboardX's.

Each peer runs in its own environment, given as ``--peer name=python``::

    python benchmarks/writer.py --peer mindspore=/envs/ms/bin/python --peer torch=/envs/torch/bin/python \
        --peer tensorboardX=/envs/torch/bin/python

Prints a Markdown table.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

LOOPS = Path(__file__).with_name("writer_loops.py")
ROWS = [
    ("one scalar and record, thread, µs", lambda figures: figures["one"]["thread"]),
    ("a scalar of ten a step, thread, µs", lambda figures: figures["ten"]["thread"]),
    ("one scalar and record, all threads and processes, µs", lambda figures: figures["one"]["all"]),
    ("a scalar of ten a step, all threads and processes, µs", lambda figures: figures["ten"]["all"]),
    ("one scalar and record, 999 of 1000 within, wall, µs", lambda figures: figures["one"]["slow"]),
    ("bytes a scalar, ten a step", lambda figures: figures["ten"]["bytes"]),
    ("histogram of 1 M float32, thread, ms", lambda figures: figures["histogram"]),
    ("image 256×256 RGB, thread, ms", lambda figures: figures["image"]),
    ("tensor of 1 MB, thread, ms", lambda figures: figures["tensor"]),
    ("start, import and first record, process, CPU s", lambda figures: figures["first"]),
]


def measure(name, python):
    """The figures of one writer, each of two parts in a process of its own."""
    figures: dict[str, Any] = {}
    for what in ("first", "loops"):
        with tempfile.TemporaryDirectory() as directory:
            ran = subprocess.run(
                [python, LOOPS, name, directory, what],
                check=True, stdout=subprocess.PIPE, text=True, cwd=directory,
            )  # fmt: skip
        figures |= json.loads(ran.stdout.splitlines()[-1])
    return figures


def cell(value):
    return "–" if value is None else f"{value:.3g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON")
    pythons = {"ours": sys.executable, **dict(peer.split("=", 1) for peer in parser.parse_args().peer)}
    columns = {name: measure(name, python) for name, python in pythons.items()}
    print(f"CPython {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}\n")
    print(f"| | {' | '.join(columns)} |")
    print(f"|---|{'---:|' * len(columns)}")
    for title, figure in ROWS:
        print(f"| {title} | {' | '.join(cell(figure(figures)) for figures in columns.values())} |")


if __name__ == "__main__":
    main()
