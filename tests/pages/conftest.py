"""A browser, a server on a free port, and a base directory with runs of every kind.

``page`` fails its test when the page logged an error, threw one, or asked another host for anything.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shutil
import socket
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import pytest
import uvicorn
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    FloatRect,
    Locator,
    Page,
    Playwright,
    expect,
    sync_playwright,
)

from mindinsight.server.app import create_app, make_service
from mindinsight.server.http import static_files
from mindinsight.server.ingest.loader import Loader
from mindinsight.server.settings import Settings
from tests.narrowing import require

PATIENCE = 60.0  # s: a machine may be busy; nothing is measured here

expect.set_options(timeout=1000 * PATIENCE)

DATA = Path(__file__).parents[1] / "data" / "events"
SAMPLES = {  # run below the base -> sample
    "lenet": "lenet",
    "landscape": "landscape",
    "values": "record_api/values",
    "images": "record_api/images",
    "ranks": "multi_rank",
    "damaged": "damaged/flip_body_crc",
}
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--process-per-site",  # pages of servers that follow each other have one process,
    "--js-flags=--no-flush-bytecode",  # which compiles each script once
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # another host is an error in the console
]
SHARED_MEMORY = Path("/dev/shm")
ROOM = 1 << 30  # bytes: a container of Docker has 64 MB there, with which Chromium crashes


def ignored_arguments() -> list[str]:
    """Return arguments of Playwright to leave out. Shared memory in files of /tmp takes more CPU."""
    there = SHARED_MEMORY.is_dir() and shutil.disk_usage(SHARED_MEMORY).free > ROOM
    return ["--disable-dev-shm-usage"] if there else []


T = TypeVar("T")
PLAYWRIGHT = pytest.StashKey[Playwright]()
BROWSER = pytest.StashKey[Browser]()
PROFILE = pytest.StashKey[BrowserContext]()


class Server(uvicorn.Server):
    """uvicorn that leaves no connection open: Python complains of it in a later test, which then fails.

    The browser would ask the next server through it, too.
    """

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):  # that outlived the patience of uvicorn
            getattr(connection, "transport").abort()  # noqa: B009 - not in its type
        while self.server_state.connections:
            await asyncio.sleep(0.01)


class Running:
    """A server in a thread of this process."""

    def __init__(self, settings: Settings, executor: Any = None) -> None:
        """``executor`` reads the files in place of worker processes."""
        service = make_service(settings)
        if executor is not None:
            loader = Loader(settings, service.store, executor)
            service = replace(service, loader=loader, executor=executor)
        self.app = create_app(settings, service)
        config = uvicorn.Config(self.app, log_level="warning", timeout_graceful_shutdown=1)
        self._server = Server(config)
        self._socket = socket.create_server((settings.host, settings.port))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]})
        self._thread.start()

    def until_read(self) -> None:
        """Until every file has been read."""
        store = self.app.state.service.store
        known = store.snapshot()
        while not known.scanned or any(run.read < run.total for run in known.runs.values()):
            time.sleep(0.02)
            known = store.snapshot()

    def stop(self) -> None:
        self.app.state.hub.close()
        self._server.should_exit = True
        self._thread.join(60)
        self._socket.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A browser on a busy machine may be starved for longer than anybody waits: try twice more, and say so.

    What failed first is in the summary (``-r R``), to be looked into: twice it was a true fault of a page.
    """
    folder = f"{Path(__file__).parent}{os.sep}"
    for item in items:  # of all folders; Path.parents would take half a second of CPU
        if str(item.path).startswith(folder):
            item.add_marker(pytest.mark.flaky(reruns=2))


@pytest.fixture(scope="session", autouse=True)
def read_once() -> Iterator[None]:
    """Read and hash the files of the pages once, and not for each of the hundreds of servers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(static_files, "Assets", cache(static_files.Assets))
        yield


@pytest.fixture(scope="session")
def ports() -> tuple[int, int]:
    """Ports of a module's server and of a test's first one: the browser's cache goes by address."""
    return free_port(), free_port()


@pytest.fixture
def serve(tmp_path: Path, ports: tuple[int, int]) -> Iterator[Callable[..., str]]:
    """``serve(base, **settings)`` starts a server and gives its address, ending with a slash."""
    started: list[Running] = []

    def start(base: Path, executor: Executor | None = None, **options: Any) -> str:
        port = free_port() if started else ports[1]
        settings = Settings(
            base, tmp_path / "workspace", port=port, reload_interval=0.2, workers=1, **options
        )
        started.append(Running(settings, executor))
        return settings.address

    yield start
    for server in started:
        server.stop()


@pytest.fixture
def sample_base(tmp_path: Path) -> Path:
    """A base directory with real runs of every kind, of four ranks, and one with a damaged record."""
    return copy_samples(tmp_path / "base")


