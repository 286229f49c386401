"""Forks writing processes and kills each at a random moment. Run by test_crash.py, as a process of its own.

Arguments: directory, number of processes, seed. Prints one JSON object per process: its directory and the
last step it had flushed when it was killed.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from mindinsight.writer import SummaryRecord


def write_for_ever(directory: Any, progress: Any) -> None:
    record = SummaryRecord(directory, flush_seconds=0.002, max_file_size=300_000)
    weights = np.linspace(0, 1, 5000)
    step = 0
    while True:
        record.add_value("scalar", "loss", float(step))
        if step % 10 == 0:
            record.add_value("tensor", "weights", weights)
            record.add_value("histogram", "weights", weights)
        record.record(step)
        if step % 37 == 0:
            record.flush()
            os.write(progress, step.to_bytes(8, "little"))
        step += 1


def killed_after(directory: Any, seconds: Any) -> Any:
    """The last step a writer had flushed when it was killed ``seconds`` after its first flush, or -1."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        write_for_ever(directory, writing)
    os.close(writing)
    flushed = os.read(reading, 8) if seconds >= 0 else b""
    time.sleep(abs(seconds))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while more := os.read(reading, 1 << 16):
        flushed += more
    os.close(reading)
    return int.from_bytes(flushed[-8:], "little") if flushed else -1


def main(directory: Any, count: Any, seed: Any) -> None:
    chance = random.Random(seed)
    for index in range(count):
        run = Path(directory) / str(index)
        # One in five is killed while it starts.
        seconds = -chance.uniform(0, 0.01) if index % 5 == 0 else chance.uniform(0, 0.05)
        print(json.dumps({"directory": str(run), "flushed": killed_after(run, seconds)}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
