"""What looking into a dump costs: statistics beside a plain NumPy loop, comparison beside msprobe, listing,
one tensor of gigabytes.

msprobe runs in its own environment, with torch, given by its Python::

    python benchmarks/dumps.py --msprobe /envs/msprobe/bin/python

Prints a Markdown table. Every figure is the best of three; files are in the page cache. CPU time is that of
the process that asks: what workers use is not in it, so compare their wall times, on an idle machine.
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

from mindinsight.server.compute.worker_pool import WorkerPool
from mindinsight.server.debug.examine import measure_all
from mindinsight.server.debug.statistics_cache import StatisticsCache
from mindinsight.server.formats.dumps import list_tensors, open_dump

TENSORS, ELEMENTS = 128, 1 << 20  # 512 MB of float32
FILES = 100_000
SMALL = 22_560  # tensors of a dump whose statistics take as long as opening its files
PAIRS = 64  # tensors of a million elements on each side of the comparison

HUGE = 3  # GB of the largest tensor

START_HUGE = """
import os, resource, sys, time
import numpy as np
from mindinsight.server.debug.examine import measure_all
from mindinsight.server.formats.dumps import list_tensors, open_dump
started, before = time.perf_counter(), os.times()
"""
MEASURE_HUGE = """
(answer,) = measure_all(list_tensors(open_dump(sys.argv[1]), 0, 0))
assert answer.measurement is not None
"""
SHARE_HUGE = """
from mindinsight.server.compute.worker_pool import WorkerPool
with WorkerPool(os.cpu_count()) as workers:
    (answer,) = measure_all(list_tensors(open_dump(sys.argv[1]), 0, 0), workers)
assert answer.measurement is not None
"""
NUMPY_HUGE = """
values = np.load(sys.argv[2])
_ = values.min(), values.max(), values.mean(dtype=np.float64), values.std(dtype=np.float64)
_ = np.isnan(values).sum(), (values == 0).sum(), (values < 0).sum()
"""
END_HUGE = """
after = os.times()
print(time.perf_counter() - started, sum(after[:4]) - sum(before[:4]))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""

MAKE_MSPROBE = """
import json, pathlib, sys, torch
for side in "ab":
    root = pathlib.Path(sys.argv[1]) / side / "step0" / "rank0"
    (root / "dump_tensor_data").mkdir(parents=True)
    data = {}
    for i in range(int(sys.argv[2])):
        generator = torch.Generator().manual_seed(i)
        values = torch.randn(1 << 20, generator=generator)
        values = values + 1e-4 * torch.randn(1 << 20, generator=generator) * (side == "b")
        name = f"Functional.relu.{i}.forward"
        torch.save(values, root / "dump_tensor_data" / f"{name}.output.0.pt")
        leaf = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [1 << 20], "requires_grad": False,
                "Max": values.max().item(), "Min": values.min().item(), "Mean": values.mean().item(),
                "Norm": values.norm().item(), "data_name": f"{name}.output.0.pt"}
        data[name] = {"input_args": [], "input_kwargs": {}, "output": [leaf]}
    top = {"task": "tensor", "level": "L1", "framework": "pytorch", "dump_data_dir": None, "data": data}
    (root / "dump.json").write_text(json.dumps(top))
    (root / "stack.json").write_text("{}")
    (root / "construct.json").write_text("{}")
"""


def best(function, repeat=3):
    """Wall seconds and CPU seconds, workers left out, of the fastest of some runs."""
    times = []
    for _ in range(repeat):
        before, started = os.times(), time.perf_counter()
        function()
        wall, after = time.perf_counter() - started, os.times()
        times.append((wall, sum(after[:4]) - sum(before[:4])))
    return min(times)


def row(what, times, amount, unit):
    wall, cpu = times
    return what, f"{wall:.3g} s", f"{cpu:.3g} s", f"{amount / wall:,.3g} {unit}"


def step_folder(root):
    folder = root / "rank_0" / "Net" / "0" / "0"
    folder.mkdir(parents=True)
    return folder


def name(i):
    time_stamp = 1700000000000000 + i
    return f"MatMul.Default_network_layer{i}_MatMul-op{i}.0.0.{time_stamp}.output.0.DefaultFormat.Float32.npy"


def plain(paths):
    """The statistics of the table, each by the NumPy function anybody would take."""
    for path in paths:
        values = np.load(path)
        finite = values[np.isfinite(values)]
        _ = finite.min(), finite.max(), finite.mean(dtype=np.float64), finite.std(dtype=np.float64)
        _ = np.linalg.norm(finite.astype(np.float64)), np.abs(finite).mean(dtype=np.float64)
        _ = (values == 0).sum(), (values < 0).sum(), (values > 0).sum()
        _ = np.isnan(values).sum(), np.isposinf(values).sum(), np.isneginf(values).sum()


