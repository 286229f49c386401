"""Runs come and go while a page is open: it says so, and nothing is thrown or logged."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from mindinsight.writer import SummaryRecord

from .curves import card, eventually_true, lines

DATA = Path(__file__).parents[1] / "data" / "events"
DUMP = Path(__file__).parents[1] / "data" / "dumps" / "msprobe_pytorch" / "mix_tensor_2ranks"


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


def test_a_page_that_was_opened_first_shows_what_comes(page: Any, serve: Any, tmp_path: Path) -> None:
    """Pages over an empty base directory are at last what they are when they are opened now.

    A graph that is shown stays, and so does the objective of the lineage; the graphs of all runs are offered.
    """
    address = serve(tmp_path / "base")
    (tmp_path / "base").mkdir(exist_ok=True)
    views = ("align", "dump", "histogram", "image", "landscape", "scalar", "tensor")
    tabs = {view: page.context.new_page() for view in views}
    for view, tab in tabs.items():
        tab.goto(f"{address}{view}")
    graph = page.context.new_page()
    graph.goto(f"{address}graph")
    for name in ("lenet", "record_api/values", "multi_rank", "landscape", "record_api/images"):
        shutil.copytree(DATA / name, tmp_path / "base" / name.rpartition("/")[2])
        tabs["scalar"].wait_for_timeout(300)
    shutil.copytree(DUMP, tmp_path / "base" / "dump")
    for view, tab in tabs.items():
        fresh = page.context.new_page()
        fresh.goto(f"{address}{view}")
        expect(fresh.get_by_role("main")).to_have_attribute("aria-busy", "false")
        eventually_true(fresh, lambda tab=tab, fresh=fresh: shown(tab) == shown(fresh) != "")
        fresh.close()
        tab.close()
    runs = graph.get_by_role("combobox", name="Run").locator("option")
    expect(runs).to_have_text(["landscape", "multi_rank", "lenet"])
    graph.close()


def shown(tab: Any) -> str:
    """What a page shows, but for the times that go on."""
    return re.sub(r"\d+ \w+ ago", "", tab.get_by_role("main").inner_text())


def test_a_step_that_comes_deep_inside_a_dump(page: Any, serve: Any, tmp_path: Path) -> None:
    """The folder of the dump does not change then, which is all that the server watches of it."""
    dump = tmp_path / "base" / "sync" / "dump"
    shutil.copytree(DATA.parent / "dumps" / "ms_sync_v2_0_names", dump)
    iteration = dump / "rank_0" / "Net" / "0" / "1"
    later = iteration.rename(tmp_path / "later")
    page.goto(f"{serve(tmp_path / 'base')}dump")
    expect(page.get_by_text("Step 0", exact=True)).to_be_visible()
    later.rename(iteration)
    expect(page.get_by_role("slider", name="Step")).to_be_visible()


def test_a_step_and_a_dump_that_are_written_while_a_dump_is_shown(
    page: Any, serve: Any, tmp_path: Path
) -> None:
    base = tmp_path / "base"
    shutil.copytree(DUMP, base / "first")
    page.goto(f"{serve(base)}dump")
    expect(page.get_by_text("Step 0", exact=True)).to_be_visible()
    shutil.copytree(DUMP / "step0", base / "first" / "step1")
    expect(page.get_by_role("slider", name="Step")).to_be_visible()
    shutil.copytree(DUMP, base / "second")
    expect(page.get_by_role("combobox", name="Dump").locator("option")).to_have_text(["first", "second"])
