"""A copy of the pages that any web host serves: it shows what the server showed, and says what it cannot."""

import functools
import http.server
import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, Playwright, expect

from mindinsight.proto.graph_pb2 import GraphProto
from mindinsight.server.client import page_copy
from mindinsight.server.commands.site import _read
from mindinsight.writer import SummaryRecord
from tests.pages.conftest import ARGUMENTS, chromium

from .test_graph_compare import DATA, save

pytestmark = pytest.mark.slow


def write_runs(base: Path) -> None:
    """Two runs, a job of two ranks, and two runs with data pipelines.

    `one` has a picture, a graph and a dump, `two` the profile of a pipeline that it did not record.
    """
    for name in ("one", "two", "job/rank_0", "job/rank_1"):
        with SummaryRecord(str(base / name)) as record:
            for step in range(1, 80):
                record.add_value("scalar", "loss", 1 / step)
                if name == "one":
                    record.add_value("scalar", "train/norm", step)
                record.record(step)
            if name == "one":
                record.add_value("image", "picture", np.full((1, 3, 8, 8), 0.5, np.float32))
                record.add_value(
                    "code", "code", {"command": ["train.py", str(base)], "directory": str(Path.home())}
                )
                record.record(80)
    save(GraphProto.FromString((DATA / "graph" / "lenet.graph").read_bytes()), base / "one" / "net.pb")
    shutil.copytree(DATA / "dumps" / "ms_sync_v2_0_names", base / "one" / "dump")
    for name in ("map", "train"):
        shutil.copytree(DATA / "pipelines" / name, base / name)
    shutil.copytree(DATA / "pipelines" / "map" / "profiler", base / "two" / "profiler")


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A web host of plain files."""

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def copy_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a copy, below that of a web host."""
    folder = tmp_path_factory.mktemp("site") / "host" / "demo"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture(scope="module")
def copied(playwright: Playwright, copy_folder: Path, serve_once: Callable[[Path], str]) -> Iterator[str]:
    """The address of a copy, below a path as on most hosts."""
    root, out = copy_folder.parents[1], copy_folder
    write_runs(root / "base")
    server = serve_once(root / "base")
    listed = _read(server)

    def start() -> Browser:
        return playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)

    with pytest.MonkeyPatch.context() as less:  # it looks at all the same, for a third of the time
        less.setattr(page_copy, "_CURVES", ("s=0",))
        less.setattr(page_copy, "_QUIET", 0.15)
        for _ in page_copy.export_site(server, out, start, listed):
            pass
    handler = functools.partial(Quiet, directory=str(root / "host"))
    host = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=host.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{host.server_address[1]}/demo/"
    host.shutdown()
    host.server_close()


def test_the_runs_and_their_curves_are_there(page: Page, copied: str, chart: Callable[[str], Any]) -> None:
    page.goto(copied)
    expect(page.get_by_role("note")).to_contain_text("Copy of 6 runs as of 20")
    expect(page.locator(".connection")).to_have_text("Copy")
    expect(page.get_by_role("link", name="one", exact=True).first).to_be_visible()
    page.get_by_role("link", name="Scalars", exact=True).click()
    expect(page).to_have_url(re.compile(r"/demo/scalar\.html"))
    traces = chart("loss").until(lambda traces: {"one", "two"} <= {trace["name"] for trace in traces})
    assert max(traces[0]["x"]) == 79
    page.reload()  # the host has the page by itself
    chart("loss").until(lambda traces: len(traces) > 1)


def test_no_file_tells_a_directory_of_the_machine(copied: str, copy_folder: Path) -> None:
    private = [os.fsencode(path) for path in (copy_folder.parents[1], Path.home())]
    files = [file for file in (copy_folder / "answers").iterdir() if file.suffix in (".json", ".bin", ".csv")]
    assert len(files) > 20
    telling = [file.name for file in files if any(path + b"/" in file.read_bytes() for path in private)]
    assert telling == []


def test_runs_can_be_chosen(page: Page, copied: str, chart: Callable[[str], Any]) -> None:
    page.goto(f"{copied}scalar.html?runs=two")
    names = {trace["name"] for trace in chart("loss").until(lambda traces: traces) if trace["name"]}
    assert "one" not in names
    expect(page.get_by_role("img", name="train/norm", exact=True)).to_have_count(0)
    page.goto(f"{copied}scalar.html?ranks=job&runs=job/rank_1")
    chart("loss").until(lambda traces: any("rank_1" in str(trace["name"]) for trace in traces))


