"""Layouts that runs recorded: drawn, offered among the saved views, and saved as one."""

from collections.abc import Callable
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.pages.media import write


def test_a_layout_is_offered_drawn_and_saved(page: Page, serve: Callable[..., str], tmp_path: Path) -> None:
    page.goto(serve(write(tmp_path / "base")))
    page.get_by_role("button", name="Saved views").click()
    page.get_by_role("list", name="Layouts recorded by runs").get_by_role("link", name="ours").click()
    lines = page.get_by_role("group", name="both", exact=True)
    expect(lines.locator(".scatterlayer .trace")).to_have_count(4)
    expect(lines).to_contain_text("loss/val · theirs")
    expect(page.get_by_role("group", name="range", exact=True).locator(".scatterlayer .trace")).to_have_count(
        6
    )
    expect(page.get_by_role("group", name="nothing", exact=True)).to_contain_text(
        "No scalar of the selected runs"
    )
    rules = Axe().run(page).response["violations"]
    assert {rule["id"]: [node["html"][:160] for node in rule["nodes"]][:4] for rule in rules} == {}
    page.get_by_role("button", name="Save as a view").click()
    expect(page.locator("#toasts")).to_contain_text("Layout of ours")
    page.get_by_role("button", name="Saved views").click()
    saved = page.get_by_role("list", name="Saved views").get_by_role("link", name="Layout of ours")
    expect(saved).to_have_attribute("href", "./layout?layout=.%2Fours&tag=custom_scalars__config__")