def statistics(root):
    folder = step_folder(root)
    generator = np.random.default_rng(0)
    for i in range(TENSORS):
        np.save(folder / name(i), generator.normal(size=ELEMENTS).astype(np.float32))
    dump = open_dump(root)
    entries = list_tensors(dump, 0, 0).items
    paths = [entry.ref.path for entry in entries if entry.ref]
    size = sum(Path(path).stat().st_size for path in paths) / 1e9
    rows = [("plain NumPy loop", best(lambda: plain(paths)))]
    rows.append(("ours, one process", best(lambda: list(measure_all(entries)))))
    for count in sorted({1, 2, os.cpu_count() or 1}):
        with WorkerPool(count) as workers:
            list(measure_all(entries, workers))  # the processes are there
            times = best(lambda workers=workers: list(measure_all(entries, workers)))
            rows.append((f"ours, {count} worker{'s' * (count > 1)}", times))
    cache = StatisticsCache(root / "statistics.sqlite")
    list(measure_all(entries, cache=cache))
    rows.append(("ours, again with the cache", best(lambda: list(measure_all(entries, cache=cache)))))
    what = f"statistics of {TENSORS} tensors, {size:.2f} GB"
    return [row(f"{what}: {who}", times, size, "GB/s") for who, times in rows]


def small(root):
    """Statistics of many tensors of 256 numbers."""
    folder = step_folder(root)
    generator = np.random.default_rng(0)
    for i in range(SMALL):
        np.save(folder / name(i), generator.normal(size=256).astype(np.float32))
    entries = list_tensors(open_dump(root), 0, 0).items
    times = best(lambda: list(measure_all(entries)))
    return [row(f"statistics of {SMALL:,} tensors of 256 numbers", times, SMALL, "tensors/s")]


def pairs(root):
    """The comparison of two dumps as a whole command; its peer is in `comparison`."""
    for side, offset in (("a", 0), ("b", 1e-4)):
        folder = step_folder(root / side)
        for i in range(PAIRS):
            generator = np.random.default_rng(i)
            values = generator.normal(size=ELEMENTS) + offset * generator.normal(size=ELEMENTS)
            np.save(folder / name(i), values.astype(np.float32))
    times = best(partial(subprocess.run, compare_command(root), capture_output=True, check=False))
    size = 2 * PAIRS * 4 * ELEMENTS / 1e9
    return [row(f"comparison of {PAIRS} pairs, {size:.2f} GB, whole command", times, size, "GB/s")]


def compare_command(root):
    command = [sys.executable, "-m", "mindinsight.server.commands.main", "dump", "compare"]
    return [*command, root / "a", root / "b", "--csv", root / "ours.csv"]


def huge(root):
    """One tensor beyond the memory of many machines: time, and the most memory the process ever had."""
    folder = step_folder(root)
    path = folder / name(0)
    generator = np.random.default_rng(0)
    with path.open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (HUGE << 8, 1 << 20)}
        np.lib.format.write_array_header_1_0(file, header)
        block = generator.normal(size=1 << 20).astype(np.float32).tobytes()
        for _ in range(HUGE << 8):
            file.write(block)
    size = path.stat().st_size / 1e9
    rows = []
    programs = (
        ("started only", ""),
        ("ours", MEASURE_HUGE),
        (f"ours, {os.cpu_count()} workers", SHARE_HUGE),
        ("NumPy, read whole", NUMPY_HUGE),
    )
    for what, program in programs:
        result = subprocess.run(
            [sys.executable, "-c", START_HUGE + program + END_HUGE, root, path],
            check=True,
            capture_output=True,
            text=True,
        )
        wall, cpu, peak = map(float, result.stdout.split())
        rows.append((f"one tensor of {size:.1f} GB: {what}, {peak / 1024:,.0f} MB at most", (wall, cpu)))
    return [row(what, times, size, "GB/s") for what, times in rows]


def comparison(root, python):
    subprocess.run([python, "-c", MAKE_MSPROBE, root, str(PAIRS)], check=True)
    sides = root / "a", root / "b"
    jsons = [str(side / "step0" / "rank0" / "dump.json") for side in sides]
    peer = [
        Path(python).with_name("msprobe"),
        "compare",
        "-tp",
        jsons[0],
        "-gp",
        jsons[1],
        "-o",
        root / "out",
    ]
    quiet = partial(subprocess.run, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    rows = [
        ("msprobe compare", best(lambda: quiet(peer, check=True))),
        ("mindinsight dump compare", best(lambda: quiet(compare_command(root), check=False))),
    ]
    size = 2 * PAIRS * 4 * (1 << 20) / 1e9
    what = f"comparison of {PAIRS} pairs, {size:.2f} GB, whole command"
    return [row(f"{what}: {who}", times, size, "GB/s") for who, times in rows]


def listing(root):
    folder = step_folder(root)
    np.save(folder / name(0), np.zeros(1, np.float32))
    content = (folder / name(0)).read_bytes()
    for i in range(1, FILES):
        (folder / name(i)).write_bytes(content)
    times = best(lambda: list_tensors(open_dump(root), 0, 0))
    return [row(f"listing {FILES:,} files", times, FILES, "files/s")]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--msprobe", help="Python of an environment with mindstudio-probe and torch")
    parts = {part.__name__: part for part in (statistics, small, pairs, huge, listing)}
    parser.add_argument("--only", nargs="+", choices=parts, default=[*parts], help="rows to measure")
    options = parser.parse_args()
    rows = []
    measures = [parts[name] for name in options.only]
    if options.msprobe:
        measures.append(lambda root: comparison(root, options.msprobe))
    for measure in measures:
        with tempfile.TemporaryDirectory() as directory:
            rows += measure(Path(directory))
    versions = f"CPython {platform.python_version()}, NumPy {np.__version__}"
    print(f"{versions}, {os.cpu_count()} cores, {platform.machine()}\n")
    print("| | time | CPU time | speed |\n|---|---:|---:|---:|")
    for columns in rows:
        print(f"| {' | '.join(columns)} |")


if __name__ == "__main__":
    main()
