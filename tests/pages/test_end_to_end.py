"""From a training loop to a picture: the command, the writer, every page, the command again."""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from mindinsight.server.api.pages import WEB, Pages
from mindinsight.server.http import static_files
from mindinsight.server.http.static_files import Assets
from mindinsight.writer import SummaryRecord
from tests.narrowing import require
from tests.thoroughness import share

VIEWS = ["", *Pages(Assets(WEB)).names[1:]]


@pytest.fixture
def free_port() -> Any:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


@pytest.fixture
def command(tmp_path: Path, free_port: Any) -> Iterator[Any]:
    """Runs ``mindinsight`` with a home of its own; stops its server at the end."""
    environ = {**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}

    def run(*arguments: Any) -> Any:
        command = [sys.executable, "-m", "mindinsight.server.commands.main", *map(str, arguments)]
        return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)

    yield run
    run("stop", "--port", free_port)


@pytest.fixture
def started(page: Any, command: Any, sample_base: Any, tmp_path: Path, free_port: Any) -> Iterator[Any]:
    """The address of a server over the samples, as ``mindinsight start`` prints it.

    The page is left before the server is stopped: it would go on asking, and complain.
    """
    workspace = tmp_path / "workspace"
    where = ("--summary-base-dir", sample_base, "--workspace", workspace, "--port", free_port)
    done = command("start", *where)
    assert done.returncode == 0, done.stderr
    yield require(re.search("Web address: (.*)", done.stdout)).group(1)
    page.goto("about:blank")


def test_every_page_of_a_started_server(page: Any, started: Any, command: Any, free_port: Any) -> None:
    """Each is changed to by the navigation, some are opened; the fixture watches console and hosts."""
    for view in share(VIEWS, 4):
        page.goto(started + view)
        expect(page.get_by_role("main")).not_to_contain_text("Loading…")
        expect(page.get_by_role("heading", name="This view could not be displayed")).to_have_count(0)
        page.wait_for_load_state("load")
    page.goto(started)
    menu = page.get_by_role("dialog", name="All pages")
    page.get_by_role("button", name="All pages").click()
    names = menu.get_by_role("link").all_inner_texts()
    assert len(names) > len(VIEWS) // 2
    page.keyboard.press("Escape")
    for name in names:
        page.get_by_role("button", name="All pages").click()
        menu.get_by_role("link", name=name, exact=True).click()
        expect(menu).to_have_count(0)
        expect(page).to_have_title(f"{name} · MindInsight")
        expect(page.get_by_role("heading", name="This view could not be displayed")).to_have_count(0)
    page.goto("about:blank")
    done = command("stop", "--port", free_port)
    assert done.returncode == 0, done.stdout


def test_values_are_those_another_reader_found(page: Any, started: Any, expected: Any) -> None:
    tag = expected("lenet", "scalar", "loss/auto")
    page.goto(f"{started}?col=last:loss/auto")
    last = f"{tag['values'][-1]:.4g}"
    expect(page.get_by_role("row").filter(has=page.get_by_text("lenet", exact=True))).to_contain_text(last)


def test_points_appear_while_they_are_written(page: Any, serve: Any, tmp_path: Path, chart: Any) -> None:
    """A run is begun while nobody looks, and goes on while the page is open."""
    base = tmp_path / "base"
    with SummaryRecord(str(base / "run")) as record:
        record.add_value("scalar", "loss", 2.0)
        record.record(1)
        record.flush()
        page.goto(serve(base) + "scalar")
        drawn = chart("loss")
        expect(drawn.element).to_be_visible()
        assert drawn.traces()[-1]["y"] == [2.0]
        for step in range(2, 6):
            record.add_value("scalar", "loss", 2.0 / step)
            record.record(step)
        record.flush()
        page.wait_for_function(
            "chart => chart._fullData.some(trace => Array.from(trace.x ?? []).includes(5))",
            arg=drawn.element.element_handle(),
        )
        assert drawn.traces()[-1]["y"] == pytest.approx([2.0 / step for step in range(1, 6)])


def test_a_new_kind_of_data_fills_its_tile_by_itself(page: Any, serve: Any, tmp_path: Path) -> None:
    base = tmp_path / "base"
    with SummaryRecord(str(base / "run")) as record:
        record.add_value("scalar", "loss", 2.0)
        record.record(1)
        record.flush()
        page.goto(serve(base) + "overview?run=./run")
        images = page.get_by_role("region", name="Images", exact=True)
        expect(page.get_by_text("Not recorded: ")).to_contain_text("Images")
        record.add_value("image", "picture", np.zeros((1, 3, 8, 12), np.float32))
        record.record(2)
        record.flush()
        expect(images).to_contain_text("12 × 8")


def test_pages_do_without_a_bundle(
    page: Page, serve: Callable[..., str], sample_base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a checkout in which somebody edits scripts: every module on its own."""
    monkeypatch.setattr(static_files, "BUNDLE", "none")
    monkeypatch.setattr(static_files, "Assets", Assets)  # one that reads anew
    url = serve(sample_base)
    page.goto(url + "overview?run=./lenet")
    expect(page.locator(".tile .chart").first).to_be_visible()
    modules = page.locator('link[rel="modulepreload"]')
    assert modules.count() > 50
    assert "/js/" in str(modules.first.get_attribute("href"))
    page.get_by_role("navigation").get_by_role("link", name="Scalars").click()
    expect(page.locator(".card .chart svg").first).to_be_visible()
