"""Explain page: cause, line and spread of a planted fault, its evidence, a healthy run, and damage."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from mindinsight.writer import SummaryRecord
from tests.flight import unpack

from .test_accessibility import violations


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, serve_once: Callable[[Path], str]) -> str:
    base = tmp_path_factory.mktemp("explain")
    for name in ("logarithm", "dead_relu"):
        unpack(name, base)
    with SummaryRecord(str(base / "healthy")) as record:
        for step in range(100):
            record.add_value("scalar", "loss", 1 / (1 + step), step=step)
    return serve_once(base)


def part(page: Page, topic: str) -> Locator:
    return page.locator(f".explain-part[data-topic={topic}]")


def test_cause_line_spread_and_curve_of_a_planted_fault(page: Page, url: str) -> None:
    page.goto(f"{url}explain?run=logarithm")
    expect(page.locator(".answer-story")).to_contain_text("Signs of a fault are in these parts: First")
    tensors = part(page, "tensors")
    expect(tensors).to_contain_text("log received -691.012 at [0, 1]")
    expect(tensors).to_contain_text("2 of 8 recorded forward operators")
    expect(tensors.locator(".explain-code")).to_contain_text("return torch.log(scores)")
    expect(part(page, "curves").get_by_role("img", name=re.compile("^loss: 30 points"))).to_be_visible()
    assert violations(page) == {}
    tensors.get_by_role("link", name="Open the tensor").click()
    expect(page.get_by_role("heading", name="Dumps")).to_be_visible()
    expect(page.get_by_text("Default/log-op0").first).to_be_visible()


def test_the_weight_that_changed_since_the_healthy_step_is_one_click_away(page: Page, url: str) -> None:
    page.goto(f"{url}explain?run=logarithm")
    growth = part(page, "growth")
    expect(growth).to_contain_text(
        "The weight fc2.weight changed: its norm was 0.8834 and is 8835, 10000 times"
    )
    expect(growth.locator("[data-claim='claim.growth.no_outputs']")).to_contain_text("is unknown")
    growth.get_by_role("link", name="Open fc2.weight", exact=True).click()
    expect(page.get_by_role("heading", name="fc2.weight")).to_be_visible()


def test_operators_of_a_part_are_one_click_away_and_the_run_is_not_named_again(page: Page, url: str) -> None:
    page.goto(f"{url}explain?run=logarithm")
    heading = part(page, "tensors").get_by_role("heading")
    expect(heading).to_have_text("First fault in the tensors flight_dump")
    tensors = part(page, "tensors")
    expect(tensors.get_by_role("link")).to_have_text(["Open the tensor", "Open Default/fc2-Linear/addmm-op1"])
    tensors.get_by_role("link", name="Open Default/fc2").click()
    expect(page.get_by_role("heading", name="Default/fc2-Linear/addmm-op1")).to_be_visible()
    page.goto(f"{url}explain?run=dead_relu")
    part(page, "checks").get_by_role("link", name="Open Default/act-ReLU/relu-op0").click()
    expect(page.get_by_role("heading", name="Default/act-ReLU/relu-op0")).to_be_visible()


def test_another_run_is_chosen_and_a_healthy_one_says_what_was_searched(page: Page, url: str) -> None:
    page.goto(f"{url}explain?run=dead_relu")
    expect(part(page, "checks")).to_contain_text("All values of Default/act-ReLU/relu-op0 output 0 are zero")
    page.get_by_role("combobox", name="Run", exact=True).fill("healthy")
    story = page.locator(".answer-story")
    expect(story.locator("p").first).to_have_text("No fault was found. Searched:")
    expect(story.get_by_role("listitem").first).to_have_text("1 scalar for NaN and infinity")
    expect(story.locator("[data-claim='claim.explain.unrecorded']")).to_contain_text("The run has no dump")
    expect(page.locator(".explain-part")).to_have_count(0)
    expect(page).to_have_url(re.compile("run=./healthy"))


def test_from_the_bell_to_cause_and_spread(page: Page, url: str) -> None:
    page.goto(url)
    page.get_by_role("link", name=re.compile("^Alerts: ")).click()
    page.get_by_role("link", name=re.compile("^Training fault: the loss is nan")).last.click()
    expect(page.get_by_text("return torch.log(scores)").first).to_be_visible()
    page.get_by_role("link", name=re.compile("^Explain the run logarithm")).click()
    expect(part(page, "tensors")).to_contain_text("At step 25, NaN or infinity is in")


def test_the_overview_leads_to_it_in_chinese(page: Page, url: str) -> None:
    page.goto(f"{url}overview?run=logarithm&lang=zh")
    page.get_by_role("link", name=re.compile("^(Explain|诊断)$")).click()
    expect(part(page, "end")).to_be_visible()


def test_an_unknown_run_is_said_to_be(page: Page, url: str) -> None:
    page.goto(f"{url}explain?run=nowhere")
    expect(page.get_by_text("nowhere").first).to_be_visible()
    expect(page.locator(".explain-part")).to_have_count(0)


@pytest.mark.parametrize("view", ["explain", "overview", "graph"])
def test_a_page_of_one_run_takes_a_job_and_opens_its_first_rank(page: Page, samples: str, view: str) -> None:
    page.goto(f"{samples}{view}?run=./ranks")
    expect(page).to_have_url(re.compile(r"run=(\./)?ranks/rank_0"))
    assert page.get_by_text("not found").count() == 0


def test_a_line_of_code_is_not_cut_in_a_narrow_window(
    page: Page, serve: Callable[..., str], tmp_path: Path
) -> None:
    unpack("nan_in_weight", tmp_path / "base")
    page.set_viewport_size({"width": 300, "height": 844})
    page.goto(f"{serve(tmp_path / 'base')}explain?run=nan_in_weight")
    code = page.locator(".explain-code")
    expect(code).to_be_visible()
    assert code.evaluate("code => getComputedStyle(code).whiteSpace") == "pre-wrap"
    assert code.evaluate("code => code.scrollWidth <= code.clientWidth")
