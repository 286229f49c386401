"""Actions that common tasks take among 123 runs: clicks, choices, and fields that are filled.

Archiving failed runs is counted in ``test_manage.py``, and a formula in ``test_scalar.py``.
``test_arrange.py`` shows that an arrangement is there the next day without an action.
"""

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from mindinsight.writer import SummaryRecord
from tests.claims.situations.graph import write_graph
from tests.claims.situations.graph_edits import layers

RUNS = 118
STEPS = 40
RANKS = 4
SLOW = 2
ONSET = 20


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, serve_once: Callable[[Path], str]) -> str:
    """A sweep of 118 runs, of which the last diverges, and then a job of four ranks, of which one is slow."""
    base = tmp_path_factory.mktemp("sweep")
    for number in range(RUNS):
        with SummaryRecord(str(base / f"sweep-{number:03d}")) as record:
            rate = [0.001, 0.01, 0.1][number % 3]
            record.add_value("train_lineage", "lineage", {"learning_rate": rate, "batch_size": 32})
            for step in range(STEPS):
                extra = 200.0 if number == RUNS - 1 and step == ONSET else 0.0
                extra = math.nan if number == RUNS - 1 and step > ONSET else extra
                record.add_value("scalar", "train/loss", 2 / (1 + step) + 0.01 * ((7 * step) % 5) + extra)
                record.add_value("scalar", "train/norm", 1.0 + 0.01 * step)
                record.add_value("scalar", "eval/accuracy", min(1, number / RUNS * step / STEPS))
                if number >= RUNS - 2 and step == 0:
                    record.add_value("image", "input", np.full((1, 3, 8, 8), number % 2, np.float32))
                record.record(step)
    for rank in range(RANKS):
        with SummaryRecord(str(base / "job" / f"rank_{rank}")) as record:
            for step in range(STEPS):
                late = 40 if rank == SLOW and step >= ONSET else 0
                record.add_value("scalar", "step_ms", 100.0 + (7 * step + 3 * rank) % 5 + late)
                record.record(step)
    return serve_once(base)


class Actions:
    """Counter of what a user does."""

    def __init__(self) -> None:
        self.count = 0

    def click(self, target: Locator) -> None:
        self.count += 1
        target.click()

    def choose(self, target: Locator, value: str) -> None:
        self.count += 1
        target.select_option(value)

    def fill(self, target: Locator, value: str) -> None:
        self.count += 1
        target.fill(value)


def card(page: Page, tag: str) -> Locator:
    return page.get_by_role("group", name=tag, exact=True)


def test_the_best_run_by_accuracy_and_its_settings(page: Page, url: str) -> None:
    page.goto(url)
    actions = Actions()
    expect(page.get_by_role("columnheader", name="learning_rate")).to_be_visible()
    actions.click(
        page.get_by_role("columnheader", name=re.compile("accuracy")).first.get_by_role("button").first
    )
    best = page.locator("tbody tr[data-key]").first
    expect(best).to_contain_text(f"{RUNS - 1:03d}")
    expect(best.get_by_role("cell", name="0.001", exact=True)).to_be_visible()
    assert actions.count <= 2


def test_two_runs_over_each_other_on_a_log_axis(page: Page, url: str) -> None:
    page.goto(f"{url}scalar")
    actions = Actions()
    runs = page.locator(".side-run").filter(has_text=re.compile("sweep-"))
    first, second = runs.nth(0), runs.nth(1)
    first.hover()
    actions.click(first.get_by_role("button", name=re.compile("Show only")))
    actions.click(second.get_by_role("checkbox"))
    actions.choose(page.get_by_role("combobox", name="Y scale"), "log")
    expect(page.get_by_text(re.compile("^2 of ")).first).to_be_visible()
    assert actions.count <= 3


def test_when_a_run_diverged(page: Page, url: str) -> None:
    page.goto(url)
    actions = Actions()
    actions.fill(page.get_by_role("searchbox", name="Search runs"), f"{RUNS - 1:03d}")
    actions.click(page.get_by_role("link", name=f"sweep-{RUNS - 1:03d}").first)
    expect(page.locator(".overview-divergence")).to_contain_text(f"step {ONSET + 1}")
    assert actions.count <= 2


def test_the_slow_rank(page: Page, url: str) -> None:
    page.goto(url)
    actions = Actions()
    actions.click(page.get_by_role("link", name=re.compile("^Ranks of job")))
    expect(page.locator("tbody tr").first).to_contain_text(f"rank {SLOW}")
    expect(page.locator("tbody tr").first).to_contain_text("step_ms")
    assert actions.count <= 1


def test_an_image_beside_that_of_another_run(page: Page, url: str) -> None:
    page.goto(f"{url}image?runs=sweep-{RUNS - 1:03d},sweep-{RUNS - 2:03d}")
    actions = Actions()
    actions.click(page.get_by_role("button", name="Compare").first)
    dialog = page.get_by_role("dialog")
    for number in (1, 2):
        expect(dialog.locator(".image-compare")).to_contain_text(f"{RUNS - number:03d}")
    assert actions.count <= 2


def test_a_report_of_three_cards_is_one_file(page: Page, url: str) -> None:
    page.goto(f"{url}scalar?runs=sweep-{RUNS - 1:03d}")
    actions = Actions()
    for number, tag in enumerate(("train/loss", "train/norm", "eval/accuracy")):
        actions.click(card(page, tag).get_by_role("button", name="Add to report"))
        menu = page.get_by_role("dialog", name="Add to report")
        name = "New report" if number == 0 else "Untitled report"
        actions.click(menu.get_by_role("button", name=name).first)
        expect(menu).to_have_count(0)
    assert actions.count <= 6
    page.get_by_role("link", name="Open the report").last.click()
    expect(page.locator(".live-card .card:visible")).to_have_count(3)
    with page.expect_download():
        page.get_by_role("button", name="Save as one HTML file").click()  # one action


def test_an_alert_rule_with_its_preview(page: Page, url: str) -> None:
    page.goto(f"{url}alert")
    actions = Actions()
    actions.click(page.locator("summary").filter(has_text="Rules"))
    actions.click(page.get_by_role("button", name="Add rule"))
    actions.fill(page.get_by_label("Scalars (* and ? match any characters)"), "train/loss")
    actions.fill(page.get_by_label("Value"), "100")
    expect(page.locator(".rule-preview")).to_contain_text("in 1 of ")
    actions.click(page.get_by_role("button", name="Save", exact=True))
    expect(page.get_by_role("list", name="Rules")).to_contain_text("train/loss is above 100")
    assert actions.count <= 5


def test_the_edit_between_the_graphs_of_two_runs(
    page: Page, tmp_path: Path, serve: Callable[[Path], str]
) -> None:
    edits: dict[str, dict[str, Any]] = {
        "one": {},
        "two": {"activation": "gelu"},
        "three": {"blocks": range(5)},
    }
    for name, changes in edits.items():
        write_graph(tmp_path, name, layers(**changes)())
    page.goto(serve(tmp_path))
    actions = Actions()
    actions.click(page.get_by_role("link", name="Compare graphs"))
    for side, run in (("Left", "one"), ("Right", "two")):
        half = page.get_by_role("region", name=f"{side} graph", exact=True)
        actions.choose(half.get_by_role("combobox", name="Run", exact=True), run)
    expect(page.locator("[data-claim='claim.graph.replaced']")).to_have_text("relu → gelu in 4 places")
    assert actions.count <= 3
