"""Arrangement of the cards of the scalars page: drag, sizes, hidden cards, sections, and the way back."""

import re
from typing import Any

from playwright.sync_api import Locator, Page, expect


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
