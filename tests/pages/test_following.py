"""What is written while a page begins: nothing falls between its first list of runs and the stream."""

import json
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from mindinsight.writer import SummaryRecord


@pytest.fixture
def held(page: Any) -> Callable[..., Any]:
    """The page's stream waits until ``held()`` is called."""
    waiting = []

    def keep(route: Any) -> None:
        waiting.append(route)

    page.add_init_script("delete window.SharedWorker")  # the page opens the stream itself
    page.route("**/v2/events", keep)

    def let_go() -> None:
        assert waiting
        page.unroute("**/v2/events")  # those that wait go on

    return let_go


def version(address: Any) -> Any:
    with urllib.request.urlopen(f"{address}v2/runs") as answer:
        return json.load(answer)["version"]


def write(record: Any, step: Any) -> None:
    record.add_value("scalar", "loss", 1.0 / step)
    record.add_value("image", "input", np.zeros((1, 3, 4, 4), np.uint8))
    record.add_value("histogram", "weight", np.arange(10.0, dtype=np.float32))
    record.add_value("tensor", "state", np.arange(4, dtype=np.float32))
    record.record(step)
    record.flush()


def expect_steps(page: Any, view: Any, number: Any) -> None:
    if view == "tensor":
        expect(page.get_by_role("spinbutton", name="Step", exact=True)).to_have_value(str(number))
    else:
        expect(page.get_by_role("main")).to_contain_text(f"{number} of {number}")


@pytest.mark.parametrize("view", ["scalar", "image", "histogram", "tensor"])
def test_what_came_before_the_stream_is_on_the_page(
    page: Any, serve: Any, tmp_path: Path, held: Callable[..., Any], view: str
) -> None:
    base = tmp_path / "base"
    with SummaryRecord(str(base / "run")) as record:
        write(record, 1)
        address = serve(base)
        page.goto(address + view)
        expect_steps(page, view, 1)
        before = version(address)
        write(record, 2)
        while version(address) == before:
            time.sleep(0.05)
        expect_steps(page, view, 1)
        held()
        expect_steps(page, view, 2)


def test_runs_read_before_the_stream_came_are_on_the_page(
    page: Any, serve: Any, tmp_path: Path, held: Callable[..., Any]
) -> None:
    """A page that asks while files are read must not stay with a list in which nothing is read yet."""
    base = tmp_path / "base"
    base.mkdir()
    address = serve(base)
    page.goto(address + "scalar")
    expect(page.get_by_role("main")).to_contain_text("No scalars yet")
    before = version(address)
    with SummaryRecord(str(base / "run")) as record:
        write(record, 1)
    while version(address) == before:
        time.sleep(0.05)
    held()
    expect(page.get_by_role("group", name="loss", exact=True)).to_contain_text("1 of 1 points")


def test_finished_runs_are_not_asked_for_again(page: Any, serve: Any, tmp_path: Path, chart: Any) -> None:
    """Eleven runs of three tags, of which one grows: one request for each change, for that run alone."""
    base = tmp_path / "base"
    tags = ("loss", "accuracy", "rate")
    for number in range(10):
        with SummaryRecord(str(base / f"finished{number}")) as record:
            for step in (1, 2, 3):
                for tag in tags:
                    record.add_value("scalar", tag, step + number)
                record.record(step)
    with SummaryRecord(str(base / "live")) as record:

        def grow(step: int) -> None:
            for tag in tags:
                record.add_value("scalar", tag, step)
            record.record(step)
            record.flush()

        grow(1)
        page.goto(f"{serve(base)}scalar?runs=!&s=0")
        for tag in tags:
            chart(tag).until(lambda traces: sum(len(trace["x"]) for trace in traces) >= 31)
        requests: list[Any] = []
        page.on("request", lambda request: requests.append(request) if "v2/scalar" in request.url else None)
        for step in range(2, 6):
            grow(step)
            for tag in tags:
                chart(tag).until(lambda traces, step=step: any(trace["x"][-1:] == [step] for trace in traces))
    assert {request.url.rpartition("/")[2] for request in requests} == {"tails"}
    known = [entry for request in requests for entry in request.post_data_json["series"]]
    assert {entry["run"] for entry in known} == {"./live"}
    assert len(requests) <= 8  # three charts grew four times; one change may come in two parts


def test_more_pages_than_connections_follow_one_server(page: Any, serve: Any, tmp_path: Path) -> None:
    """A browser opens six connections to a server; a stream of each page would take all of them."""
    with SummaryRecord(str(tmp_path / "base" / "run")) as record:
        write(record, 1)
        address = serve(tmp_path / "base")
        pages = [page, *(page.context.new_page() for _ in range(8))]
        for other in pages:
            other.goto(f"{address}image")
            expect_steps(other, "image", 1)
            expect(other.locator(".connection")).to_have_text("Live")
        write(record, 2)
        for other in pages:
            expect_steps(other, "image", 2)
        page.goto("about:blank")  # the page that was first may go
        pages[1].reload()
        write(record, 3)
        for other in pages[1:]:
            expect_steps(other, "image", 3)
            other.close()
