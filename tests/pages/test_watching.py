"""What the pages say of the server's own work: how it notices changes, and how far it has read."""

import re
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from mindinsight.server.ingest import loader
from mindinsight.writer import SummaryRecord


def write(folder: Any) -> None:
    with SummaryRecord(str(folder)) as record:
        for step in range(1, 51):
            record.add_value("scalar", "loss", 1.0 / step)
            record.record(step)


@pytest.mark.parametrize(
    ("watch", "text", "why"),
    [("polling", "polling", "scanned periodically"), ("events", "file system events", "immediately")],
)
def test_the_list_of_runs_says_how_changes_are_noticed(
    page: Any, serve: Any, tmp_path: Path, watch: Any, text: Any, why: Any
) -> None:
    base = tmp_path / "base"
    write(base / "first")
    page.goto(serve(base, watch=watch))
    notice = page.get_by_role("main").get_by_text(text, exact=True)
    expect(notice).to_have_attribute("title", re.compile(why))
    write(base / "second")
    expect(page.get_by_role("row", name="second")).to_be_visible()
    expect(notice).to_be_visible()


class Reluctant(Executor):
    """Reads at once, but a run called ``slow`` only when it is told to."""

    missing = False

    def __init__(self) -> None:
        self._held: list[Any] = []
        self._lock = threading.Lock()
        self._willing = False

    def submit(self, read: Any, requests: Any) -> Any:  # type: ignore[override]
        future: Future[Any] = Future()
        with self._lock:
            if not self._willing and any("/slow/" in request.path for request in requests):
                self._held.append((future, read, requests))
                return future
        future.set_result(read(requests))
        return future

    def go_on(self) -> None:
        with self._lock:
            self._willing, held = True, self._held
            self._held = []
        for future, read, requests in held:
            future.set_result(read(requests))


@pytest.fixture
def executor() -> Iterator[Any]:
    executor = Reluctant()
    yield executor
    executor.go_on()  # nothing is left to wait for when the server ends


@pytest.fixture
def half_read(serve: Any, tmp_path: Path, executor: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The address of a server that has read one of two runs of one size, and waits with the other."""
    monkeypatch.setattr(loader, "INLINE", -1)  # a little is read by the executor, too
    monkeypatch.setattr(loader, "PIECE", 1)  # one file at a time
    base = tmp_path / "base"
    write(base / "fast")
    shutil.copytree(base / "fast", base / "slow")
    return serve(base, executor)


def test_the_list_of_runs_says_how_far_files_are_read(page: Any, half_read: Any, executor: Any) -> None:
    page.goto(f"{half_read}?col=state&col=kinds")
    main = page.get_by_role("main")
    expect(main.locator(".banner", has_text="Reading files: 50%")).to_be_visible()
    slow, fast = (page.get_by_role("row", name=name) for name in ("slow", "fast"))
    expect(slow.get_by_title("Its files are being read")).to_have_text("0 %")
    expect(fast.get_by_title("Its files are being read")).to_have_count(0)
    expect(fast.get_by_role("link", name="Scalars: 1")).to_be_visible()
    executor.go_on()
    expect(slow.get_by_role("link", name="Scalars: 1")).to_be_visible()
    expect(main.locator(".banner")).to_have_count(0)
    expect(page.get_by_title("Its files are being read")).to_have_count(0)


def test_the_panel_says_it_beside_charts_of_what_is_read(
    page: Any, half_read: Any, executor: Any, chart: Any
) -> None:
    page.goto(half_read + "scalar")
    panel = page.get_by_role("complementary", name="Charted runs")
    expect(panel).to_contain_text("Reading files: 50%")
    chart("loss").until(lambda traces: {trace["name"] for trace in traces} == {"fast"})
    executor.go_on()
    chart("loss").until(lambda traces: {trace["name"] for trace in traces} == {"fast", "slow"})
    expect(panel).not_to_contain_text("Reading files")
