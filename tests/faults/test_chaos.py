"""Everything at once: a server over every kind of data, at load, under what happens to servers.

Clients leave at random times from every address that the interfaces describe, others read slowly; workers and
the server are killed, files vanish and are cut short, the disk fills, a second server works on the same
workspace. Afterwards every address answers as before, and nothing is left behind: counted by name.
"""

import asyncio
import contextlib
import itertools
import json
import os
import random
import re
import resource
import shutil
import signal
import time
import urllib.parse
import urllib.request
import zipfile
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mindinsight.writer import SummaryRecord
from tests.faults.test_leaving import DATA, ask, difference, dump_addresses, loaded, query, settled
from tests.thoroughness import amount, share

SECONDS = int(os.environ.get("CHAOS_SECONDS", amount(3600, 10)))
SEED = 30
CLIENTS = 8
SLOW = 4
SPINNERS = amount(2, 0)  # in make test the machine has enough to do
MEMORY = 64 << 20  # bytes more than before: what malloc keeps of the load
KINDS = ("scalar", "histogram", "image", "audio", "pr_curve", "tensor", "text", "layout", "graph")
INTERFACES = {"v2/openapi.json": "", "v1/mindinsight/openapi.json": "v1/mindinsight"}
ENDLESS = ("/v2/events", "poll-data")
COUNTING = ("health?", "metrics?", "/page?", "/xlsx?")  # answers that tell the time or count
PER_PATH = 100  # combinations of values that are tried for one address
WITHOUT = 33  # paths that find nothing in these data, such as comparisons and reports: errors stay equal

RECORDING = """
import sys
from pathlib import Path
from tests.recorded_locks import record
record(Path(sys.argv[1]))
from mindinsight.server.process.serve import main
sys.exit(main())
"""


@pytest.fixture
def filled(base: Any) -> Any:
    """Every kind of data there is a sample of, and copies that are harmed."""
    for name in ("record_api/values", "record_api/images", "landscape", "lenet", "multi_rank"):
        shutil.copytree(DATA / "events" / name, base.path / name.rpartition("/")[2])
    for name in ("lenet", "values"):
        with SummaryRecord(str(base.path / name)) as record:
            record.add_value("code", "code", {"command": ["train"]}, step=0)
        lines = "".join(f"{1_700_000_000 + i}.000 o a line {i}\n" for i in range(1000))
        console = base.path / name / "console.1700000000.1.0000.log"
        console.write_text(f"# mindinsight console 1 0\n{lines}", encoding="utf-8")
    shutil.copytree(DATA / "tfevents" / "runs", base.path / "board")
    for name in ("ms_sync_cpu_2ranks", "recorded_torch"):
        with zipfile.ZipFile(DATA / "dumps" / "samples" / f"{name}.zip") as archive:
            archive.extractall(base.path / name)
    shutil.copytree(DATA / "dumps" / "ckpt", base.path / "weights")
    shutil.copytree(base.path / "lenet", base.path / "harmed" / "lenet")
    shutil.copytree(base.path / "recorded_torch", base.path / "harmed" / "torch")
    shutil.copytree(DATA / "dumps" / "ckpt", base.path / "harmed" / "weights")
    return base


def post(server: Any, path: str, body: Any = None) -> Any:
    headers = {"Content-Type": "application/json", "Origin": f"http://127.0.0.1:{server.port}"}
    address = f"http://127.0.0.1:{server.port}/{path}"
    request = urllib.request.Request(address, json.dumps(body or {}).encode(), headers, method="POST")
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read())


def values_of(server: Any) -> dict[str, list[str]]:
    """Values of parameters by name, from the data and from jobs that are begun here."""
    runs = list(server.runs())
    dumps = [dump["id"] for dump in server.get("v2/dump/list")["dumps"] if "harmed" not in dump["id"]]
    dump = next(dump for dump in dumps if "torch" in dump)
    first = server.get(query("v2/dump/summary", dump=dump))["ranks"][0]
    at = {"rank": first["rank"], "step": first["steps"][0]}
    tensor = server.get(query("v2/dump/tensors", dump=dump, **at))["rows"][0]
    files = [f["id"] for f in server.get("v2/dump/checkpoints")["checkpoints"] if "harmed" not in f["id"]]
    file = next(file for file in files if "weights" in file)
    weights = server.get(query("v2/dump/checkpoint", file=file))["tensors"]
    matching = json.dumps(server.get(query("v2/graph/search", run="./lenet", q="conv")))
    nodes = ["Default", *re.findall(r'"(Default/[^"]*)"', matching)[:3]]
    side = {"dump": dump, **at}
    jobs = [
        post(server, "v2/dump/compare", {"target": side, "reference": side}),
        post(server, "v2/dump/check", {"dump": dump}),
        post(server, "v2/report?run=./lenet"),
    ]
    post(server, "v1/mindinsight/debugger/sessions", {"session_type": "OFFLINE", "dump_dir": dump})
    few = ["0", "1"]
    return {
        **dict.fromkeys(("run", "train_id", "baseline", "good", "bad", "job"), runs),
        **dict.fromkeys(
            ("row", "since", "other", "generation", "pos", "session_id", "rank_id", "before"), few
        ),
        **dict.fromkeys(("node", "source", "target", "tensor_name"), nodes),
        "rank": [str(at["rank"])],
        "step": [str(at["step"]), *few],
        "dump": [dump],
        "file": [file],
        "first": [file],
        "second": [file],
        "operator": [tensor["recorded"]],
        "recorded": [tensor["recorded"]],
        "graph": [tensor["graph"]],
        "direction": [tensor["direction"]],
        "slot": [str(tensor["slot"])],
        "name": [weights[0]["name"], "Default"],
        "number": [str(number) for job in jobs for number in job.values()],
        "other_run": ["./lenet"],
        "plugin_name": ["scalar"],
        "stem": ["loss"],
        "objective": ["loss", "accuracy"],
        "q": ["a"],
        "query": ["a"],
    }


