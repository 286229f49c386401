"""Runs come and go while a page is open: it says so, and nothing is thrown or logged."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from mindinsight.writer import SummaryRecord

from .curves import card, lines


def write(directory: Any, value: Any) -> None:
    with SummaryRecord(str(directory)) as record:
        for step in range(1, 6):
            record.add_value("scalar", "loss", value / step)
            record.record(step)


@pytest.fixture
def base(tmp_path: Path) -> Any:
    for name, value in (("first", 1.0), ("second", 2.0)):
        write(tmp_path / "base" / name, value)
    return tmp_path / "base"


def test_a_curve_goes_with_its_run_and_a_new_one_joins(page: Any, serve: Any, base: Any, chart: Any) -> None:
    page.goto(f"{serve(base)}scalar")
    loss = chart("loss")
    loss.until(lambda traces: len(traces) == 2)
    shutil.rmtree(base / "second")
    loss.until(lambda traces: [trace["name"] for trace in traces] == ["first"])
    expect(page.get_by_text("1 of 1 in the charts")).to_be_visible()
    write(base / "third", 3.0)
    loss.until(lambda traces: sorted(trace["name"] for trace in traces) == ["first", "third"])
    expect(card(page, "loss")).to_contain_text("10 of 10 points")
    assert len(lines(loss)) == 2


def test_the_overview_of_a_run_that_is_gone_says_so(
    page: Any, serve: Any, base: Any, refusals: set[int]
) -> None:
    refusals.add(404)  # it asks once more when the first of the run's files goes
    page.goto(f"{serve(base)}overview?run=./second")
    expect(page.get_by_role("heading", name="second", level=1)).to_be_visible()
    expect(page.get_by_role("region", name="Scalars", exact=True)).to_contain_text("0.4")
    shutil.rmtree(base / "second")
    expect(page.get_by_role("heading", name="Run ./second not found.")).to_be_visible()
    expect(page.get_by_role("link", name="Runs").last).to_be_visible()


def test_a_row_goes_with_its_run(page: Any, serve: Any, base: Any) -> None:
    page.goto(serve(base))
    expect(page.get_by_role("link", name="second", exact=True)).to_be_visible()
    shutil.rmtree(base / "second")
    expect(page.get_by_role("link", name="second", exact=True)).to_have_count(0)
    expect(page.get_by_role("link", name="first", exact=True)).to_be_visible()


def test_a_comparison_whose_baseline_is_gone_goes_on_with_the_others(
    page: Any, serve: Any, base: Any
) -> None:
    write(base / "third", 2.0)
    page.goto(serve(base))
    row = page.get_by_role("row").filter(has=page.get_by_text("first", exact=True))
    row.get_by_role("button", name="Set as baseline").click()
    expect(row).to_contain_text("baseline")
    page.get_by_role("navigation", name="Views").get_by_role("link", name="Scalars").click()
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_text("Against first:")).to_be_visible()
    shutil.rmtree(base / "first")
    expect(page.get_by_text("Against first:")).to_have_count(0)
    table = page.get_by_role("region", name="Compare").get_by_role("table")
    expect(table.get_by_role("row").filter(has_text="loss")).to_contain_text("never")


def test_a_server_without_worker_processes_says_that_it_is_slow(page: Any, serve: Any, base: Any) -> None:
    def tell(route: Any) -> None:
        answer = route.fetch()
        if answer.status == 304:
            route.fulfill(response=answer)
            return
        runs = answer.json()
        runs["errors"].insert(0, {"path": "", "reason": "workers.missing"})
        route.fulfill(response=answer, body=json.dumps(runs))

    page.route("**/v2/runs", tell)
    page.goto(serve(base))
    expect(page.get_by_text("Worker processes cannot be started")).to_be_visible()
    expect(page.get_by_role("link", name="first", exact=True)).to_be_visible()
