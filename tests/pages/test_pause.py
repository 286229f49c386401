"""Pausing what is drawn, going on, and looking right now; streamed or asked for."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from mindinsight.writer import SummaryRecord

from .curves import eventually_true

WAITING = re.compile(r"\d+ changes? waiting")
NO_STREAM = """
delete window.SharedWorker;
window.EventSource = class {
  constructor() { this.readyState = 0; setTimeout(() => this.onerror(), 0); }
  addEventListener() {}
};
"""


@pytest.fixture(params=["streaming", "polling"])
def way(request: pytest.FixtureRequest, page: Any) -> Any:
    """How the page learns of changes."""
    if request.param == "polling":
        page.add_init_script(NO_STREAM)
    return {"streaming": "Live", "polling": "Polling"}[request.param]


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Any]:
    with SummaryRecord(str(tmp_path / "base" / "run")) as record:
        write(record, 1)
        yield record


def write(record: Any, step: Any) -> None:
    record.add_value("scalar", "loss", 1.0 / step)
    record.record(step)
    record.flush()


def waiting(page: Any) -> Any:
    return page.locator("#top .waiting")


def foot(page: Any) -> Any:
    return page.get_by_role("group", name="loss", exact=True)


@pytest.fixture
def opened(page: Any, serve: Any, tmp_path: Path, record: Any, way: Any) -> Callable[..., Any]:
    """The page of curves, paused while it shows one point; ``opened(n)`` writes until the server has n."""
    url = serve(tmp_path / "base")
    page.goto(f"{url}scalar")
    expect(page.locator(".connection")).to_have_text(way)
    expect(foot(page)).to_contain_text("1 of 1")
    page.get_by_role("button", name="Pause").press("Enter")
    expect(page.locator(".connection")).to_have_text("Paused")
    expect(page.get_by_role("button", name="Resume")).to_be_focused()

    def known() -> Any:
        return page.request.get(f"{url}v2/runs").json()["runs"][0]["step"]

    def until(number: Any) -> None:
        for step in range(known() + 1, number + 1):
            write(record, step)
        eventually_true(page, lambda: known() == number)

    return until


def test_what_comes_while_it_is_paused_waits_and_is_caught_up(page: Any, opened: Callable[..., Any]) -> None:
    opened(2)
    opened(3)
    expect(waiting(page)).to_have_text(WAITING)
    expect(foot(page)).not_to_contain_text("3 of 3")
    page.get_by_role("button", name="Resume").click()
    expect(foot(page)).to_contain_text("3 of 3")
    expect(waiting(page)).to_have_text("")
    opened(4)
    expect(foot(page)).to_contain_text("4 of 4")


def test_a_look_right_now_shows_what_waits_and_stays_paused(page: Any, opened: Callable[..., Any]) -> None:
    opened(2)
    page.get_by_role("button", name="Refresh").click()
    expect(foot(page)).to_contain_text("2 of 2")
    opened(3)
    opened(4)
    expect(waiting(page)).to_have_text(WAITING)
    expect(foot(page)).not_to_contain_text("4 of 4")


def test_a_new_run_joins_the_table_when_it_goes_on(
    page: Any, serve: Any, tmp_path: Path, record: Any
) -> None:
    page.goto(serve(tmp_path / "base"))
    expect(page.locator(".connection")).to_have_text("Live")
    expect(page.locator("td.name")).to_have_count(1)
    page.get_by_role("button", name="Pause").click()
    with SummaryRecord(str(tmp_path / "base" / "later")) as later:
        write(later, 1)
    expect(waiting(page)).not_to_have_text("")
    expect(page.locator("td.name")).to_have_count(1)
    page.get_by_role("button", name="Resume").click()
    expect(page.locator("td.name")).to_have_count(2)
