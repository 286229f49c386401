"""Texts: rendered without HTML of the file, steps, search, and the difference of two steps."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from mindinsight.writer import SummaryRecord

HOSTILE = "<img src=x onerror=\"document.title='hacked'\"> [link](javascript:alert(1))"
TEXT = f"# Step {{}}\n\n**bold** {HOSTILE}\n\n* word {{}}"


def write(folder: Any, steps: int = 3) -> None:
    with SummaryRecord(str(folder / "run")) as record:
        for step in range(steps):
            record.add_value("text", "note", TEXT.format(step, "needle" if step == 1 else "hay"))
            record.record(step)


def test_a_text_is_rendered_and_its_html_stays_text(page: Any, serve: Any, tmp_path: Path) -> None:
    write(tmp_path / "base")
    page.goto(f"{serve(tmp_path / 'base')}text")
    card = page.get_by_role("group", name="note", exact=True)
    expect(card.locator(".markdown h1")).to_have_text("Step 2")
    expect(card.locator(".markdown strong")).to_have_text("bold")
    expect(card.locator(".markdown")).to_contain_text("<img src=x onerror=")
    assert card.locator(".markdown :is(img, a, script)").count() == 0
    assert "hacked" not in page.title()


def test_steps_search_and_difference(page: Any, serve: Any, tmp_path: Path) -> None:
    write(tmp_path / "base")
    page.goto(f"{serve(tmp_path / 'base')}text")
    card = page.get_by_role("group", name="note", exact=True)
    expect(card.locator(".markdown h1")).to_have_text("Step 2")
    page.get_by_role("searchbox", name="Search in texts").fill("NEEDLE")
    card.get_by_role("button", name="step 1").click()
    expect(card.locator(".markdown h1")).to_have_text("Step 1")
    card.get_by_text("Difference", exact=True).click()
    expect(card.locator(".text-line.removed")).to_contain_text(["-# Step 0", "-* word hay"])
    expect(card.locator(".text-line.added")).to_contain_text(["+# Step 1", "+* word needle"])
    card.get_by_text("As recorded", exact=True).click()
    expect(card.locator("pre.text-source")).to_contain_text("# Step 1")


def test_arrow_keys_go_from_step_to_step(page: Page, serve: Callable[..., str], tmp_path: Path) -> None:
    write(tmp_path / "base")
    page.goto(f"{serve(tmp_path / 'base')}text")
    card = page.get_by_role("group", name="note", exact=True)
    expect(card.locator(".markdown h1")).to_have_text("Step 2")
    stage = card.get_by_role("group", name="note, ./run")
    stage.press("ArrowLeft")
    expect(card.locator(".markdown h1")).to_have_text("Step 1")
    stage.press("ArrowRight")
    stage.press("ArrowRight")
    expect(card.locator(".markdown h1")).to_have_text("Step 2")