@pytest.fixture(scope="module")
def serve_once(
    tmp_path_factory: pytest.TempPathFactory, ports: tuple[int, int]
) -> Iterator[Callable[[Path], str]]:
    """``serve``, but for all tests of a module: they only look at what is there, and all of it is there."""
    started: list[Running] = []

    def start(base: Path) -> str:
        port = free_port() if started else ports[0]
        settings = Settings(base, tmp_path_factory.mktemp("workspace"), port=port, workers=1)
        started.append(Running(settings))
        started[-1].until_read()
        return settings.address

    yield start
    for server in started:
        server.stop()


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory, serve_once: Callable[[Path], str]) -> str:
    """The address of one server over the samples for a whole module."""
    return serve_once(copy_samples(tmp_path_factory.mktemp("samples") / "base"))


def copy_samples(base: Path) -> Path:
    for run, sample in SAMPLES.items():
        shutil.copytree(DATA / sample, base / run)
    return base


@pytest.fixture(scope="session")
def expected() -> Callable[[str, str, str], dict[str, Any]]:
    """``expected("lenet", "scalar", "loss/auto")``: what the sample's other reader found under a tag."""

    def find(run: str, kind: str, tag: str) -> dict[str, Any]:
        sample = DATA / SAMPLES.get(run, run)
        known = sample if (sample / "expected.json").exists() else sample.parent
        runs = json.loads((known / "expected.json").read_text())["runs"]
        files = runs["." if known == sample else sample.name]["files"].values()
        return next(
            entry for file in files for entry in file.get("tags", {}).get(kind, ()) if entry["tag"] == tag
        )

    return find


class Chart:
    """A chart as it is drawn: what its lines hold, and where its axes end."""

    def __init__(self, page: Page, name: str) -> None:
        self.page = page
        self.element: Locator = page.get_by_role("img", name=name, exact=True)

    def attend(self) -> None:
        """Turn to it, as the focus does: Plotly draws what was only sketched."""
        expect(self.element.locator("svg, canvas").first).to_be_attached()
        self.element.dispatch_event("focusin")
        expect(self.element.locator(".main-svg, canvas").first).to_be_attached()

    def plot_box(self) -> FloatRect:
        """Where the plot is in the window, once it is scrolled to."""
        self.attend()
        self.element.scroll_into_view_if_needed()
        return require(self.element.locator(".nsewdrag").first.bounding_box())

    def traces(self) -> list[dict[str, Any]]:
        """Every trace drawn, oldest first, with its columns as lists."""
        self.attend()
        return self.element.evaluate(
            """element => element._fullData.map(trace => ({
                name: trace.name, type: trace.type, mode: trace.mode,
                contours: trace.contours?.coloring, lines: trace.ncontours, colour: trace.line?.color,
                width: trace.line?.width, marker: trace.marker, opacity: trace.opacity, axis: trace.yaxis,
                x: Array.from(trace.x ?? []), y: Array.from(trace.y ?? []),
                z: Array.from(trace.z ?? [], row => Array.from(row)), zmax: trace.zmax, text: trace.text}))"""
        )

    def until(self, holds: Callable[[list[dict[str, Any]]], object]) -> list[dict[str, Any]]:
        """The traces once they are as wanted."""
        traces: list[dict[str, Any]] = []
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                traces = self.traces()
            except Error:  # taken away between two looks
                traces = []
            if traces and holds(traces):
                return traces
            self.page.wait_for_timeout(50)
        raise AssertionError(f"the chart stayed {traces!r}"[:2000])

    def axis(self, name: str) -> dict[str, Any]:
        self.attend()
        return self.element.evaluate(
            """(element, name) => {
                const { type, range, tickvals } = element._fullLayout[name];
                return { type, range, tickvals };
            }""",
            name,
        )

    def drag(self, start: float, end: float) -> None:
        """Over the plot from one share of its width to another."""
        box = self.plot_box()
        middle = box["y"] + box["height"] / 2
        self.page.mouse.move(box["x"] + start * box["width"], middle)
        self.page.mouse.down()
        self.page.mouse.move(box["x"] + (start + end) / 2 * box["width"], middle, steps=3)
        self.page.mouse.move(box["x"] + end * box["width"], middle, steps=3)
        self.page.mouse.up()

    def drag_up(self, start: float, end: float) -> None:
        """Over the middle of the plot from one share of its height to another, counted from its top."""
        box = self.plot_box()
        middle = box["x"] + box["width"] / 2
        self.page.mouse.move(middle, box["y"] + start * box["height"])
        self.page.mouse.down()
        self.page.mouse.move(middle, box["y"] + end * box["height"], steps=6)
        self.page.mouse.up()

    def point(self, across: float, down: float) -> None:
        """Move the pointer to a place, in shares of the plot."""
        box = self.plot_box()
        self.page.mouse.move(box["x"] + across * box["width"], box["y"] + down * box["height"], steps=2)


