"""A run that is taken away while somebody looks at it: the page says so, and nothing is thrown or logged."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

DATA = Path(__file__).parents[1] / "data"

VIEWS = {  # address -> what is there when all of the run has come, and what is said when it is gone
    "histogram?q=fc1.weight": ([".card:has-text('of 12 steps')"], "No tag matches the filter"),
    "image?q=Image": ([".card:has-text('160 × 40')"], "No tag matches the filter"),
    "tensor?": ([".tensor-table"], "No tensors in the selected runs"),
    "graph?run=./gone": (
        [".graph-drawing [data-id]", ".graph-outline li", ".graph-finder option[value=Conv2D]"],
        "Run ./gone not found.",
    ),
    "lineage?": ([".axes path.run"], "No lineage yet"),
    "landscape?": ([".landscape-chart", ".loss-plot path"], "No loss landscapes in the selected runs"),
    "dump?": ([".dump-main tr[data-key]"], "The dump ./gone/dump does not exist"),
}


@pytest.fixture
def base(tmp_path: Path) -> Any:
    base = tmp_path / "base"
    shutil.copytree(DATA / "events" / "lenet", base / "gone")
    for file in (DATA / "events" / "landscape").glob("*.summary.*"):
        shutil.copy(file, base / "gone")
    shutil.copytree(DATA / "dumps" / "ms_sync_v2_0_names", base / "gone" / "dump")
    return base


@pytest.mark.parametrize("view", VIEWS)
def test_a_page_says_that_its_run_is_gone(
    page: Any, serve: Any, base: Any, tmp_path: Path, view: Any
) -> None:
    seen, heading = VIEWS[view]
    page.goto(f"{serve(base)}{view}&runs=gone")
    for selector in seen:
        expect(page.locator(selector).first).to_be_attached()
    expect(page.locator(".progress")).to_be_hidden()  # nothing is asked for any more
    (base / "gone").rename(tmp_path / "away")
    expect(page.get_by_role("heading", name=heading)).to_be_visible()
