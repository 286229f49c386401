"""The page of checkpoints: timeline, tensors and comparison of what a training saved."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, Route, expect

from mindinsight.writer import SummaryRecord

CKPT = Path(__file__).parents[1] / "data" / "dumps" / "ckpt"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, serve_once: Callable[[Path], str]) -> str:
    base = tmp_path_factory.mktemp("checkpoints") / "base"
    for name, saved in (("1", "10"), ("2", "20"), ("nan", "30")):
        (base / "job" / "ckpt").mkdir(parents=True, exist_ok=True)
        shutil.copy(CKPT / f"tinynet-{name}.ckpt", base / "job" / "ckpt" / f"tinynet-{saved}.ckpt")
    with SummaryRecord(str(base / "job" / "summary")) as record:
        for step in (10, 20, 30):
            record.add_value("scalar", "loss", 30.0 / step)
            record.record(step)
    return serve_once(base)


def cell(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=re.compile(name))


def chooser(page: Page) -> Locator:
    return page.locator(".toolbar label").filter(has_text=re.compile("^File")).locator("select")


def test_the_timeline_is_loud_about_nan_and_frozen_and_leads_to_values(page: Page, url: str) -> None:
    page.goto(url)
    page.get_by_role("button", name="All pages").click()
    page.get_by_role("dialog", name="All pages").get_by_role("link", name="Checkpoints").click()
    expect(page.get_by_text("head.weight has NaN or infinity, of these checkpoints first in")).to_be_visible()
    expect(page.locator("tbody th").first).to_have_text("head.weight")
    expect(page.locator("thead th").last).to_have_text("301")  # checkpoint 30, loss 1
    expect(cell(page, "frozen · 20 · frozen: the same bytes")).to_be_visible()
    cell(page, r"head.weight · 30 · \d+ elements? (is|are) NaN or infinite").click()
    side = page.get_by_role("complementary", name="Values of a tensor")
    expect(side.get_by_role("heading", name="head.weight")).to_be_visible()
    expect(side.locator(".plotly")).to_be_visible()
    side.get_by_role("button", name="Table", exact=True).click()
    expect(side.locator("td.strange").first).to_be_visible()
    page.get_by_label("Unchanged only").check()
    expect(page.locator("tbody th")).not_to_have_text(["head.weight"])
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    assert "frozen,start,,0,unchanged,0,0" in Path(download.value.path()).read_text()
    expect(page.get_by_role("link", name="Curves of job/summary")).to_have_attribute(
        "href", re.compile("scalar.*job/summary")
    )


def test_tensors_are_searched_sorted_and_compared(page: Page, url: str) -> None:
    page.goto(f"{url}checkpoint?m=tensors&file=./job/ckpt/tinynet-30.ckpt")
    expect(page.get_by_text("20 tensors")).to_be_visible()
    first = page.locator("tbody td.name").first
    expect(first).to_have_class("name strange")
    page.get_by_role("button", name="Shape").click()
    expect(page.get_by_role("columnheader", name="Shape")).to_have_attribute("aria-sort", "ascending")
    page.get_by_role("searchbox").fill("bias")
    expect(first).to_contain_text("bias")
    page.get_by_role("searchbox").fill("")
    page.get_by_role("button", name="Compare", exact=True).click()
    chooser(page).select_option("./job/ckpt/tinynet-10.ckpt")
    page.get_by_label("Compare with").select_option("./job/ckpt/tinynet-20.ckpt")
    expect(page.get_by_text("3 unchanged · 17 changed")).to_be_visible()


def test_an_answer_that_comes_late_does_not_undo_what_was_chosen_since(page: Page, url: str) -> None:
    page.goto(f"{url}dump?tab=checkpoints&file=./job/ckpt/tinynet-10.ckpt")  # where they were once
    expect(page.get_by_text("20 tensors")).to_be_visible()
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        waiting.append(route)

    page.route("**/checkpoint?*tinynet-30*", hold)
    chooser(page).select_option("./job/ckpt/tinynet-30.ckpt")
    chooser(page).select_option("./job/ckpt/tinynet-20.ckpt")
    expect(page.get_by_text("20 tensors")).to_be_visible()
    for route in waiting:
        route.continue_()
    expect(page.get_by_text("not finite")).to_have_count(0)


def test_a_long_series_shows_some_of_all_or_a_part(
    page: Page, serve: Callable[..., str], tmp_path: Path
) -> None:
    folder = tmp_path / "base" / "long"
    folder.mkdir(parents=True)
    for number in range(450):
        np.savez(folder / f"net-{number}.npz", weight=np.full(4, 1.0 + number, np.float32))
    page.goto(f"{serve(tmp_path / 'base')}checkpoint")
    expect(page.get_by_text("finite in each of these checkpoints that has it")).to_be_visible()
    heads = page.locator("thead th")
    expect(heads).to_have_count(201)
    expect(heads.nth(1)).to_have_text("0")
    expect(heads.last).to_have_text("449")
    shown = page.get_by_label("Shown")
    expect(shown.locator("option")).to_have_text(
        ["200 of 450, evenly chosen", "0 – 199", "200 – 399", "400 – 449"]
    )
    shown.select_option("2")
    expect(heads).to_have_count(51)
    expect(heads.nth(1)).to_have_text("400")
    expect(page).to_have_url(re.compile("part=2"))
