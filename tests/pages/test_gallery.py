"""Each component in each of its states: nothing fails, and nothing is wider than the window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from tests.pages.gallery import offer_gallery

OVERFLOWING = """() => [...document.querySelectorAll("[data-component]")].filter((section) =>
    [section, ...section.children].some((box) => box.scrollWidth > box.clientWidth + 1)
).map((section) => section.dataset.component)"""


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_component_fits_in_every_state(
    page: Page, serve: Callable[..., str], tmp_path: Path, theme: Literal["light", "dark"], width: int
) -> None:
    offer_gallery(page)
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=theme)
    page.goto(serve(tmp_path) + "gallery")
    expect(page.locator("[data-component]")).to_have_count(20)
    page.locator("[data-component=chart]").scroll_into_view_if_needed()
    expect(page.locator(".chart svg").first).to_be_attached()
    assert page.evaluate(OVERFLOWING) == []
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0
