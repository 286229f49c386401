"""Comparison of two dumps of equal blocks: names, parameters, and both sides of a tensor."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.claims.situations.dump_weights import one_value, weights_of, write_blocks

CHANGED = "blocks.1.fc1.weight"


@pytest.fixture(scope="module")
def url(serve_once: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    base = tmp_path_factory.mktemp("blocks") / "base"
    weights = weights_of(b1_weight=one_value(8, 8, index=(3, 5), by=0.5))
    write_blocks(base / "changed" / "dump", weights)
    write_blocks(base / "reference" / "dump", weights_of())
    address: str = serve_once(base)
    return address


@pytest.fixture
def compared(page: Page, url: str) -> Page:
    page.goto(f"{url}dump?dump=./changed/dump&tab=compare&with=./reference/dump&compare_start=first")
    expect(page.get_by_text(f"The weight {CHANGED} differs first, in 1 of 64 values")).to_be_visible()
    return page


def rows(page: Page) -> Any:
    return page.locator(".dump-compared tbody tr")


def side(page: Page) -> Any:
    return page.get_by_role("complementary", name="Operator")


def test_rows_of_different_blocks_have_different_names(compared: Page) -> None:
    names = rows(compared).locator("td.name button").all_inner_texts()
    for block in range(3):
        assert f"…/{block}-Block/…/fc1-Linear/t-op{block}" in names


def test_the_caption_of_the_strip_names_the_operator_that_is_pointed_at(compared: Page) -> None:
    caption = compared.locator(".strip-caption")
    expect(caption).to_have_text(re.compile(r"^3 of 12: .*/1-Block/.*fc1-Linear/t-op1, .*, differs$"))
    compared.get_by_role("slider", name="Divergence of all operators").press("Home")
    expect(caption).to_have_text(re.compile(r"^1 of 12: .*/0-Block/.*, relative L2 distance 0, agrees$"))
    keys = compared.locator(".strip figcaption > span")
    expect(keys).to_have_text(["agrees", "differs", "introduced here", "on one side only"])
    colours = keys.locator(".strip-key").evaluate_all(
        "keys => keys.map((key) => getComputedStyle(key).backgroundColor)"
    )
    assert len(set(colours)) == 4


def test_rows_begin_at_the_first_that_differs(page: Page, url: str) -> None:
    page.goto(f"{url}dump?dump=./changed/dump&tab=compare&with=./reference/dump")
    expect(rows(page).filter(has_text=CHANGED).first).to_be_visible()
    assert rows(page).count() < 24
    page.get_by_label("Start at the first divergence").uncheck()
    expect(rows(page)).to_have_count(24)


def test_rows_are_found_by_their_parameter(compared: Page) -> None:
    compared.get_by_role("searchbox", name="Operator").fill("1.fc1.weight")
    expect(rows(compared)).to_have_count(2)  # the input of an operator, and the parameter after the step
    expect(rows(compared).first).to_contain_text("t-op1")
    expect(rows(compared).first).to_contain_text(CHANGED)


def test_a_row_opens_both_sides_and_their_difference(compared: Page) -> None:
    rows(compared).filter(has_text=CHANGED).get_by_role("button").first.click()
    expect(side(compared).get_by_role("heading", name=CHANGED)).to_be_visible()
    expect(side(compared).get_by_role("row", name=re.compile("^Reference"))).to_be_visible()
    expect(side(compared)).to_contain_text("Elements that differ1 / 64")
    expect(side(compared)).to_contain_text("Largest difference at[3, 5]")
    side(compared).get_by_role("button", name="Table", exact=True).click()
    table = side(compared).locator(".tensor-scroll td")
    expect(table.filter(has_text=re.compile(r"^0\.5"))).to_have_count(1)
    expect(table.filter(has_text=re.compile(r"^0$"))).to_have_count(63)
    side(compared).get_by_role("button", name="Reference", exact=True).click()
    expect(table.filter(has_text=re.compile(r"^0$"))).to_have_count(0)


def test_back_closes_a_tensor_and_stays_at_the_comparison(compared: Page) -> None:
    before = compared.url
    rows(compared).filter(has_text=CHANGED).get_by_role("button").first.click()
    expect(side(compared).get_by_role("heading", name=CHANGED)).to_be_visible()
    compared.go_back()
    expect(side(compared)).to_be_hidden()
    expect(compared).to_have_url(before)
    expect(rows(compared).first).to_be_visible()
    compared.go_forward()
    expect(side(compared).get_by_role("heading", name=CHANGED)).to_be_visible()


@pytest.mark.parametrize("width", [1440, 1280])
def test_the_panel_of_a_tensor_shows_all_columns(page: Page, url: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    operator = "Default_blocks-ModuleList_1-Block_mlp-MLP_fc1-Linear_addmm-op1"
    page.goto(f"{url}dump?dump=./changed/dump&graph=Net/0&operator={operator}&tensor=output/0")
    table = side(page).locator(".scroll").filter(has=page.get_by_role("columnheader", name="L2 norm")).first
    expect(table.get_by_role("cell", name=re.compile("float32")).first).to_be_visible()
    expect(table.locator("tbody tr").first.locator("td").last).to_have_text(re.compile(r"\d"))
    hidden = table.evaluate("node => node.scrollWidth - node.clientWidth")
    assert hidden <= 0


def test_all_columns_fit_a_screen_of_1440_pixels(compared: Page) -> None:
    compared.set_viewport_size({"width": 1440, "height": 900})
    table = compared.locator(".dump-compared")
    expect(table.get_by_role("columnheader", name="Matched by")).to_be_in_viewport(ratio=1)
    assert table.evaluate("table => table.scrollWidth <= table.clientWidth")


def test_names_are_whole_on_a_narrow_screen(compared: Page) -> None:
    compared.set_viewport_size({"width": 420, "height": 900})
    cells = compared.locator(".dump-compared td.name")
    assert cells.evaluate_all("cells => cells.every((cell) => cell.scrollWidth <= cell.clientWidth)")
    assert cells.evaluate_all("cells => Math.max(...cells.map((cell) => cell.clientHeight))") < 80
