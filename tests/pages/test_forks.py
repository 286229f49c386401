"""Runs that continue others: the parent's curve before theirs, on the overview and in the lineage."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from mindinsight.writer import SummaryRecord


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, serve_once: Callable[[Path], str]) -> str:
    base = tmp_path_factory.mktemp("forks") / "base"
    for name, parent, steps in (
        ("a", "", range(100)),
        ("b", "a@49", range(50, 80)),
        ("c", "b@69", range(70, 120)),
        ("orphan", "gone@10", range(20)),
    ):
        with SummaryRecord(str(base / name), parent=parent) as record:
            for step in steps:
                record.add_value("scalar", "loss", float(step))
                record.record(step)
    return serve_once(base)


def faint(traces: list[dict[str, Any]]) -> list[tuple[float, float]]:
    """First and last step of each lighter stroke."""
    return sorted((t["x"][0], t["x"][-1]) for t in traces if t["opacity"] == 0.45)


def test_a_curve_begins_with_those_of_its_parents(page: Page, url: str, chart: Callable[[str], Any]) -> None:
    page.goto(f"{url}scalar?runs=c&s=0")
    traces = chart("loss").until(lambda traces: len(faint(traces)) == 2)
    assert faint(traces) == [(0, 49), (50, 69)]
    own = [t for t in traces if t["opacity"] == 1 and t["mode"] == "lines"]
    assert [(t["name"], t["x"][0], t["x"][-1]) for t in own] == [("c", 70, 119)]
    assert chart("loss").axis("yaxis")["range"][1] > 110 and chart("loss").axis("xaxis")["range"][0] <= 0
    page.goto(f"{url}scalar?runs=a,c&s=0")  # a has a curve of its own
    traces = chart("loss").until(lambda traces: len(faint(traces)) == 1)
    assert faint(traces) == [(50, 69)]
    page.goto(f"{url}scalar?runs=c&s=0&x=relative")
    traces = chart("loss").until(bool)
    assert faint(traces) == []  # its own time begins at its own start


def test_a_run_without_its_parent_is_drawn_alone_and_says_so(
    page: Page, url: str, chart: Callable[[str], Any]
) -> None:
    page.goto(f"{url}scalar?runs=orphan&s=0")
    assert faint(chart("loss").until(bool)) == []
    page.goto(f"{url}overview?run=orphan")
    expect(page.get_by_role("main")).to_contain_text("Recorded that it continues gone from step 10 on.")


def test_the_overview_leads_to_the_parent_and_the_lineage_shows_the_tree(page: Page, url: str) -> None:
    page.goto(f"{url}lineage?runs=a,b,c,orphan")
    tree = page.get_by_role("region", name="Forks")
    expect(tree).to_have_text(re.compile(r"Forksab from step 49c from step 69"))
    tree.get_by_role("link", name="c", exact=True).click()
    expect(page.get_by_role("main")).to_contain_text("Continues b from step 69 on.")
    page.locator(".claim", has_text="Continues b").locator("xpath=..").get_by_role("link").first.click()
    expect(page).to_have_url(re.compile(r"overview\?.*run=\.?/?b|run=./b"))
