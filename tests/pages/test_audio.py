"""Sounds: drawn, played with the browser's own controls, stepped through, and odd bytes said in words."""

from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.pages.media import write

from .curves import eventually_true


@pytest.fixture(scope="module")
def address(serve_once: Callable[[Path], str], tmp_path_factory: pytest.TempPathFactory) -> str:
    return serve_once(write(tmp_path_factory.mktemp("sounds")))


def test_a_sound_is_drawn_and_played_when_asked_only(page: Page, address: str) -> None:
    page.goto(f"{address}audio?runs=ours")
    card = page.get_by_role("group", name="voice", exact=True)
    expect(card).to_contain_text("0.2 s · 8000 Hz · 1 channel · 16 bit PCM")
    filled = "c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(v => v)"
    eventually_true(page, lambda: card.locator("canvas").evaluate(filled))
    player = card.locator("audio")
    assert player.evaluate("a => [a.paused, a.autoplay, a.controls, a.readyState]") == [True, False, True, 0]
    player.evaluate("a => a.play()")
    eventually_true(page, lambda: player.evaluate("a => a.currentTime > 0"))


def test_steps_are_linked_over_runs(page: Page, address: str) -> None:
    page.goto(f"{address}audio?runs=ours,theirs&link=1")
    cards = page.get_by_role("group", name="voice", exact=True)
    expect(cards).to_have_count(2)
    expect(cards.first).to_contain_text("3 of 3")
    first, second = cards.nth(0), cards.nth(1)
    first.get_by_role("slider", name="Step").press("ArrowLeft")
    expect(first).to_contain_text("2 of 3")
    expect(second).to_contain_text("2 of 3")
    assert "row=1" in second.locator("audio").evaluate("a => a.src")


def test_bytes_that_are_no_sound_are_said_and_can_be_downloaded(page: Page, address: str) -> None:
    page.goto(f"{address}audio?runs=odd")
    card = page.get_by_role("group", name="noise", exact=True)
    expect(card).to_contain_text("not a sound file")
    expect(card.locator("audio")).to_be_hidden()
    with page.expect_download() as download:
        card.get_by_role("link", name="Download").click()
    assert Path(download.value.path()).read_bytes() == b"<b>no sound</b>"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(page: Page, address: str, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(f"{address}audio")
    expect(page.get_by_role("group", name="voice", exact=True)).to_have_count(2)
    expect(page.get_by_role("group", name="noise", exact=True)).to_contain_text("not a sound file")
    rules = Axe().run(page).response["violations"]
    assert {rule["id"]: [node["html"][:160] for node in rule["nodes"]][:4] for rule in rules} == {}
