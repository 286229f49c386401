"""The page of preferences: those of the workspace reach other pages and browsers, the others stay here."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from .curves import eventually_true


@pytest.fixture
def url(serve: Callable[[Path], str], sample_base: Path) -> str:
    return serve(sample_base)


def opened(page: Page) -> None:
    """Open the page by the menu of all pages."""
    page.get_by_role("button", name="All pages").click()
    page.get_by_role("dialog", name="All pages").get_by_role("link", name="Preferences").click()


def saved(page: Page) -> None:
    expect(page.get_by_role("main").get_by_role("status")).to_have_text("Saved")


def test_numbers_times_and_smoothing_are_those_of_the_workspace(
    page: Page, browser: Browser, url: str
) -> None:
    page.goto(url)
    opened(page)
    expect(page.get_by_role("heading", name="Preferences", level=1)).to_be_visible()
    page.get_by_role("combobox", name="Significant digits").select_option("8")
    saved(page)
    page.get_by_role("combobox", name="Time zone").select_option("UTC")
    with page.expect_response("**/v2/defaults"):
        page.get_by_role("combobox", name="Refresh charts").select_option("Every 5 s")
    expect(page.locator(".connection")).to_have_text("Every 5 s")  # and not "Live"
    with page.expect_response(lambda answer: "s=0.9" in (answer.request.post_data or "")) as answer:
        page.get_by_role("spinbutton", name="Smoothing of new charts").fill("0.9")
        page.keyboard.press("Tab")
    assert answer.value.json()["defaults"]["all"] == "n=8&tz=utc&r=5&s=0.9"
    other = browser.new_page(locale="en")
    other.goto(f"{url}scalar?runs=lenet&st=1&q=loss")
    expect(other.get_by_role("cell", name=re.compile(r"^\d\.\d{6,}$")).first).to_be_visible()
    expect(other.get_by_role("spinbutton", name="Smoothing")).to_have_value("0.9")
    expect(other.locator(".connection")).to_have_text("Every 5 s")
    other.goto(f"{url}overview?run=lenet")
    expect(other.get_by_role("main")).to_contain_text(re.compile(r"\d\d:\d\d:\d\d UTC"))
    other.close()


def test_a_change_is_saved_after_the_one_before(page: Page, url: str) -> None:
    """Of two that are saved at once the server might store the older one last."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/v2/defaults", hold)
    page.goto(f"{url}preferences")
    page.get_by_role("combobox", name="Significant digits").select_option("8")
    eventually_true(page, lambda: len(held) == 1)
    page.get_by_role("combobox", name="Time zone").select_option("UTC")
    page.evaluate("() => fetch('health')")
    assert len(held) == 1
    held[0].continue_()
    eventually_true(page, lambda: len(held) == 2)
    assert "n=8&tz=utc" in (held[1].request.post_data or "")
    held[1].continue_()
    saved(page)


def test_density_theme_and_keyboard_are_those_of_this_browser(page: Page, url: str) -> None:
    page.goto(f"{url}preferences")
    root = page.locator("html")
    rows = "getComputedStyle(document.documentElement).getPropertyValue('--row')"
    assert page.evaluate(rows) == "30px"
    page.get_by_role("button", name="Compact").click()
    page.get_by_role("button", name="Dark").click()
    page.get_by_label("Enable shortcuts").uncheck()
    page.goto(f"{url}overview")
    expect(root).to_have_attribute("data-density", "compact")
    expect(root).to_have_attribute("data-theme", "dark")
    assert page.evaluate(rows) == "24px"
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.goto(f"{url}preferences")
    page.get_by_role("combobox", name="Language").select_option("中文")
    expect(page.get_by_role("heading", name="偏好设置", level=1)).to_be_visible()
