"""Many people at once: pages and event streams against a base of growing runs, on this machine.

    python -m benchmarks.load --clients 200 --streams 50 --runs 999 --growing 50 --seconds 120
    nice python -m benchmarks.load --minutes 60 --gentle --steps 1
    python -m benchmarks.load --clients 200 --runs 99 --turns 40 --against ../before

What is modelled: each client is an open page. It keeps one connection, loads the page and the list of runs
once, and then asks every ``PAUSE`` seconds (between half and one and a half times as long) for the curve of
one tag of five runs, in the form our pages ask for; one question in twenty is the page or the list of runs
anew, as after a reload. With ``--v1`` each client asks the addresses of MindInsight's interface that its page
calls for curves. Streams are pages that are only told: they count the ``change`` events. Growing runs get
ten steps of three tags each second, or as many as ``--steps`` says. ``--gentle`` asks ten times more seldom:
what is looked at then is the memory over an hour. All points that come are kept, so it stands beside their
number.

With ``--against`` the server of another checkout stands beside this one, over the same runs. Both are asked
in turns, in the order 1 2 2 1, each client three questions without a pause. Whatever else the machine has to
do then meets both alike, also with many clients, and the processor time of an answer hardly depends on it.

Clients are connections of one process with a parser of a few lines, so that a machine with two cores can
hold them and the server. Prints a table: times to the last byte of an answer, the server's memory and
processor time, and how late the growth was told.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from mindinsight.proto.framing import encode_record
from mindinsight.proto.summary_pb2 import Event
from mindinsight.server.http.responses import COLUMNS

SERVE = "import sys; from mindinsight.server.process.serve import main; sys.exit(main())"
NAME = "events.out.events.summary.1700000000.0.host_MS"
TAGS = ("loss", "accuracy", "rate")
PAUSE = 2.0  # seconds between two questions of one client, on average
GENTLE = 10.0  # times as long with --gentle
KINDS = {"series": 38, "list": 1, "page": 1}  # of forty questions
V1 = {  # what the page of MindInsight asks when it shows curves
    "v1 jobs": "train-jobs?offset=0&limit=12",
    "v1 job": "single-job?plugin_name=scalar&train_id={run}",
    "v1 plugins": "plugins?train_id={run}",
    "v1 metadata": "scalar/metadata?tag={tag}/scalar&train_id={run}",
    "v1 scalars": "scalars?tag={tag}/scalar&train_id={run}",
}
SETTINGS = (
    "import sys; from pathlib import Path; from mindinsight.server.settings import Settings as S; "
    "print(S(*map(Path, sys.argv[1:3]), port=int(sys.argv[3])).to_json())"
)
EACH = 3  # questions of a client in a turn
SLOW = 60.0  # seconds after which an answer counts as an error


class Turn(NamedTuple):
    """Seconds of one server in a turn."""

    processor: float  # for an answer
    median: float
    p95: float


class Held(NamedTuple):
    """What the server holds at a moment."""

    memory: float  # of its own process, MB
    points: int


@dataclass
class Seen:
    """What the clients met."""

    times: dict[str, list[float]] = field(default_factory=dict)  # seconds by kind of question
    errors: list[str] = field(default_factory=list)
    changes: int = 0
    delays: list[float] = field(default_factory=list)  # seconds from the growth to the event that tells it
    grown: float = 0.0  # when the runs last grew
    rounds: int = 0  # how often they did


def steps(first: int, end: int) -> bytes:
    """Framed records of all tags for the steps from ``first`` to before ``end``."""
    records = []
    for step in range(first, end):
        event = Event(wall_time=time.time(), step=step)
        for tag in TAGS:
            event.summary.value.add(tag=tag, scalar_value=1 / (step + 1))
        records.append(encode_record(event.SerializeToString()))
    return b"".join(records)


def make_base(folder: Path, runs: int) -> list[Path]:
    content, paths = steps(0, 1000), []
    for number in range(runs):
        path = folder / f"run{number:03}" / NAME
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
        paths.append(path)
    return paths


@contextmanager
def served(base: Path, workspace: Path, tree: Path | None = None) -> Iterator[tuple[int, int]]:
    """Process number and port of a server on ``base``, of this checkout or another."""
    packages = [str(tree / part) for part in ("server", "proto", "web")] if tree else sys.path
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, packages))}
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    given = [str(base), str(workspace), str(port)]
    settings = subprocess.check_output([sys.executable, "-c", SETTINGS, *given], env=environ)
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environ
    )
    assert process.stdin is not None
    process.stdin.write(settings)
    process.stdin.close()
    try:
        yield process.pid, port
    finally:
        process.terminate()
        process.wait(20)


class Connection:
    """One kept connection to the server."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, path: str) -> tuple[int, bytes]:
        """Status and body; an idle connection that the server ends just now is made anew, as browsers do."""
        reused = self._streams is not None and not self._streams[0].at_eof()
        if not reused:
            self.close()
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            return await self._ask(path)
        except (ConnectionResetError, asyncio.IncompleteReadError):
            if not reused:
                raise
            return await self.ask(path)

    async def _ask(self, path: str) -> tuple[int, bytes]:
        assert self._streams is not None
        reader, writer = self._streams
        writer.write(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: {COLUMNS}\r\n"
            "Accept-Encoding: gzip\r\n\r\n".encode()
        )
        try:
            return await asyncio.wait_for(self._answer(reader), SLOW)
        except (OSError, EOFError, asyncio.TimeoutError):
            self.close()
            raise

    async def _answer(self, reader: asyncio.StreamReader) -> tuple[int, bytes]:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        status, length = int(head[9:12]), head.partition(b"\r\ncontent-length:")[2].partition(b"\r\n")[0]
        if length:
            return status, await reader.readexactly(int(length))
        body = b""
        while size := int((await reader.readline()).strip() or b"0", 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readline()
        return status, body

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


def address(kind: str, runs: int) -> str:
    if kind in V1:
        run = f"./run{random.randrange(runs):03}"
        return "/v1/mindinsight/datavisual/" + V1[kind].format(run=run, tag=random.choice(TAGS))
    some = "&".join(f"run=./run{random.randrange(runs):03}" for _ in range(5))
    series = f"/v2/scalar/series?tag={random.choice(TAGS)}&{some}"
    return {"series": series, "page": "/scalar", "list": "/v2/runs"}[kind]


async def client(
    port: int, kinds: Mapping[str, int], runs: int, pause: float, end: float, seen: Seen
) -> None:
    """A page that is loaded and then looked at."""
    connection, first = Connection(port), ["page", "list"]
    await asyncio.sleep(random.uniform(0, 2 * pause))
    while time.monotonic() < end:
        kind = first.pop(0) if first else random.choices([*kinds], [*kinds.values()])[0]
        began = time.perf_counter()
        try:
            status, _ = await connection.ask(address(kind, runs))
            if status != 200:
                seen.errors.append(f"{kind}: {status}")
        except (OSError, EOFError, asyncio.TimeoutError) as error:
            seen.errors.append(f"{kind}: {error!r}")
        seen.times.setdefault(kind, []).append(time.perf_counter() - began)
        if not first:
            await asyncio.sleep(random.uniform(0.5, 1.5) * pause)
    connection.close()


async def listen(port: int, end: float, seen: Seen) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    writer.write(b"GET /v2/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    newest = 0.0
    while (left := end - time.monotonic()) > 0:
        try:
            line = await asyncio.wait_for(reader.readline(), left)
        except asyncio.TimeoutError:
            break
        if not line:
            seen.errors.append("stream: ended")
            break
        if line.startswith(b"event: change"):
            seen.changes += 1
            if seen.grown > newest:
                newest = seen.grown
                seen.delays.append(time.monotonic() - newest)
    writer.close()


async def grow(paths: list[Path], count: int, end: float, seen: Seen) -> None:
    step = 1000
    while time.monotonic() < end:
        content = steps(step, step + count)
        for path in paths:
            with path.open("ab") as file:
                file.write(content)
        seen.grown = time.monotonic()
        seen.rounds += 1
        step += count
        await asyncio.sleep(1)


async def watch(pid: int, port: int, end: float) -> list[Held]:
    """What the server holds, every second."""
    held, connection = [], Connection(port)
    while time.monotonic() < end:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        health = json.loads((await connection.ask("/health"))[1])
        held.append(Held(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, health["points"]))
        await asyncio.sleep(1)
    connection.close()
    return held


def busy(pid: int) -> float:
    """Processor seconds a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def ready(port: int, runs: int) -> None:
    connection = Connection(port)
    while True:
        try:
            health = json.loads((await connection.ask("/health"))[1])
            if health["points"] == runs * 1000 * len(TAGS):
                return connection.close()
        except (OSError, EOFError):
            pass
        await asyncio.sleep(0.2)


async def load(options: argparse.Namespace, paths: list[Path], pid: int, port: int) -> Seen:
    await asyncio.wait_for(ready(port, options.runs), 300)
    pause = PAUSE * (GENTLE if options.gentle else 1)
    seconds = options.minutes * 60 if options.minutes else options.seconds
    before, used, own = os.getloadavg()[0], busy(pid), time.process_time()
    seen, end = Seen(), time.monotonic() + seconds
    kinds = dict.fromkeys(V1, 1) if options.v1 else KINDS
    watching = asyncio.create_task(watch(pid, port, end))
    await asyncio.gather(
        grow(paths[: options.growing], options.steps, end, seen),
        *(client(port, kinds, options.runs, pause, end, seen) for _ in range(options.clients)),
        *(listen(port, end, seen) for _ in range(options.streams)),
    )
    used, own = busy(pid) - used, time.process_time() - own
    print(f"{seconds:g} s; load average of the machine {before:.1f} before, {os.getloadavg()[0]:.1f} after")
    report(seen, seconds, options.streams)
    report_memory(await watching)
    print(f"processor: server {used:.1f} s ({used / seconds:.0%} of a core), clients {own:.1f} s")
    used = busy(pid)
    await asyncio.sleep(10)
    print(f"10 s after, nothing growing: {(busy(pid) - used) * 10:.1f} % of a core")
    return seen


def on_processor(pid: int) -> float:
    """Processor seconds of the threads a process has, to the nanosecond."""
    return (
        sum(int(path.read_text().split()[0]) for path in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9
    )


async def turn(pid: int, connections: list[Connection], runs: int, seed: int) -> Turn:
    """Ask questions that depend on ``seed`` alone."""
    used, times = on_processor(pid), list[float]()
    random.seed(seed)
    kinds = random.choices([*KINDS], [*KINDS.values()], k=EACH * len(connections))
    paths = [address(kind, runs) for kind in kinds]

    async def ask(number: int) -> None:
        for path in paths[number :: len(connections)]:
            began = time.perf_counter()
            status, _ = await connections[number].ask(path)
            assert status == 200, (status, path)
            times.append(time.perf_counter() - began)

    await asyncio.gather(*(ask(number) for number in range(len(connections))))
    marks = statistics.quantiles(times, n=20)
    return Turn((on_processor(pid) - used) / len(paths), marks[9], marks[18])


async def compare(options: argparse.Namespace, servers: list[tuple[int, int]]) -> None:
    """Ask the two servers in turns, and print what an answer cost and took."""
    both = [[Connection(port) for _ in range(options.clients)] for _, port in servers]
    for _, port in servers:
        await asyncio.wait_for(ready(port, options.runs), 300)
    turns: list[tuple[Turn, Turn]] = []
    before = os.getloadavg()[0]
    for number in range(-2, options.turns):  # the first two are not counted: connections and caches
        order = (0, 1) if number % 2 else (1, 0)
        met = {which: await turn(servers[which][0], both[which], options.runs, number) for which in order}
        if number >= 0:
            turns.append((met[0], met[1]))
    load = f"{before:.1f} to {os.getloadavg()[0]:.1f}"
    print(f"{options.clients} clients, {len(turns)} turns; load average {load}")
    print(f"{'ms, medians of turns':22}{'this':>8}{'other':>8}   ratio of a turn (quartiles)")
    for name in Turn._fields:
        pairs = [(getattr(this, name), getattr(other, name)) for this, other in turns]
        here, there = (statistics.median(side) * 1000 for side in zip(*pairs, strict=True))
        low, middle, high = statistics.quantiles([this / other for this, other in pairs], n=4)
        print(f"{name:22}{here:8.2f}{there:8.2f}   {middle:.3f} ({low:.3f} to {high:.3f})")


def report(seen: Seen, seconds: float, streams: int) -> None:
    print(f"\n{'':12}{'answers':>10}{'a second':>10}{'median':>10}{'p95':>10}{'p99':>10}{'slowest':>10}")
    for kind, times in sorted({**seen.times, "told": seen.delays}.items()):
        marks = (
            statistics.quantiles([latency * 1000 for latency in times], n=100)
            if len(times) > 1
            else [0.0] * 99
        )
        row = f"{kind:12}{len(times):10}{len(times) / seconds:10.1f}"
        slowest = max(times, default=0) * 1000
        print(row + "".join(f"{mark:7.0f} ms" for mark in (marks[49], marks[94], marks[98], slowest)))
    rate = seen.changes / max(streams, 1)
    print(f"\nerrors: {len(seen.errors)} {seen.errors[:3] or ''}")
    print(f"events: {rate:.0f} for each stream, of {seen.rounds} times that runs grew (told: how late)")


def report_memory(held: list[Held]) -> None:
    """The server's own process, at ten moments."""
    marks = [held[(len(held) - 1) * part // 9] for part in range(10)]
    print("memory, MB: " + " ".join(f"{mark.memory:.0f}" for mark in marks))
    print("points, million: " + " ".join(f"{mark.points / 1e6:.2f}" for mark in marks))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    defaults = {"clients": 200, "streams": 50, "runs": 999, "growing": 50, "steps": 10, "seconds": 120}
    for name, default in defaults.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--minutes", type=float, default=0, help="instead of --seconds")
    parser.add_argument("--v1", action="store_true", help="the addresses of MindInsight's interface")
    parser.add_argument("--gentle", action="store_true", help="questions ten times more seldom")
    parser.add_argument("--against", type=Path, help="another checkout, to be compared with this one")
    parser.add_argument("--turns", type=int, default=40)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        base, workspace = Path(folder, "base"), Path(folder, "workspace")
        paths = make_base(base, options.runs)
        if options.against:
            with (
                served(base, workspace) as this,
                served(base, Path(folder, "other"), options.against) as other,
            ):
                return asyncio.run(compare(options, [this, other]))
        with served(base, workspace) as (pid, port):
            seen = asyncio.run(load(options, paths, pid, port))
    sys.exit(bool(seen.errors))


if __name__ == "__main__":
    main()
