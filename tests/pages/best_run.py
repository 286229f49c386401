"""Which run is best, and why: from the first page to the answer, with every click counted and pictured.

    python tests/pages/best_run.py [--out docs/images/best-run]

``walk`` is held to its clicks by ``test_answers.py``.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Locator, Page, expect, sync_playwright

from mindinsight.writer import SummaryRecord

sys.path.insert(0, str(Path(__file__).parents[2]))  # as a script

from tests.pages.screenshots import ROOT, chromium, serve

RUNS = 12
STEPS = 200
ONSET = 15  # step from which a rate that is too high shows in the norm of the gradients
LATER = 15  # steps until it shows in the loss
RATES = (0.012, 0.05, 0.02, 0.015)
LISTED = """() => {
  const heads = [...document.querySelectorAll("thead th")];
  const at = heads.findIndex((head) => head.textContent.endsWith(" last"));
  const rows = [...document.querySelectorAll("tbody tr[data-key]")];
  return rows.length > 0 && rows.every((row) => row.cells[at]?.textContent);
}"""  # whether every row has its last value


@dataclass
class Walk:
    """Clicks on a page; ``picture`` is called with the page and a name after each, and at the start."""

    page: Page
    picture: Callable[[Page, str], None] = lambda page, name: None
    clicks: int = 0
    names: list[str] = field(default_factory=list)

    def look(self, name: str) -> None:
        self.names.append(f"{len(self.names)}-{name}")
        self.picture(self.page, self.names[-1])

    def click(self, target: Locator) -> None:
        target.click()
        self.clicks += 1


def walk(steps: Walk) -> tuple[str, int, int]:
    """From the table of runs to its best run by the loss, to what makes it best, and to the curves.

    Returns:
        The best run, clicks up to it, and clicks up to why.
    """
    page = steps.page
    head = page.get_by_role("columnheader", name=re.compile(" last$")).first
    page.wait_for_function(LISTED)
    steps.look("start")
    steps.click(head.get_by_role("button").first)
    expect(head).to_have_attribute("aria-sort", "ascending")
    best = page.locator("td.name a").first.inner_text()
    to_best = steps.clicks
    steps.look("best")
    steps.click(page.get_by_role("link", name="Why?"))
    expect(page.locator(".answer-story")).to_contain_text("from that of the good")
    to_why = steps.clicks
    steps.look("why")
    return best, to_best, to_why


def follow(steps: Walk) -> None:
    """From why to the curves of the scalar that parts first."""
    row = steps.page.locator("table").first.locator("tbody tr").first
    steps.click(row.get_by_role("link", name="Scalars"))
    expect(steps.page.locator(".chart svg").first).to_be_attached()
    steps.look("curves")


def sweep(base: Path) -> Path:
    """Twelve runs over four learning rates; the highest leaves its course, and one of these ends in NaN."""
    for number in range(RUNS):
        rate = RATES[number % len(RATES)]
        with SummaryRecord(str(base / f"sweep-{number:02d}")) as record:
            known = {"learning_rate": rate, "batch_size": 32 * (1 + number // 4)}
            record.add_value("train_lineage", "lineage", known)
            for step in range(STEPS):
                wobble = 1 + 0.01 * ((7 * step + 3 * number) % 11)
                late = max(step - ONSET, 0) if rate == max(RATES) else 0
                loss = wobble * (0.2 + 2 * math.exp(-step * rate) + max(late - LATER, 0) / 60)
                gone = number == RUNS - 3 and step > STEPS - 20
                record.add_value("scalar", "train/loss", math.nan if gone else loss)
                record.add_value("scalar", "grad/norm", wobble * (1 + late / 30))
                record.add_value("scalar", "eval/accuracy", 1 - min(loss, 2) / 2.2)
                record.record(step)
    return base


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "images" / "best-run")
    out: Path = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)

    def picture(page: Page, name: str) -> None:
        page.wait_for_timeout(800)  # charts are drawn one per frame
        page.screenshot(path=str(out / f"{name}.png"))

    with tempfile.TemporaryDirectory() as folder:
        address, server = serve(sweep(Path(folder) / "sweep"), Path(folder) / "workspace")
        try:
            with sync_playwright() as playwright:
                expect.set_options(timeout=8000)
                browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
                steps = Walk(browser.new_page(viewport={"width": 1280, "height": 720}), picture)
                steps.page.goto(address)
                best, to_best, to_why = walk(steps)
                follow(steps)
                print(f"best run {best}: {to_best} clicks; why: {to_why}; its curves: {steps.clicks}")
                browser.close()
        finally:
            server.terminate()
            server.wait(10)


if __name__ == "__main__":
    main()
