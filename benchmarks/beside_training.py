"""What recording the machine and the console costs a training, and what opening a console of 1 GB costs.

    python -m benchmarks.beside_training

Each figure comes from a process of its own. Goals: at most 0.1 % of a core and 20 MB for the machine, 1 s and
50 MB for the console of 1 GB. Drivers of accelerators are not there, so their calls are not in it.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

RESULTS = Path(__file__).with_name("results") / "beside_training.md"
LINES = 500_000  # printed
SAMPLES = 200
ENTRY = b"%d.000 o epoch 3 step 123456: loss 0.123456, 12.3 samples/s, learning rate 0.00100 ~~~~~~~~\n"
GIGABYTE = 1 << 30


def resident() -> float:
    """Megabytes of this process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


def machine() -> dict[str, float]:
    """Processor time of a sample in the sampling thread, and the memory it adds."""
    from mindinsight.writer import SummaryRecord

    with tempfile.TemporaryDirectory() as folder, SummaryRecord(folder) as record:
        record.add_value("scalar", "loss", 1.0)
        record.record(1)
        before = resident()
        from mindinsight.writer.system import SystemSampler

        sampler = SystemSampler(record, folder, 3600.0)
        spent = []

        def sample() -> None:
            began = time.thread_time()
            for _ in range(SAMPLES):
                sampler._sample()
            spent.append(time.thread_time() - began)

        thread = threading.Thread(target=sample)
        thread.start()
        thread.join()
        sampler.close()
        return {"ms": 1000 * spent[0] / SAMPLES, "MB": resident() - before}


def printing(recorded: bool) -> dict[str, float]:
    """Seconds that printing many lines takes, with the end of the recorder, and memory of its program."""
    from mindinsight.writer import SummaryRecord

    with tempfile.TemporaryDirectory() as folder, SummaryRecord(folder) as record:
        if recorded:
            record.record_console()
        began, cpu = time.perf_counter(), time.process_time()
        for number in range(LINES):
            print(f"step {number}: loss 0.123456, accuracy 0.9876, 12.3 samples/s", flush=True)
        blocked = time.process_time() - cpu
        size = max((_memory(child) for child in _children()), default=0.0)
        record.close()
        return {"s": time.perf_counter() - began, "cpu_s": blocked, "MB": size}


def _children() -> Iterator[int]:
    listed = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii")
    yield from map(int, listed.split())


def _memory(process: int) -> float:
    pages = int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


def opening(folder: str) -> dict[str, float]:
    """Seconds and megabytes for the last lines of 1 GB, for those of a time, and seconds for a search."""
    from mindinsight.server.store import console_log

    before = resident()
    began = time.perf_counter()
    parts = console_log.parts_in(folder)
    lines = console_log.lines_before(parts, len(parts) - 1, parts[-1].size, 500)
    assert len(lines) == 500
    first = time.perf_counter() - began
    began = time.perf_counter()
    position = console_log.place_of_time(parts, lines[0].time - 1_000_000)
    assert len(console_log.lines_after(parts, *position, 500)) == 500
    jumped = time.perf_counter() - began
    grown = resident() - before
    began = time.perf_counter()
    _, further = console_log.found_lines(parts, "out of memory", 0, 0, 200)
    assert further is not None
    return {"first_s": first, "jump_s": jumped, "MB": grown, "search_s": time.perf_counter() - began}


TRAINING = """
import sys, time
from mindinsight.writer.integrations.training import Training
training = Training(sys.argv[1])
print("begun", flush=True)
for step in range(600):
    training.numbers({"loss": 1.0}, step)
    time.sleep(0.1)
"""


def beginning(folder: str) -> dict[str, float]:
    """Seconds from the start of a process until loss, program, machine and console are listed."""
    from benchmarks.servers import Ours

    base, wanted = Path(folder) / "base", {"scalar", "code", "system", "console"}
    base.mkdir()
    with Ours(base, Path(folder) / "workspace") as server:
        server.wait(0)
        began = time.perf_counter()
        training = subprocess.Popen([sys.executable, "-c", TRAINING, str(base / "run")])
        try:
            while time.perf_counter() - began < 60:
                runs = server.get("/v2/runs")["runs"]
                if runs and wanted <= runs[0]["kinds"].keys():
                    return {"s": time.perf_counter() - began}
                time.sleep(0.05)
        finally:
            training.kill()
            training.wait()
    raise SystemExit("not everything was listed within a minute")


def write_gigabyte(folder: Path) -> None:
    """A console of 1 GB, in one part."""
    block = 100_000
    with (folder / "console.1700000000.1.0000.log").open("wb") as file:
        file.write(b"# mindinsight console 1 0\n")
        begin = 1_700_000_000
        while file.tell() < GIGABYTE:
            file.write(b"".join(ENTRY % (begin + i) for i in range(block)))
            begin += block


def alone(*arguments: str) -> dict[str, float]:
    """The figures of a process of its own, whose output goes to a file."""
    with tempfile.NamedTemporaryFile("r", suffix=".json") as answer, tempfile.TemporaryFile() as printed:
        command = [sys.executable, "-m", "benchmarks.beside_training", "--answer", answer.name, *arguments]
        subprocess.run(command, stdout=printed, check=True)
        figures: dict[str, float] = json.loads(answer.read())
        return figures


def main() -> None:
    if "--answer" in sys.argv:
        at = sys.argv.index("--answer")
        path, what, *rest = sys.argv[at + 1 :]
        figures = {
            "machine": machine,
            "printing": lambda: printing(False),
            "recording": lambda: printing(True),
            "opening": lambda: opening(*rest),
            "beginning": lambda: beginning(*rest),
        }[what]()
        Path(path).write_text(json.dumps(figures), encoding="utf-8")
        return
    sampled, plain, recorded = alone("machine"), alone("printing"), alone("recording")
    with tempfile.TemporaryDirectory() as folder:
        write_gigabyte(Path(folder))
        opened = alone("opening", folder)
    with tempfile.TemporaryDirectory() as folder:
        begun = alone("beginning", folder)
    load = os.getloadavg()[0]
    text = f"""# Beside a training

`python -m benchmarks.beside_training`, {platform.machine()}, load {load:.1f} at the end.

| what | goal | measured |
|---|---:|---:|
| from the start of a training until all of it is listed | 5 s | {begun["s"]:.1f} s |
| a sample of the machine, processor time | 5 ms (0.1 % of a core each 5 s) | {sampled["ms"]:.2f} ms |
| memory of the sampler | 20 MB | {sampled["MB"]:.1f} MB |
| memory of the program that records the console | – | {recorded["MB"]:.1f} MB |
| {LINES:,} lines, each flushed: processor time of the training without | – | {plain["cpu_s"]:.2f} s |
| the same with the recorder | – | {recorded["cpu_s"]:.2f} s |
| wall time of both, to the end of the recorder | – | {plain["s"]:.2f} s, {recorded["s"]:.2f} s |
| the last 500 lines of 1 GB | 1 s, 50 MB | {opened["first_s"]:.3f} s, {opened["MB"]:.1f} MB |
| 500 lines at a time in 1 GB | 1 s | {opened["jump_s"]:.3f} s |
| a search through the first 128 MB, nothing found | – | {opened["search_s"]:.2f} s |
"""
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