def test_what_was_not_asked_is_said(page: Page, copied: str) -> None:
    page.goto(f"{copied}scalar.html?s=0.123")
    expect(page.locator(".badge.bad").first).to_contain_text("This copy has no answer to that")


@pytest.mark.parametrize(
    ("address", "shows"),
    [
        ("image.html", "picture"),
        ("graph.html?run=one", "conv1"),
        ("graph.html?run=map&view=dataset", "Map holds"),
        ("graph.html?runs=train&view=dataset", "kept up"),
        ("graph.html?run=two", "Map holds"),
        ("graph.html?runs=job/rank_1", "has no graph"),
        ("dump.html", "MatMul"),
        ("explain.html?run=one", "Searched"),
        ("overview.html?run=one", "net.pb"),
        ("job.html?job=./job", "rank 1"),
        ("align.html", "Settings and program"),
    ],
)
def test_pages_show_what_the_server_showed(page: Page, copied: str, address: str, shows: str) -> None:
    page.goto(copied + address)
    expect(page.get_by_role("main")).to_contain_text(re.compile(shows, re.IGNORECASE))
    expect(page.get_by_text("This copy has no answer")).to_have_count(0)


def test_scopes_of_the_graph_open_one_at_a_time(page: Page, copied: str) -> None:
    page.goto(f"{copied}graph.html?run=one")
    expect(page.get_by_role("status").filter(has_text="one open scope at a time")).to_be_visible()
    before = page.locator(".box.frame").count()
    for name in ("conv1", "fc2"):  # the second closes the first
        page.get_by_role("button", name="Fit to window").click()
        scope = page.locator(".box.closed.scope", has_text=name)
        scope.click(click_count=2, position={"x": 6, "y": 6}, force=True)
        expect(page.locator(".box.frame", has_text=name)).to_be_attached()
        expect(page.get_by_role("heading", name=f"{name}-").first).to_be_visible()
        expect(page.locator(".box.frame")).to_have_count(before + 1)
    page.reload()
    expect(page.locator(".box.frame", has_text="fc2")).to_be_attached()
    page.get_by_role("button", name="Expand all").click()
    expect(page.locator(".box.frame", has_text="conv1")).to_be_attached()
    for view in ("recorded", "simplified"):  # one of them is not what opens first
        page.goto(f"{copied}graph.html?run=one&view={view}")
        types = page.get_by_label("Operator type").get_by_role("option")
        expect(types.filter(has_text="Conv2D (2)")).to_be_attached()
        expect(page.get_by_role("region", name="Model card")).to_contain_text("FLOPs")
        expect(page.get_by_text("This copy has no answer")).to_have_count(0)


def test_operations_of_each_pipeline_can_be_looked_at(page: Page, copied: str) -> None:
    for name in ("map", "train"):
        page.goto(f"{copied}overview.html?run={name}")
        page.get_by_role("region", name="Data pipeline", exact=True).get_by_role("link").click()
        expect(page.locator("#view .toolbar select").first).to_have_value(f"./{name}")
        page.locator(".pipeline-profile button", has_text="Batch").click()
        expect(page.locator(".graph-facts h2")).to_contain_text("Batch")
        expect(page.get_by_text("This copy has no answer")).to_have_count(0)


def test_what_writes_is_grey_and_says_why(page: Page, copied: str) -> None:
    page.goto(copied)
    manage = page.get_by_role("button", name="Manage")
    expect(manage).to_be_disabled()
    expect(manage).to_have_attribute("title", re.compile("copy without a server"))
    page.goto(f"{copied}reports.html")
    expect(page.get_by_role("button", name="New report")).to_be_disabled()


def test_the_language_is_chosen(page: Page, copied: str) -> None:
    page.goto(copied)
    page.get_by_role("button", name="中文").click()
    expect(page.get_by_role("note")).to_contain_text("副本")
    page.get_by_role("button", name="English").click()
    expect(page.get_by_role("note")).to_contain_text("Copy of")
