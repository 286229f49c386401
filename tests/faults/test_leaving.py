"""Clients that leave 0 to 300 ms after asking, as of somebody who scrubs through steps, at load.

Clients that stay beside them get equal answers, and few are refused. Afterwards every address of dumps,
graphs and checkpoints answers as before, and nothing is left behind.
"""

import asyncio
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.thoroughness import THOROUGH, amount, share

DATA = Path(__file__).parents[1] / "data"
DUMPS = ("ms_sync_cpu_2ranks", "recorded_torch", "msprobe_pytorch", "async_synthetic")
CLIENTS = 16  # that leave, at a time
STAYING = 4  # clients that read each answer before they ask again
REFUSED = 0.05  # of what staying clients ask: some may meet a full class, most must not
CHANGING = re.compile(rb'"(version|stamp|job|etag|now|scanned|generation)": ?[^,}]+')
UNFINISHED = re.compile(rb'"(done|measured_all|complete)": ?false')
LEAVES = (0.030, 0.030, 0.300)  # seconds after asking, at most: before the work begins, and while it is done
SEED = 30
MORE = 2  # threads of anyio: one in 100,000 requests was seen
SPINNERS = 4 if THOROUGH else 0  # processes that take what there is of the processor


@pytest.fixture
def filled(base: Any) -> Any:
    base.run("run")
    for name in DUMPS:
        with zipfile.ZipFile(DATA / "dumps" / "samples" / f"{name}.zip") as archive:
            archive.extractall(base.path / name)
    shutil.copytree(DATA / "dumps" / "ckpt", base.path / "weights")
    shutil.copytree(DATA / "events" / "lenet", base.path / "lenet")
    return base


def query(path: str, **parameters: Any) -> str:
    return f"{path}?{urllib.parse.urlencode(parameters, doseq=True)}"


def dump_addresses(server: Any) -> Iterator[str]:
    for dump in [dump["id"] for dump in server.get("v2/dump/list")["dumps"]]:
        ranks = server.get(query("v2/dump/summary", dump=dump))["ranks"]
        yield from (query(f"v2/dump/{name}", dump=dump) for name in ("summary", "logs", "fault"))
        for rank in ranks[:1]:
            for step in rank["steps"][:2]:
                at = {"dump": dump, "rank": rank["rank"], "step": step}
                for name in ("overflows", "tensors", "tree", "picture"):
                    yield query(f"v2/dump/{name}", **at)
                yield query("v2/dump/tensors", sort="max", descending="true", **at)
                yield query("v2/dump/trends", before=rank["steps"][0], **at)
                for tensor in server.get(query("v2/dump/tensors", **at))["rows"][:1]:
                    about = {key: tensor[key] for key in ("graph", "direction", "slot")}
                    about["operator"] = tensor["recorded"]
                    for name in ("values", "histogram", "heatmap", "download"):
                        yield query(f"v2/dump/{name}", **at, **about)
                    yield query("v2/dump/chain", operator=tensor["recorded"], **at)


def addresses(server: Any) -> list[str]:
    """Addresses of all kinds, with what they name in this base."""
    paths = ["v2/dump/list", "v2/dump/conditions", "v2/dump/checkpoints", *dump_addresses(server)]
    files = [file["id"] for file in server.get("v2/dump/checkpoints")["checkpoints"]]
    for file in files:
        paths.append(query("v2/dump/checkpoint", file=file))
    paths.append(query("v2/dump/checkpoint/timeline", file=files[:2]))
    paths.append(query("v2/dump/checkpoint/difference", first=files[0], second=files[-1]))
    run = "./lenet"
    for name in ("graphs", "picture", "types", "figure", "search", "inside", "card"):
        paths.append(query(f"v2/graph/{name}", run=run))
    paths.append(query("v2/graph/picture", run=run, open="all", flat="true"))
    for name in ("differences", "pictures"):
        paths.append(query(f"v2/graph/compare/{name}", run=run, other_run=run))
    return paths


