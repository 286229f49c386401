"""Keys that do what buttons do."""

from typing import Any

import pytest
from playwright.sync_api import expect


def ready(page: Any) -> Any:
    """The frame listens and the view is there."""
    expect(page.get_by_role("main")).to_have_attribute("aria-busy", "false")
    return page


def title(page: Any) -> Any:
    return page.get_by_role("heading", level=1)


@pytest.mark.parametrize(
    ("key", "view"),
    [("o", "Overview"), ("s", "Scalars"), ("h", "Histograms"), ("l", "Lineage"), ("r", "Runs")],
)
def test_g_and_a_letter_go_to_a_page_with_the_runs_that_are_shown(
    page: Any, samples: Any, key: str, view: str
) -> None:
    page.goto(f"{samples}image?runs=lenet")
    ready(page).keyboard.press("g")
    page.keyboard.press(key)
    expect(page).to_have_title(f"{view} · MindInsight")
    assert "runs=lenet" in page.url


def test_slash_goes_to_the_search_of_the_view(page: Any, samples: Any) -> None:
    page.goto(f"{samples}scalar?runs=lenet")
    expect(page.get_by_role("searchbox", name="Filter tags")).to_be_visible()
    ready(page).keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Filter tags")).to_be_focused()
    page.keyboard.type("g/p.?")
    expect(page.get_by_role("searchbox", name="Filter tags")).to_have_value("g/p.?")
    expect(page).to_have_title("Scalars · MindInsight")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()


def test_where_a_view_has_no_search_slash_goes_to_the_panel(page: Any, samples: Any) -> None:
    page.goto(f"{samples}overview?run=./lenet")
    ready(page).keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Filter runs")).to_be_focused()


def test_pausing_and_colours_have_keys(page: Any, samples: Any) -> None:
    page.goto(samples)
    ready(page).keyboard.press("p")
    expect(page.locator(".connection")).to_have_text("Paused")
    page.keyboard.press("g")  # begun, and thought better of
    page.keyboard.press("p")
    expect(page.locator(".connection")).not_to_have_text("Paused")
    page.keyboard.press(".")
    page.keyboard.press(".")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


@pytest.mark.parametrize("modifier", ["Control", "Alt", "Meta"])
def test_keys_of_the_browser_and_of_screen_readers_are_theirs(page: Any, samples: Any, modifier: str) -> None:
    page.goto(samples)
    page.evaluate("addEventListener('keydown', event => { window.taken = event.defaultPrevented; })")
    ready(page).keyboard.press(f"{modifier}+.")
    assert page.evaluate("window.taken") is False
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    expect(page.get_by_role("button", name="Theme: system")).to_be_visible()


def test_a_box_lists_the_keys_and_switches_them_off(page: Any, samples: Any) -> None:
    page.goto(samples)
    ready(page).keyboard.press("?")
    box = page.get_by_role("dialog", name="Keyboard shortcuts")
    rows = box.get_by_role("row")
    expect(rows.filter(has_text="Scalars")).to_have_text("gsGo to Scalars")
    expect(rows.filter(has_text="search")).to_have_text("/Focus the search box")
    page.keyboard.press(".")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    box.get_by_role("checkbox", name="Enable shortcuts").uncheck()
    page.keyboard.press("Escape")
    expect(box).to_have_count(0)
    page.keyboard.press("?")
    page.keyboard.press("g")
    page.keyboard.press("o")
    page.reload()
    ready(page).keyboard.press("?")
    page.get_by_role("button", name="Keyboard shortcuts").click()
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_have_count(1)
    expect(page).to_have_title("Runs · MindInsight")
    box.get_by_role("checkbox", name="Enable shortcuts").check()
    page.keyboard.press("Escape")
    expect(box).to_have_count(0)
    page.keyboard.press("g")
    page.keyboard.press("o")
    expect(page).to_have_title("Overview · MindInsight")


def test_the_box_speaks_chinese(page: Any, samples: Any) -> None:
    page.context.add_cookies([{"name": "mindinsight_lang", "value": "zh", "url": samples}])
    page.goto(samples)
    ready(page).keyboard.press("?")
    box = page.get_by_role("dialog", name="键盘快捷键")
    expect(box.get_by_role("row").filter(has_text="标量")).to_have_text("gs前往标量")