@pytest.fixture
def chart(page: Page) -> Callable[[str], Chart]:
    return lambda name: Chart(page, name)


def share(request: pytest.FixtureRequest, key: pytest.StashKey[T], made: AbstractContextManager[T]) -> T:
    """Return what ``made`` gives, entered by the first test of this folder and left after the last one."""
    folder = require(request.node.getparent(pytest.Dir))
    if key not in folder.stash:
        stack = contextlib.ExitStack()
        folder.addfinalizer(stack.close)
        folder.stash[key] = stack.enter_context(made)
        stack.callback(folder.stash.__delitem__, key)
    return folder.stash[key]


@pytest.fixture(scope="module")
def playwright(request: pytest.FixtureRequest) -> Playwright:
    """Playwright, for this folder only: it runs an event loop, beside which no test could start its own."""
    return share(request, PLAYWRIGHT, sync_playwright())


@pytest.fixture(scope="module")
def browser(request: pytest.FixtureRequest, playwright: Playwright) -> Browser:
    """A browser for tests that make contexts of their own."""
    return share(request, BROWSER, launched_browser(playwright))


@contextlib.contextmanager
def launched_browser(playwright: Playwright) -> Iterator[Browser]:
    browser = playwright.chromium.launch(
        executable_path=chromium(), args=ARGUMENTS, ignore_default_args=ignored_arguments()
    )
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def profile(
    request: pytest.FixtureRequest, playwright: Playwright, tmp_path_factory: pytest.TempPathFactory
) -> BrowserContext:
    """The browser of all pages: its start and what it compiled would cost each module a second of CPU."""
    return share(request, PROFILE, opened_profile(playwright, tmp_path_factory.mktemp("profile")))


@contextlib.contextmanager
def opened_profile(playwright: Playwright, directory: Path) -> Iterator[BrowserContext]:
    profile = playwright.chromium.launch_persistent_context(
        directory,
        executable_path=chromium(),
        args=ARGUMENTS,
        ignore_default_args=ignored_arguments(),
        color_scheme="light",
        locale="en",
        viewport={"width": 1440, "height": 900},
        reduced_motion="reduce",
    )
    profile.set_default_timeout(1000 * PATIENCE)
    keep_renderer(profile.pages[0])
    yield profile
    profile.close()


def keep_renderer(page: Page) -> None:
    """Leave a page of the servers' site open: pages that follow share its process and compiled scripts."""
    page.route("**/*", lambda route: route.fulfill(body=""))
    page.goto("http://127.0.0.1/")


@pytest.fixture
def refusals() -> set[int]:
    """Statuses that Chromium may log: of input that cannot be taken. A test adds what it provokes."""
    return {409, 422}


@pytest.fixture
def page(profile: BrowserContext, serve: Callable[..., str], refusals: set[int]) -> Iterator[Page]:
    """A new page without anything that an earlier test stored, and closed before the servers are.

    A page whose server goes away has something to complain about.
    """
    with profile.expect_page() as opened:
        profile.pages[0].evaluate("() => void window.open('about:blank')")
    page = opened.value
    faults: list[str] = []
    page.on(
        "console",
        lambda message: faults.append(fault_text(message)) if is_fault(message, refusals) else None,
    )
    page.on("pageerror", lambda error: faults.append(f"thrown: {error}"))
    yield page
    forget(profile, page)
    page.close()
    assert not faults


def forget(profile: BrowserContext, page: Page) -> None:
    """Drop cookies, permissions and what scripts stored; the cache of files stays."""
    profile.clear_cookies()
    profile.clear_permissions()
    origins = {"{0.scheme}://{0.netloc}".format(urlsplit(frame.url)) for frame in page.frames}
    session = profile.new_cdp_session(page)
    for origin in origins:
        stored = {"origin": origin, "storageTypes": "local_storage,indexeddb"}
        session.send("Storage.clearDataForOrigin", stored)
    session.detach()


def is_fault(message: ConsoleMessage, refusals: set[int]) -> bool:
    """Errors, but not what Chromium says of an answer with one of these statuses."""
    status = re.search(r"status of (\d+)", message.text)
    return message.type == "error" and not (status and int(status[1]) in refusals)


def fault_text(message: ConsoleMessage) -> str:
    """An error in the console with the address it is about."""
    return f"console: {message.text} {message.location['url']}"


def chromium() -> str:
    """The browser without a window of its own where there is one: it takes a quarter less CPU."""
    for name in ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    raise FileNotFoundError(
        "Chromium is needed for the tests of pages: apt-get install chromium-headless-shell"
    )


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def wait_for(address: str, seconds: float = 60) -> None:
    """Until a server answers."""
    end = time.monotonic() + seconds
    while True:
        try:
            urllib.request.urlopen(address + "health", timeout=5).close()
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
        else:
            return
