"""Precision-recall curves: several runs in one chart, counts in the tooltip, the step for all cards."""

from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.pages.media import write


@pytest.fixture(scope="module")
def address(serve_once: Callable[[Path], str], tmp_path_factory: pytest.TempPathFactory) -> str:
    return serve_once(write(tmp_path_factory.mktemp("curves")))


def test_runs_are_drawn_together_with_counts_by_threshold(page: Page, address: str) -> None:
    page.goto(f"{address}pr_curve")
    card = page.get_by_role("group", name="cats", exact=True)
    expect(card).to_contain_text("step 20")
    chart = card.locator(".chart").first
    expect(chart.locator(".scatterlayer .trace")).to_have_count(2)
    expect(card.locator(".pr-area .scatterlayer .trace")).to_have_count(2)
    first = "c => { const t = c.data[0]; return [t.x[0], t.customdata[0][0], t.customdata[0][3]]; }"
    assert chart.evaluate(first) == [1, 0, 0]
    template = chart.evaluate("c => c.data[0].hovertemplate")
    assert all(word in template for word in ("Threshold", "TP", "FP", "TN", "FN", "Precision", "Recall"))


def test_the_step_is_that_of_all_curves_and_in_the_address(page: Page, address: str) -> None:
    page.goto(f"{address}pr_curve")
    card = page.get_by_role("group", name="cats", exact=True)
    expect(card).to_contain_text("step 20")
    page.get_by_role("slider", name="Step").press("ArrowLeft")
    expect(card).to_contain_text("step 10")
    expect(card).not_to_contain_text("step 20")
    assert "at=10" in page.url
    page.reload()
    expect(page.get_by_role("group", name="cats", exact=True)).to_contain_text("step 10")


def test_roc_curves_are_drawn_of_the_counts_and_kept_in_the_address(page: Page, address: str) -> None:
    page.goto(f"{address}pr_curve")
    card = page.get_by_role("group", name="cats", exact=True)
    expect(card).to_contain_text("average precision")
    page.get_by_role("button", name="ROC").click()
    expect(card).to_contain_text("area under ROC 0.")
    assert "curve=roc" in page.url
    page.reload()
    expect(card).to_contain_text("Area under ROC by step")
    chart = card.locator(".chart").first
    expect(chart.locator(".scatterlayer .trace")).to_have_count(2)
    assert "False positive rate" in chart.evaluate("c => c.data[0].hovertemplate")
    assert chart.evaluate("c => [c.data[0].x[0], c.data[0].y[0]]") == [1, 1]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(page: Page, address: str, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(f"{address}pr_curve")
    expect(page.get_by_role("group", name="cats", exact=True)).to_contain_text("step 20")
    rules = Axe().run(page).response["violations"]
    assert {rule["id"]: [node["html"][:160] for node in rule["nodes"]][:4] for rule in rules} == {}
