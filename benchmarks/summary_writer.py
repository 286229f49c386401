"""What SummaryWriter's calls cost the training thread: torch's beside ours, in both formats, in one run.

Run with a Python that has torch and tensorboard::

    PYTHONPATH=proto:writer /envs/torch/bin/python benchmarks/summary_writer.py

Every figure is of a process of its own, three rounds in turns, the median of them. Prints a Markdown table.
"""

import gc
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

WRITERS = ("torch", "mindinsight", "tensorboard")
TITLES = {"torch": "torch", "mindinsight": "ours", "tensorboard": 'ours, format="tensorboard"'}
ROUNDS = 3
SCALARS = 20_000
ARRAYS = 25
CLOSING = "`close` after them, s"
BACKLOG = 200_000  # points in a loop that does nothing else
PAUSE = 0.05  # seconds a training step takes besides; the writer may work meanwhile


def writer_of(name, directory):
    if name == "torch":
        from torch.utils.tensorboard import SummaryWriter

        return SummaryWriter(directory)
    from mindinsight.writer import SummaryWriter

    return SummaryWriter(directory, format=name)


def cases():
    """Name -> the call, and how often it is made."""
    import numpy as np
    import torch

    random = np.random.default_rng(0)
    weights = torch.from_numpy(random.normal(size=10**6).astype("f4"))
    picture = torch.from_numpy(random.integers(0, 255, (3, 256, 256), np.uint8))
    floats = torch.rand(16, 3, 64, 64)
    features = torch.from_numpy(random.normal(size=1 << 18).astype("f4"))
    loss = torch.tensor(0.123)
    pair = {"train": 0.5, "test": 0.25}
    return {
        "add_scalar, float": (lambda writer, step: writer.add_scalar("loss", 0.123, step), SCALARS),
        "add_scalar, tensor": (lambda writer, step: writer.add_scalar("loss", loss, step), SCALARS),
        "add_scalars, two": (lambda writer, step: writer.add_scalars("acc", pair, step), SCALARS // 4),
        "add_text": (lambda writer, step: writer.add_text("note", "step **done**", step), SCALARS // 4),
        "add_histogram, 1 M float32": (lambda writer, step: writer.add_histogram("w", weights, step), ARRAYS),
        "add_image, 256×256 uint8": (lambda writer, step: writer.add_image("i", picture, step), ARRAYS),
        "add_images, 16×64×64 float32": (lambda writer, step: writer.add_images("b", floats, step), ARRAYS),
        "add_tensor, 1 MB": (lambda writer, step: writer.add_tensor("t", features, step), ARRAYS),
    }


def measure(name):
    """Microseconds of the calling thread's CPU for each call: the mean of many, the median of slow ones."""
    figures = {}
    for title, (call, count) in cases().items():
        with tempfile.TemporaryDirectory() as directory:
            writer = writer_of(name, directory)
            call(writer, 0)
            gc.collect()
            gc.freeze()  # a full collection in the middle would count everything that torch's import left
            if count > ARRAYS:
                started = time.thread_time()
                for step in range(1, count):
                    call(writer, step)
                figures[title] = (time.thread_time() - started) / count * 1e6
            else:
                figures[title] = statistics.median(timed(call, writer, step) for step in range(1, count))
            writer.close()
    figures.update(backlog(name))
    return figures


def backlog(name):
    """CPU microseconds a point of all threads, and wall seconds in ``close``, after many points at once."""
    with tempfile.TemporaryDirectory() as directory:
        writer = writer_of(name, directory)
        writer.add_scalar("loss", 0.123, 0)
        time.sleep(PAUSE)
        began = time.process_time()
        for step in range(1, BACKLOG):
            writer.add_scalar("loss", 0.123, step)
        closing = time.perf_counter()
        writer.close()
        waited = time.perf_counter() - closing
        return {
            f"all threads, a point of {BACKLOG:,}": (time.process_time() - began) / BACKLOG * 1e6,
            CLOSING: waited,
        }


def timed(call, writer, step):
    started = time.thread_time()
    call(writer, step)
    spent = (time.thread_time() - started) * 1e6
    time.sleep(PAUSE)
    return spent


def main():
    if sys.argv[1:]:
        print(json.dumps(measure(sys.argv[1])))
        return
    rounds: dict[str, list[Any]] = {name: [] for name in WRITERS}
    for _ in range(ROUNDS):
        for name in WRITERS:
            ran = subprocess.run(
                [sys.executable, __file__, name], check=True, stdout=subprocess.PIPE, text=True
            )
            rounds[name].append(json.loads(ran.stdout.splitlines()[-1]))
    load = ", ".join(f"{average:.1f}" for average in os.getloadavg())
    print(f"CPython {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}; load {load}\n")
    print(f"| thread, µs a call | {' | '.join(TITLES[name] for name in WRITERS)} | ours / torch |")
    print(f"|---|{'---:|' * (len(WRITERS) + 1)}")
    for title in rounds["torch"][0]:
        medians = [statistics.median(figures[title] for figures in rounds[name]) for name in WRITERS]
        shares = " and ".join(f"{median / medians[0]:.2f}" for median in medians[1:])
        if title == CLOSING:  # torch has no backlog: its calls wait instead
            shares = ""
        print(f"| {title} | {' | '.join(f'{median:.3g}' for median in medians)} | {shares} |")


if __name__ == "__main__":
    main()
