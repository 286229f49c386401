"""Two servers on one workspace that are asked for changes at the same moment."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.settings.base_dirs import bases_of
from tests.thoroughness import amount

ROUNDS = amount(40, 10)


@pytest.fixture(params=["one base", "two bases"])
def servers(
    request: pytest.FixtureRequest, base: Any, server: Any, second_server: Any, tmp_path: Path
) -> tuple[Any, Any]:
    """Both servers, and two runs that either of them may pin."""
    runs = ("./a", "./b")
    if request.param == "two bases":
        for name in ("left", "right"):
            (base.path / name).mkdir()
        server.base = second_server.base = bases_of([base.path / "left", base.path / "right"])
        runs = ("./left/a", "./right/b")
    for run in runs:
        base.run(run)
    for running in (server, second_server):
        running.start()
        assert running.shows(**{run.removeprefix("./"): 99 for run in runs}) is True
    return (server, second_server), runs


def test_a_pin_of_each_at_once_leaves_one(servers: tuple[Any, Any]) -> None:
    both, runs = servers
    for _ in range(ROUNDS):
        start = threading.Barrier(2)

        def pin(server: Any, run: Any, start: Any = start) -> None:
            start.wait()
            server.change("v2/runs/notes", run=run, pinned=True)

        with ThreadPoolExecutor() as pool:
            list(pool.map(pin, both, runs))
        pins = [pinned(server) for server in both]
        assert (len(pins[0]), pins[0]) == (1, pins[1])


def test_a_server_over_one_and_a_server_over_both_show_one_pin(
    base: Any, server: Any, second_server: Any
) -> None:
    """Whichever pinned last: the server over both shows that run alone, the other no neighbour."""
    for name in ("left", "right"):
        (base.path / name).mkdir()
        base.run(f"{name}/run")
    server.base = base.path / "left"
    second_server.base = bases_of([base.path / "left", base.path / "right"])
    assert server.start().shows(run=99) is True
    assert second_server.start().shows(**{"left/run": 99, "right/run": 99}) is True
    pins = ((server, "./run"), (second_server, "./right/run"))
    for number in range(ROUNDS):
        start = threading.Barrier(2)

        def pin(server: Any, run: Any, start: Any = start) -> None:
            start.wait()
            server.change("v2/runs/notes", run=run, pinned=True)

        with ThreadPoolExecutor() as pool:
            list(pool.map(pin, *zip(*pins, strict=True)))
        assert len(pinned(second_server)) == 1
        last, run = pins[number % 2]
        last.change("v2/runs/notes", run=run, pinned=True)
        assert pinned(second_server) == [["./left/run"], ["./right/run"]][number % 2]
        assert pinned(server) == [["./run"], []][number % 2]


def pinned(server: Any) -> list[str]:
    return [run["id"] for run in server.runs().values() if run["pinned"]]