def described(server: Any) -> Iterator[tuple[str, list[str], list[str]]]:
    """Path, and the names of the parameters in it and behind it that are given, of all that is read."""
    for description, prefix in INTERFACES.items():
        for path, methods in server.get(description)["paths"].items():
            if "get" in methods and not any(end in path for end in ENDLESS):
                parameters = methods["get"].get("parameters", [])
                names = [p["name"] for p in parameters if p.get("required") and p["in"] == "query"]
                if "dump" in names:
                    names += [p["name"] for p in parameters if p["name"] in ("rank", "step", "graph")]
                yield prefix + path, [p["name"] for p in parameters if p["in"] == "path"], names


def addresses(server: Any) -> tuple[list[str], list[str]]:
    """One address of each path: the first that has an answer, or the last that was tried in vain."""
    known, answered, without = values_of(server), [], []
    pairs = {
        kind: [(run, row["tag"]) for row in server.get(f"v2/tags?kind={kind}")["tags"] for run in row["runs"]]
        for kind in KINDS
    }
    for path, within, behind in described(server):
        kind = next((kind for kind in KINDS if kind in path), "scalar")
        run = next((name for name in ("run", "train_id") if name in behind), "")
        tagged = bool(run) and "tag" in behind
        names = [name for name in (*within, *behind) if not (tagged and name in (run, "tag"))]
        choices = itertools.product(
            pairs[kind] if tagged else [()], *(known.get(name, ["x"]) for name in names)
        )
        for pair, *values in itertools.islice(choices, PER_PATH):
            given = dict(zip((*names, *((run, "tag") if tagged else ())), (*values, *pair), strict=True))
            at = path.lstrip("/").format(**{name: urllib.parse.quote(given[name], "") for name in within})
            address = query(at, **{name: given[name] for name in behind})
            if ask(server, address)[0] == 200:
                answered.append(address)
                break
        else:
            without.append(address)
    return answered, without


