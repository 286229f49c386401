"""The profile of a data pipeline on the graph page: what holds it up, in the panel and on its box."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from mindinsight.writer import SummaryRecord

DATA = Path(__file__).parents[1] / "data" / "pipelines"


def test_the_bottleneck_is_named_and_marked(page: Page, serve: Callable[[Path], Any], tmp_path: Path) -> None:
    shutil.copytree(DATA / "map", tmp_path / "base" / "map")
    page.goto(f"{serve(tmp_path / 'base')}graph?run=./map&view=dataset")
    expect(page.locator("[data-claim='claim.pipeline_profile.operator']")).to_contain_text("Map holds")
    badges = page.locator(".graph-drawing .badge text")
    expect(badges).to_have_text(["⚠ 0 / 16", "16 / 16", "0.0625 / 16"], use_inner_text=False)
    page.locator(".pipeline-profile tr.slowest button").click()
    expect(page.locator(".graph-facts h2")).to_contain_text("Map-1")
    assert "node=" in page.url


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Two runs with pipelines, of which "train" is the newer, and one with a profile alone."""
    for name in ("map", "train"):
        shutil.copytree(DATA / name, tmp_path / "base" / name)
    shutil.copytree(DATA / "map" / "profiler", tmp_path / "base" / "bare" / "profiler")
    with SummaryRecord(tmp_path / "base" / "bare") as record:
        record.add_value("scalar", "loss", 1.0, step=1)
    return tmp_path / "base"


def chosen_run(page: Page) -> Locator:
    return page.locator("#view .toolbar label", has_text="Run").locator("select")


@pytest.mark.parametrize("address", ["graph?runs=map&view=dataset", "graph?runs=map", "graph?runs=bare,map"])
def test_the_pipeline_is_that_of_the_chosen_run(
    page: Page, serve: Callable[[Path], Any], base: Path, address: str
) -> None:
    page.goto(serve(base) + address)
    expect(chosen_run(page)).to_have_value("./map")
    expect(page.locator("[data-claim='claim.pipeline_profile.operator']")).to_contain_text("Map holds")


def test_the_card_of_the_overview_and_the_navigation_lead_to_the_pipeline_of_the_run(
    page: Page, serve: Callable[[Path], Any], base: Path
) -> None:
    url = serve(base)
    page.goto(f"{url}overview?run=./map")
    page.get_by_role("region", name="Data pipeline", exact=True).get_by_role("link").click()
    expect(chosen_run(page)).to_have_value("./map")
    page.goto(f"{url}scalar?runs=map")
    page.get_by_role("link", name="Graph", exact=True).click()
    expect(chosen_run(page)).to_have_value("./map")


def test_any_pipeline_is_shown_until_a_run_is_chosen(
    page: Page, serve: Callable[[Path], Any], base: Path
) -> None:
    page.goto(f"{serve(base)}graph")
    expect(chosen_run(page)).to_have_value("./train")


def test_a_profile_without_a_recorded_pipeline_is_a_table(
    page: Page, serve: Callable[[Path], Any], base: Path
) -> None:
    page.goto(f"{serve(base)}graph?runs=bare")
    card = page.locator("section.graph-card")
    expect(card.locator("[data-claim='claim.pipeline_profile.operator']")).to_contain_text("Map holds")
    expect(card.locator("[data-claim='claim.pipeline_profile.unrecorded']")).to_be_visible()
    expect(card.locator("tr.slowest")).to_contain_text("Map")
    expect(page.locator(".empty")).to_contain_text("The run bare has no graph")
    page.locator(".empty").get_by_role("link", name="map").click()
    expect(chosen_run(page)).to_have_value("./map")


def test_badges_leave_arrows_free_and_titles_are_over_lines(
    page: Page, serve: Callable[[Path], Any], base: Path
) -> None:
    page.goto(f"{serve(base)}graph?run=./map&view=dataset")
    boxes = page.locator(".graph-drawing .box:has(.badge)")
    expect(boxes).to_have_count(3)
    for number in range(3):
        box = boxes.nth(number)
        badge = box.locator(".badge rect").bounding_box()
        outline = box.locator("rect").first.bounding_box()
        assert badge and outline
        assert badge["x"] > outline["x"] + outline["width"] / 2  # where the arrow comes in
    title = page.locator(".graph-drawing .frame .title").get_attribute("id")
    expect(page.locator(f".graph-drawing g.lines ~ g.texts use[href='#{title}']")).to_be_attached()
    expect(page.locator(".graph-drawing .box.closed", has_text="Map-1/Map")).to_be_attached()


def test_the_choice_of_the_pipeline_is_in_a_narrow_window(
    page: Page, serve: Callable[[Path], Any], base: Path
) -> None:
    page.set_viewport_size({"width": 420, "height": 900})
    page.goto(f"{serve(base)}graph?run=./map&view=dataset")
    choice = page.get_by_role("button", name="Data pipeline").bounding_box()
    assert choice
    assert choice["x"] >= 0
    assert choice["x"] + choice["width"] <= 420
