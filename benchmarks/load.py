"""Many people at once: clients and event streams against a base of growing runs, on this machine.

    python -m benchmarks.load --clients 200 --streams 50 --runs 999 --growing 50 --seconds 60

Makes the base in a temporary folder, starts a server on it, asks from ``--clients`` connections as fast
as answers come (with a pause like a person's), holds ``--streams`` event streams, appends to the growing
runs once a second, and prints latencies, errors, memory and processor time of the server.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from mindinsight.proto.framing import encode_record
from mindinsight.proto.summary_pb2 import Event
from mindinsight.server.settings import Settings

SERVE = "import sys; from mindinsight.server.serve import main; sys.exit(main())"
NAME = "events.out.events.summary.1700000000.0.host_MS"
TAGS = ("loss", "accuracy", "rate")
PAUSE = 2.0  # seconds between two answers and questions of one client, on average


@dataclass
class Seen:
    """What the clients met."""

    times: dict[str, list[float]] = field(default_factory=dict)  # seconds by kind of question
    errors: list[str] = field(default_factory=list)
    events: int = 0


def steps(first: int, end: int) -> bytes:
    found = []
    for step in range(first, end):
        event = Event(wall_time=time.time(), step=step)
        for tag in TAGS:
            event.summary.value.add(tag=tag, scalar_value=1 / (step + 1))
        found.append(encode_record(event.SerializeToString()))
    return b"".join(found)


def make_base(folder: Path, runs: int) -> list[Path]:
    content, paths = steps(0, 1000), []
    for number in range(runs):
        path = folder / f"run{number:03}" / NAME
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
        paths.append(path)
    return paths


def start(base: Path, workspace: Path) -> tuple[subprocess.Popen[bytes], int]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdin is not None
    process.stdin.write(Settings(base, workspace, port=port).to_json().encode())
    process.stdin.close()
    return process, port


async def ask(port: int, path: str) -> tuple[int, bytes]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(f"GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\nAccept-Encoding: gzip\r\n\r\n".encode())
        answer = await asyncio.wait_for(reader.read(), 60)
        return int(answer[9:12] or 0), answer
    finally:
        writer.close()


async def client(port: int, runs: int, end: float, seen: Seen) -> None:
    """A person: mostly curves of five runs, sometimes the list or a page."""
    await asyncio.sleep(random.uniform(0, PAUSE))
    while time.monotonic() < end:
        some = "&".join(f"run=./run{random.randrange(runs):03}" for _ in range(5))
        kinds = {"series": f"/v2/scalar/series?tag={random.choice(TAGS)}&{some}", "page": "/scalar"}
        kind = random.choices(("series", "page", "list"), (18, 1, 1))[0]
        began = time.perf_counter()
        try:
            status, _ = await ask(port, kinds.get(kind, "/v2/runs"))
            if status != 200:
                seen.errors.append(f"{kind}: {status}")
        except (OSError, asyncio.TimeoutError) as error:
            seen.errors.append(f"{kind}: {error!r}")
        seen.times.setdefault(kind, []).append(time.perf_counter() - began)
        await asyncio.sleep(random.uniform(0, 2 * PAUSE))


async def listen(port: int, end: float, seen: Seen) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /v2/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    while (left := end - time.monotonic()) > 0:
        try:
            seen.events += (await asyncio.wait_for(reader.read(65_536), left)).count(b"event: change")
        except asyncio.TimeoutError:
            break
    writer.close()


async def grow(paths: list[Path], end: float) -> None:
    step = 1000
    while time.monotonic() < end:
        content = steps(step, step + 10)
        for path in paths:
            with path.open("ab") as file:
                file.write(content)
        step += 10
        await asyncio.sleep(1)


async def watch(pid: int, end: float, memory: list[float]) -> None:
    while time.monotonic() < end:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        memory.append(pages * os.sysconf("SC_PAGE_SIZE") / 2**20)
        await asyncio.sleep(1)


def busy(pid: int) -> float:
    """Processor seconds a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def ready(port: int, runs: int) -> None:
    while True:
        try:
            _, answer = await ask(port, "/metrics")
            if f"mindinsight_points {runs * 1000 * len(TAGS)}\n".encode() in answer:
                return
        except OSError:
            pass
        await asyncio.sleep(0.2)


async def load(options: argparse.Namespace, paths: list[Path], pid: int, port: int) -> None:
    await asyncio.wait_for(ready(port, options.runs), 300)
    seen, memory, used, end = Seen(), [], busy(pid), time.monotonic() + options.seconds
    print(f"load average of the machine before: {os.getloadavg()}")
    await asyncio.gather(
        *(client(port, options.runs, end, seen) for _ in range(options.clients)),
        *(listen(port, end, seen) for _ in range(options.streams)),
        grow(paths[: options.growing], end),
        watch(pid, end, memory),
    )
    report(seen, memory, busy(pid) - used)
    used = busy(pid)
    await asyncio.sleep(10)
    print(f"10 s after, nothing growing: {(busy(pid) - used) * 10:.1f} % of a core")


def report(seen: Seen, memory: list[float], used: float) -> None:
    for kind, times in sorted(seen.times.items()):
        marks = statistics.quantiles([one * 1000 for one in times], n=100) if len(times) > 1 else [0.0] * 99
        print(f"{kind}: {len(times)} answers, median {marks[49]:.0f} ms, p95 {marks[94]:.0f} ms")
    print(f"errors: {len(seen.errors)} {seen.errors[:3]}; events received: {seen.events}")
    third = len(memory) // 3
    first, middle, last = memory[0], memory[third], memory[-1]
    print(f"memory: {first:.0f} MB at first, {middle:.0f} MB after a third, {last:.0f} MB at last")
    print(f"processor: {used:.1f} s; load average of the machine after: {os.getloadavg()}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("clients", 200), ("streams", 50), ("runs", 999), ("growing", 50), ("seconds", 60)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        base, workspace = Path(folder, "base"), Path(folder, "workspace")
        paths = make_base(base, options.runs)
        process, port = start(base, workspace)
        try:
            asyncio.run(load(options, paths, process.pid, port))
        finally:
            process.terminate()
            process.wait(20)


if __name__ == "__main__":
    main()
