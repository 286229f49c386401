"""Nothing below a base directory is ever written, says a watcher while everything runs that reads."""

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from fastapi.testclient import TestClient
from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

from mindinsight.server.app import create_app
from mindinsight.server.client.reader import Summary
from mindinsight.server.commands.main import main
from mindinsight.server.files.placeholders import CATALOGUE, PlaceholderIndex, put_placeholder
from mindinsight.server.files.remote_store import RemoteFile
from mindinsight.server.settings import Settings
from tests.faults.test_hostile_requests import GOOD, address, operations

DATA: Final = Path(__file__).parent / "data"
READING: Final = ("opened", "closed_no_write")  # kinds of events


class Watched:
    """A base directory, what the watcher reports of it, and the states of all that is in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.events: list[tuple[str, str]] = []
        self._before = self.states()

    def note(self, event: FileSystemEvent) -> None:
        if event.event_type not in READING:
            self.events.append((event.event_type, os.fsdecode(event.src_path)))

    def states(self) -> dict[str, tuple[int, ...]]:
        paths = [self.path, *sorted(self.path.rglob("*"))]
        states = [(path, path.lstat()) for path in paths]
        return {
            str(path): (state.st_mode, state.st_size, state.st_mtime_ns, state.st_ctime_ns)
            for path, state in states
        }

    def is_untouched(self) -> bool:
        return not self.events and self.states() == self._before


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """Runs, dumps, weights, and what looks like files of the program: a catalogue, a placeholder, a cache."""
    folder = tmp_path_factory.mktemp("untouched") / "base"
    shutil.copytree(DATA / "events" / "lenet", folder / "lenet")
    shutil.copytree(DATA / "events" / "damaged", folder / "damaged")
    shutil.copytree(DATA / "events" / "record_api" / "values", folder / "values")
    shutil.copytree(DATA / "dumps" / "ms_sync_v2_0_names", folder / "job" / "dump")
    shutil.copytree(DATA / "dumps" / "ckpt", folder / "weights")
    copy = folder / "copy"
    copy.mkdir()
    for name in ("events.out.events.summary.1700000000.0.host_MS", "tensor.npy", "weights.ckpt"):
        file = RemoteFile(str(folder / "lenet"), 100, 1.0, "")
        PlaceholderIndex(copy).put(f"file://{folder}", {name: file}, ())
        put_placeholder(copy, name, file)
    shutil.copy(folder / CATALOGUE, copy / CATALOGUE)
    for name in ("cache", "remote", "log"):
        (folder / name).mkdir()
    watched = Watched(folder)
    handler = FileSystemEventHandler()
    handler.on_any_event = watched.note  # type: ignore[method-assign]
    observer = Observer()
    observer.schedule(handler, str(folder), recursive=True)
    observer.start()
    yield watched
    observer.stop()
    observer.join()


COMMANDS: Final[dict[str, Callable[[Path, Path], list[Any]]]] = {
    "ls": lambda base, out: ["--summary-dir", base],
    "get": lambda base, out: ["--summary-dir", base, "*", "*"],
    "export": lambda base, out: ["--summary-dir", base, "--output", out],
    "parse_summary": lambda base, out: ["--summary-dir", base / "lenet", "--output", out],
    "compare": lambda base, out: ["--summary-dir", base, "./lenet", "./lenet"],
    "report": lambda base, out: ["--summary-base-dir", base, "./lenet", "--output", out / "report.html"],
    "dump ls": lambda base, out: [base / "job" / "dump"],
    "dump stat": lambda base, out: [base / "job" / "dump"],
    "dump check": lambda base, out: [base / "job" / "dump"],
    "dump compare": lambda base, out: [base / "job" / "dump", base / "job" / "dump", "--csv", out / "a.csv"],
    "dump convert": lambda base, out: [base / "job" / "dump", "--output", out],
    "ckpt ls": lambda base, out: [base / "weights" / "tinynet-1.ckpt"],
    "ckpt diff": lambda base, out: [
        base / "weights" / "tinynet-1.ckpt",
        base / "weights" / "tinynet-2.ckpt",
    ],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_write_nothing_to_what_they_read(
    base: Watched, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINDINSIGHT_WORKSPACE", str(tmp_path / "workspace"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    options = COMMANDS[command](base.path, tmp_path / "out")
    assert main([*command.split(), *map(str, options)]) in (0, 1)
    assert base.is_untouched(), base.events


def test_the_reader_writes_nothing(base: Watched) -> None:
    opened = Summary(base.path)
    opened.refresh()
    assert list(opened.scalars())
    assert list(opened.tensors()) + list(opened.images())
    assert base.is_untouched(), base.events


def test_a_server_with_all_its_routes_writes_nothing(base: Watched, tmp_path: Path) -> None:
    settings = Settings(base.path, tmp_path / "workspace", workers=1, reload_interval=1)
    app = create_app(settings)
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        end = time.monotonic() + 60
        while len(client.get("/v2/dump/list").json()["dumps"]) < 1 and time.monotonic() < end:
            threading.Event().wait(0.05)
        answered = 0
        for method, path, parameters in operations(app):
            places = {parameter["name"]: parameter["in"] for parameter in parameters}
            query = {
                name: GOOD[name] for name, location in places.items() if location == "query" and name in GOOD
            }
            inside = [name for name, location in places.items() if location == "path"]
            body = None if method == "get" else {"run": "./values", "name": "name"}
            answer = client.request(method, address(path, GOOD, inside), params=query, json=body)
            answered += answer.status_code == 200
        assert answered > 40  # of about 130; others lack what they are about
        for page in ("/", "/scalar", "/graph", "/dump", "/checkpoint"):
            assert client.get(page).status_code == 200
    assert base.is_untouched(), base.events


def test_the_watcher_sees_a_write(base: Watched) -> None:
    """The last test of this module, since it writes."""
    (base.path / "new").touch()
    end = time.monotonic() + 60
    while not base.events and time.monotonic() < end:
        threading.Event().wait(0.01)
    assert base.events
    assert not base.is_untouched()


def test_files_of_the_workspace_are_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modes of everything that a server and a command leave in the workspace, with an open umask."""
    workspace = tmp_path / "workspace"
    monkeypatch.setenv("MINDINSIGHT_WORKSPACE", str(workspace))
    before = os.umask(0)
    try:
        settings = Settings(DATA / "events", workspace, workers=1)
        with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
            end = time.monotonic() + 60
            while not client.get("/v2/runs").json()["runs"] and time.monotonic() < end:
                threading.Event().wait(0.05)
            assert client.post("/v2/reports", json={"title": "title"}).status_code == 200
            report = client.get("/v2/reports").json()["reports"][0]["id"]
            pin = {"view": "scalar", "card": "loss", "frozen": "{}"}
            assert client.post(f"/v2/reports/{report}/blocks", json={"pin": pin}).status_code == 200
        main(["dump", "stat", str(DATA / "dumps" / "ms_sync_v2_0_names")])
    finally:
        os.umask(before)
    paths = [workspace, *workspace.rglob("*")]
    assert len(paths) > 5
    wrong = [str(path) for path in paths if path.stat().st_mode & 0o077]
    assert wrong == []
