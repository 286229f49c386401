"""Arrangement of cards: drag, sizes, hidden cards, sections, and the way back."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from mindinsight.writer import SummaryRecord


def titles(page: Page, section: str) -> Locator:
    return page.locator("details.group").filter(has=page.get_by_text(section, exact=True)).locator(".card h2")


def card(page: Page, tag: str) -> Locator:
    return page.get_by_role("group", name=tag, exact=True)


def choose(page: Page, tag: str, entry: str) -> None:
    card(page, tag).get_by_role("button", name="Card menu").click()
    page.get_by_role("button", name=entry, exact=True).click()


def test_cards_are_dragged_and_hidden_and_found_so_again(page: Page, samples: str) -> None:
    page.goto(f"{samples}scalar?runs=values,lenet")
    expect(titles(page, "scalar").nth(2)).to_be_attached()
    names = titles(page, "scalar").all_inner_texts()
    first, second = (f"scalar/{name.removeprefix('…').removeprefix('scalar/')}" for name in names[:2])
    card(page, first).locator("header").drag_to(card(page, second))
    expect(titles(page, "scalar").first).to_have_text(names[1])
    choose(page, second, "Hide card")
    expect(titles(page, "scalar").first).to_have_text(names[0])
    expect(page.get_by_role("button", name="Arrange cards")).to_contain_text("1 hidden")
    page.goto(f"{samples}overview")
    page.goto(f"{samples}scalar")
    expect(page.get_by_role("button", name="Arrange cards")).to_contain_text("1 hidden")
    page.get_by_role("button", name="Arrange cards").click()
    page.get_by_role("button", name=f"Show {second}").click()
    expect(titles(page, "scalar").first).to_have_text(names[1])
    page.get_by_role("button", name="Arrange cards").click()
    page.get_by_role("button", name="Reset arrangement").click()
    expect(titles(page, "scalar").first).to_have_text(names[0])


def test_a_card_moves_to_a_new_section_by_keyboard(page: Page, samples: str) -> None:
    page.goto(f"{samples}scalar?runs=values,lenet")
    card(page, "loss/auto").get_by_role("button", name="Card menu").press("Enter")
    page.get_by_role("combobox", name="Section").select_option("Add section")
    page.get_by_label("Name of the section").fill("Mine")
    page.keyboard.press("Enter")
    expect(titles(page, "Mine")).to_have_count(1)
    page.get_by_role("button", name="Arrange section").first.press("Enter")
    page.get_by_role("button", name="Rename section").press("Enter")
    page.get_by_label("Name of the section").fill("Ours")
    page.keyboard.press("Enter")
    expect(titles(page, "Ours")).to_have_count(1)
    page.get_by_role("button", name="Arrange section").first.click()
    page.get_by_role("button", name="Move section down").click()
    expect(page.locator("details.group > summary").nth(1)).to_contain_text("Ours")


def test_a_card_is_resized_at_its_corner_and_in_its_menu(page: Any, samples: str) -> None:
    page.goto(f"{samples}scalar?runs=values")
    first = page.locator(".curve-card").first
    before = first.bounding_box()
    first.hover()
    x, y = before["x"] + before["width"] - 4, before["y"] + before["height"] - 4
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + before["width"], y + before["height"], steps=4)
    page.mouse.up()
    page.wait_for_url(re.compile("span=[^&]*2x2"))
    after = first.bounding_box()
    assert after["width"] > 1.9 * before["width"]
    assert after["height"] > 1.9 * before["height"]
    first.get_by_role("button", name="Card menu").click()
    page.get_by_role("group", name="Columns").get_by_role("button", name="1").click()
    page.wait_for_url(re.compile("span=[^&]*1x2"))


SIZE = "box => [box.clientWidth, box.clientHeight]"
KINDS = {"histogram": np.arange(20.0), "image": np.zeros((1, 3, 8, 8), np.float32), "text": "# Text"}


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory, serve_once: Callable[[Path], str]) -> str:
    base = tmp_path_factory.mktemp("arrange") / "base"
    for run in ("one", "two"):
        with SummaryRecord(str(base / run)) as record:
            for kind, value in KINDS.items():
                for tag in ("a", "b", "c"):
                    record.add_value(kind, f"{kind}/{tag}", value)
            record.record(1)
    return serve_once(base)


def shown(page: Page, tags: str) -> None:
    """Expect the tags of the cards, one letter each; both runs have a card of each."""
    names = [re.compile(f"{tag}$") for tag in tags for _ in range(2)]
    expect(page.locator(".card h2")).to_have_text(names)


@pytest.mark.parametrize("kind", KINDS)
def test_cards_of_tags_are_dragged_and_hidden_and_stay_so(page: Page, kinds: str, kind: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 1600})  # a drag cannot scroll
    page.goto(f"{kinds}{kind}")
    shown(page, "abc")
    assert not page.get_by_role("button", name="Arrange cards").is_visible()
    card(page, f"{kind}/a").first.locator("header").drag_to(card(page, f"{kind}/c").first)
    shown(page, "bca")
    card(page, f"{kind}/b").last.get_by_role("button", name="Arrange card").click()
    page.get_by_role("button", name="Hide card").click()
    shown(page, "ca")
    page.goto(f"{kinds}overview")
    page.goto(f"{kinds}{kind}")
    shown(page, "ca")
    arrange = page.get_by_role("button", name="Arrange cards")
    expect(arrange).to_contain_text("1 hidden")
    arrange.click()
    page.get_by_role("button", name=f"Show {kind}/b").click()
    shown(page, "bca")
    arrange.click()
    page.get_by_role("button", name="Reset arrangement").click()
    shown(page, "abc")
    expect(arrange).to_be_hidden()


@pytest.mark.parametrize(("kind", "box", "columns"), [("histogram", ".chart", 2), ("image", ".stage", 1)])
def test_cards_of_a_tag_are_resized_together(
    page: Any, kinds: str, kind: str, box: str, columns: int
) -> None:
    """Images of two runs lie in the columns of these, so that only their rows can grow."""
    page.goto(f"{kinds}{kind}?runs=one,two")
    cards = card(page, f"{kind}/a")
    boxes = cards.locator(box)
    before = [boxes.nth(i).evaluate(SIZE) for i in range(2)]
    cards.first.get_by_role("button", name="Arrange card").click()
    page.get_by_role("group", name="Rows").get_by_role("button", name="2").click()
    if columns > 1:
        page.get_by_role("group", name="Columns").get_by_role("button", name="2").click()
    else:
        expect(page.get_by_role("group", name="Columns")).to_have_count(0)
    page.wait_for_url(re.compile(f"span=[^&]*{columns}x2"))
    for i in range(2):
        after = boxes.nth(i).evaluate(SIZE)
        assert after[1] > 1.9 * before[i][1]
        assert after[0] > (1.9 if columns > 1 else 0.9) * before[i][0]