def ask(server: Any, path: str) -> tuple[int, bytes]:
    """Status and body, without what says when something happened."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/{path}", timeout=60) as answer:
            return answer.status, CHANGING.sub(b"", answer.read())
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def difference(before: tuple[int, bytes], after: tuple[int, bytes]) -> str:
    """Status and surroundings of the first byte that differs."""
    a, b = before[1], after[1]
    at = next((n for n, pair in enumerate(zip(a, b, strict=False)) if pair[0] != pair[1]), len(a))
    near = slice(max(0, at - 200), at + 200)
    return f"{before[0]}, {after[0]}: {a[near]!r} {b[near]!r}"


def settled(server: Any, path: str, wait: Any) -> tuple[int, bytes]:
    """The answer once it no longer changes: statistics are computed in the background."""
    if job := re.match(
        r"v2/dump/compare/\d+(?=/csv)", path
    ):  # which does not say whether more rows will come
        settled(server, job[0], wait)
    last: list[tuple[int, bytes]] = []

    def same() -> bool:
        last.append(ask(server, path))
        status, body = last[-1]
        if status == 503 or UNFINISHED.search(body) or len(last) < 2 or last[-1] != last[-2]:
            time.sleep(0.05)
            return False
        return True

    wait(same, 60, lambda: (path, last[-1]))
    return last[-1]


async def leave_early(port: int, paths: list[str], count: int) -> None:
    """Ask for random addresses and close each connection before or while it is answered."""
    left = iter(random.Random(SEED).choices(paths, k=count))
    choice = random.Random(SEED + 1)

    async def client() -> None:
        for path in left:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(f"GET /{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            await asyncio.sleep(choice.uniform(0, choice.choice(LEAVES)))
            writer.transport.abort()

    await asyncio.gather(*(client() for _ in range(CLIENTS)))


async def stay(server: Any, before: dict[str, tuple[int, bytes]], seed: int, seen: Counter[str]) -> None:
    """Ask for random addresses until cancelled, and count how the answers differ from those before."""
    choice = random.Random(seed)
    paths = list(before)
    while True:
        path = choice.choice(paths)
        status, body = answer = await asyncio.to_thread(ask, server, path)
        if status in (503, 504):  # busy, or late on a machine that has much else to do
            seen["refused"] += 1
        elif UNFINISHED.search(body) or answer == before[path]:  # statistics may be computed anew
            seen["unfinished" if answer != before[path] else "equal"] += 1
        else:
            seen["changed"] += 1
            seen[f"changed: {path} {difference(before[path], answer)}"] += 1


async def leave_and_stay(server: Any, before: dict[str, tuple[int, bytes]], count: int) -> Counter[str]:
    """Return how the answers of those who stay differ while `count` requests are left."""
    seen: Counter[str] = Counter()
    staying = [asyncio.ensure_future(stay(server, before, SEED + 2 + n, seen)) for n in range(STAYING)]
    await leave_early(server.port, list(before), count)
    for task in staying:
        task.cancel()
    await asyncio.gather(*staying, return_exceptions=True)
    return seen


@contextmanager
def loaded(count: int) -> Iterator[None]:
    spinners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def held(server: Any) -> dict[str, Any]:
    """Numbers of threads and descriptors of the server."""
    proc = Path(f"/proc/{server.process.pid}")
    return {
        "threads": len(list((proc / "task").iterdir())),
        "descriptors": len(list((proc / "fd").iterdir())),
    }


def metrics(server: Any) -> dict[str, float]:
    with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics", timeout=60) as answer:
        lines = [line for line in answer.read().decode().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


@pytest.mark.timeout(3600)
def test_clients_that_leave_change_no_answer_and_leave_nothing(filled: Any, server: Any, wait: Any) -> None:
    server.start(workers=2)
    assert wait(lambda: server.steps() is not None and len(server.runs()) >= 2)
    assert wait(lambda: len(server.get("v2/dump/list")["dumps"]) >= len(DUMPS))
    paths = share(addresses(server), 4)
    before = {path: settled(server, path, wait) for path in paths}
    assert {status for status, _ in before.values()} <= {200, 404, 422}
    assert sum(status == 200 for status, _ in before.values()) > len(before) * 0.8
    idle = held(server)
    count = amount(20_000, 600)
    begun = time.monotonic()
    with loaded(SPINNERS):
        seen = asyncio.run(leave_and_stay(server, before, count))
        load = os.getloadavg()[0]
        assert server.get("health")["status"] == "ok"
    print(f"{count} requests, {len(paths)} addresses, {time.monotonic() - begun:.0f} s, load {load:.1f}")
    print(f"answers of staying clients: {dict(seen)}; held before {idle}, now {held(server)}")
    assert seen["changed"] == 0, dict(seen)
    assert seen["equal"] > 0
    assert seen["refused"] <= REFUSED * seen.total()
    assert wait(lambda: all(value == 0 for name, value in metrics(server).items() if "work_running" in name))
    after = {path: settled(server, path, wait) for path in paths}
    assert [path for path in paths if before[path] != after[path]] == []
    counted = metrics(server)
    print(json.dumps({name: value for name, value in counted.items() if "work_" in name or "pool_" in name}))
    assert counted['mindinsight_work_stuck{class="dumps"}'] == 0
    assert sum(value for name, value in counted.items() if "work_cancelled" in name) > 0
    # When asyncio cancels a call whose thread is still at work, anyio starts another thread and keeps both.
    wait(lambda: held(server)["threads"] <= idle["threads"] + MORE, show=lambda: (idle, held(server)))
    wait(lambda: held(server)["descriptors"] <= idle["descriptors"] + 2, show=lambda: (idle, held(server)))
    assert wait(lambda: len(server.workers()) <= 6)
    assert server.stop() == 0


HANGS = """
import sys, threading, time
from mindinsight.server.compute.plugin_modules import PluginState
from mindinsight.server.ingest.loader import Loader
from mindinsight.server.plugins.dump import dump_listing as listing
listing.open_known_dump = lambda *values: time.sleep(600)
for kind in {kinds}:
    kind.stop = lambda self: time.sleep(600)