async def ask_and_leave(server: Any, path: str, then: Callable[[Any], Awaitable[None]]) -> bool:
    """Send a request, do something with the answer, and leave. False if the server ended meanwhile."""
    await asyncio.sleep(0.01)
    with contextlib.suppress(OSError, asyncio.TimeoutError):
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1 << 10)
        try:
            writer.write(f"GET /{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            await then(reader)
            return True
        finally:
            writer.transport.abort()
    return False


class Chaos:
    """What happens to a server until `until`, and how often it did."""

    def __init__(self, server: Any, other: Any, base: Path, paths: list[str]) -> None:
        self.server, self.other, self.base, self.paths = server, other, base, paths
        self.until = time.monotonic() + SECONDS
        self.happened: Counter[str] = Counter()

    async def run(self) -> None:
        work = [*(self.leave(SEED + n) for n in range(CLIENTS)), *(self.read_slowly(n) for n in range(SLOW))]
        happenings = (self.kill_worker, self.harm_file, self.fill_disk, self.kill_server)
        await asyncio.gather(*work, *(self.again(happening) for happening in happenings))

    @property
    def over(self) -> bool:
        return time.monotonic() > self.until

    async def leave(self, seed: int) -> None:
        chance = random.Random(seed)

        async def wait(reader: asyncio.StreamReader) -> None:
            await asyncio.sleep(chance.uniform(0, chance.choice((0.03, 0.5))))

        while not self.over:
            server, path = chance.choice([self.server, self.other]), chance.choice(self.paths)
            self.happened["left"] += await ask_and_leave(server, path, wait)

    async def read_slowly(self, number: int) -> None:
        async def read(reader: asyncio.StreamReader) -> None:
            for _ in range(20):
                await asyncio.wait_for(reader.read(256), 30)
                await asyncio.sleep(0.1)

        while not self.over:
            path = self.paths[(number * 7 + self.happened["read slowly"]) % len(self.paths)]
            self.happened["read slowly"] += await ask_and_leave(self.other, path, read)

    async def again(self, happening: Any) -> None:
        chance = random.Random(str(happening.__name__))
        while not self.over:
            await asyncio.sleep(chance.uniform(0.5, SECONDS / 12))
            await asyncio.to_thread(happening, chance)
            self.happened[happening.__name__] += 1

    def kill_worker(self, chance: random.Random) -> None:
        with contextlib.suppress(IndexError, ProcessLookupError):
            os.kill(chance.choice(sorted(self.other.workers())), signal.SIGKILL)

    def harm_file(self, chance: random.Random) -> None:
        file = chance.choice([path for path in (self.base / "harmed").rglob("*") if path.is_file()])
        content, times = file.read_bytes(), file.stat()
        if chance.random() < 0.5:
            file.unlink()
        else:
            os.truncate(file, len(content) // 2)
        time.sleep(chance.uniform(0, 1))
        file.with_name(f".{file.name}").write_bytes(content)
        os.utime(file.with_name(f".{file.name}"), ns=(times.st_atime_ns, times.st_mtime_ns))
        file.with_name(f".{file.name}").replace(file)

    def fill_disk(self, chance: random.Random) -> None:
        pid = self.other.process.pid
        before = resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        time.sleep(chance.uniform(0.2, 1))
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)

    def kill_server(self, chance: random.Random) -> None:
        self.server.kill()
        self.server.start(workers=2)


def named(server: Any, report: Path) -> dict[str, Counter[str]]:
    """Threads, descriptors and processes of a server by their names."""
    proc, descriptors = Path(f"/proc/{server.process.pid}"), Counter[str]()
    for link in (proc / "fd").iterdir():
        with contextlib.suppress(OSError):
            descriptors[re.sub(r":?\[.*|^/memfd.*", "", link.readlink().name)] += 1
    threads = Counter(name for name in json.loads(report.read_text())[2] if not name.startswith("AnyIO"))
    return {
        "threads": threads,
        "descriptors": descriptors,
        "processes": Counter(len(server.children()) * ["child"]),
    }


def is_read(server: Any) -> bool:
    known = server.steps() is not None and len(server.runs()) >= 9
    return known and len(server.get("v2/dump/list")["dumps"]) >= 3


def left(before: dict[str, Counter[str]], after: dict[str, Counter[str]]) -> dict[str, Counter[str]]:
    return {kind: more for kind in after if (more := after[kind] - before[kind])}


def until_as_before(server: Any, path: str, before: tuple[int, bytes], wait: Any) -> None:
    """Wait for the answer there was; statistics may be computed anew."""
    wait(
        lambda: settled(server, path, wait) == before,
        show=lambda: (path, difference(before, ask(server, path))),
    )


@pytest.mark.timeout(SECONDS + 900)
def test_after_everything_at_once_all_answers_are_as_before_and_nothing_is_left(
    filled: Any, server: Any, second_server: Any, wait: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = tmp_path / "locks"
    program = RECORDING.replace("sys.argv[1]", repr(str(report)))
    server.start(workers=2)
    monkeypatch.setitem(type(server).start.__globals__, "SERVE", program)
    second_server.start(workers=2)
    monkeypatch.undo()
    for tested in (server, second_server):
        assert wait(partial(is_read, tested)), tested.runs().keys()
    paths, without = addresses(second_server)
    print(f"{len(paths)} addresses with an answer, {len(without)} without")
    paths += without + [path for path in dump_addresses(second_server) if "harmed" in path]
    assert len(without) <= WITHOUT
    compared = share([path for path in paths if not path.endswith(COUNTING)], 4)
    before = {path: settled(second_server, path, wait) for path in compared}
    idle, memory = named(second_server, report), second_server.memory()
    chaos = Chaos(server, second_server, filled.path, paths)
    with loaded(SPINNERS):
        asyncio.run(chaos.run())
    print(f"load {os.getloadavg()[0]:.1f}, {dict(chaos.happened)}")
    assert min(chaos.happened[name] for name in ("kill_worker", "harm_file", "fill_disk", "kill_server")) >= 1
    for tested in (second_server, server):
        assert tested.get("health")["status"] == "ok"
        repeated = [path for path in before if tested is second_server or "/debugger/" not in path]
        for path in repeated:
            until_as_before(tested, path, before[path], wait)
    wait(
        lambda: left(idle, named(second_server, report)) == {},
        show=lambda: left(idle, named(second_server, report)),
    )
    print(
        f"{memory >> 20} MB before, {second_server.memory() >> 20} MB after, {named(second_server, report)}"
    )
    assert second_server.memory() < memory + MEMORY
    faults, longest, _ = json.loads(report.read_text())
    print({module.rpartition(".")[2]: round(seconds * 1000, 2) for module, seconds in longest.items()})
    assert faults == []
    assert (server.stop(), second_server.stop()) == (0, 0)
