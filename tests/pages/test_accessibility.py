"""axe-core on every page, light in English and dark in Chinese; the keyboard reaches what the mouse does."""

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

PAGES = {
    "runs": "",
    "overview": "overview?run=./lenet",
    "scalars": "scalar?runs=lenet,values,ranks/rank_0&q=loss|nan",
    "comparison": "scalar?m=compare&runs=ranks/rank_0,ranks/rank_1",
    "ranks": "scalar?m=ranks&runs=ranks/rank_0",
    "groups": "scalar?m=groups&runs=ranks/rank_0,ranks/rank_1",
    "histograms": "histogram?runs=lenet,values&q=bias",
    "images": "image?runs=lenet",
    "tensors": "tensor?runs=lenet",
    "graph": "graph?runs=lenet",
    "lineage": "lineage",
    "landscape": "landscape?runs=landscape",
    "dump": "dump",
    "alerts": "alert?rules=1&by=run",
    "reports": "reports",
    "interface": "docs",
}
LOCALES = {"en": "en-GB", "zh": "zh-CN"}
THEMES = {"en": "light", "zh": "dark"}


@pytest.fixture(scope="module", params=LOCALES)
def window(request: pytest.FixtureRequest, browser: Any) -> Iterator[Any]:
    """One window for all pages of a language: the scripts are fetched once."""
    context = browser.new_context(
        viewport={"width": 1440, "height": 900},
        locale=LOCALES[request.param],
        color_scheme=THEMES[request.param],
    )
    yield context.new_page()
    context.close()


def violations(page: Any) -> dict[Any, Any]:
    rules = Axe().run(page).response["violations"]
    return {rule["id"]: [node["html"][:160] for node in rule["nodes"]][:4] for rule in rules}


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(window: Any, samples: Any, name: Any) -> None:
    window.goto(samples + PAGES[name])
    expect(window.locator(".booting")).to_have_count(0)
    expect(window.get_by_role("main")).to_have_attribute("aria-busy", "false")
    language = window.locator("html").get_attribute("lang")
    expect(window.locator("html")).to_have_attribute("data-theme", THEMES[language[:2]])
    assert violations(window) == {}


def test_the_keyboard_goes_from_the_skip_link_through_tools_to_cards(page: Any, samples: Any) -> None:
    page.goto(f"{samples}scalar?runs=lenet")
    expect(page.get_by_role("group", name="loss/auto", exact=True)).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    reached = []
    for _ in range(24):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.closest('label')?.innerText.split('\\n')[0]"
                                     " || document.activeElement.getAttribute('aria-label')"
                                     " || document.activeElement.innerText"))  # fmt: skip
    order = [
        "Curves",
        "Filter tags (regular expression)",
        "Smoothing",
        "Y scale",
        "Settings",
        "Add chart",
        "Pin to top",
    ]
    places = [reached.index(name) for name in order]
    assert places == sorted(places)