from mindinsight.server.process.serve import main
sys.exit(main())
"""
STEPS = {  # of the end of a server, which hang as well
    "nothing else": "()",
    "sessions": "(PluginState,)",
    "loader": "(Loader,)",
}


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kinds", STEPS.values(), ids=STEPS)
def test_a_server_whose_work_is_stuck_ends_on_a_signal(
    filled: Any, server: Any, monkeypatch: pytest.MonkeyPatch, kinds: str
) -> None:
    """Twenty requests are at what never ends: as many as there are threads, and some that wait."""
    monkeypatch.setitem(type(server).start.__globals__, "SERVE", HANGS.format(kinds=kinds))

    async def ask_and_stay() -> list[Any]:
        connections = []
        for _ in range(20):
            connections.append(await asyncio.open_connection("127.0.0.1", server.port))
            connections[-1][1].write(b"GET /v2/dump/summary?dump=./x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        while metrics(server)['mindinsight_work_running{class="dumps"}'] < 4:
            await asyncio.sleep(0.05)
        return connections

    async def seconds_to_end() -> float:
        server.start()
        connections = await ask_and_stay()
        begun = time.monotonic()
        server.process.terminate()
        assert server.process.wait(60) == 0
        for _, writer in connections:
            writer.transport.abort()
        return time.monotonic() - begun

    with loaded(2 * SPINNERS):
        took = [asyncio.run(seconds_to_end()) for _ in range(amount(10, 1))]
    print(f"ended after {', '.join(f'{seconds:.2f}' for seconds in took)} s, load {os.getloadavg()[0]:.1f}")
