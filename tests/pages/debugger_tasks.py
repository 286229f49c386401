"""Five tasks of debugging, from the list of runs to the answer: clicks, keys pressed and seconds of each.

    python tests/pages/debugger_tasks.py

The seconds are those of a script, which reads nothing: how long a person waits for the pages. Writes
``benchmarks/results/debugger_tasks.md``.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Locator, Page, expect, sync_playwright

from mindinsight.writer import SummaryRecord

sys.path.insert(0, str(Path(__file__).parents[2]))  # as a script

from benchmarks.graphs import graph_records
from tests.pages.screenshots import ROOT, chromium, serve
from tests.pages.test_dump import DUMPS, write_dumps

RESULTS = ROOT / "benchmarks" / "results" / "debugger_tasks.md"
NODES = 20_000
WANTED = "MatMul-op10003"
RATES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)


@dataclass
class Hand:
    """Clicks and keys of a person on a page."""

    page: Page
    clicks: int = 0
    keys: int = 0

    def click(self, target: Locator) -> None:
        target.click()
        self.clicks += 1

    def press(self, target: Locator, key: str) -> None:
        target.press(key)
        self.keys += 1

    def view(self, name: str) -> None:
        """Open a page by its link, or by the menu that has all of them."""
        link = self.page.get_by_role("navigation").get_by_role("link", name=name, exact=True)
        if not link.count():
            self.click(self.page.get_by_role("button", name="All pages"))
            link = self.page.get_by_role("dialog", name="All pages").get_by_role(
                "link", name=name, exact=True
            )
        self.click(link)


def unknown_graph(hand: Hand) -> str:
    """The structure of a graph of 20 000 operators, and one operator in it."""
    page = hand.page
    hand.view("Graph")
    card = page.locator(".graph-side").get_by_text("10 × stage {20 × block}")
    expect(card).to_be_visible()
    search = page.get_by_role("searchbox").first
    search.fill(WANTED)
    expect(page.locator(".graph-results")).to_contain_text("layer_0")
    hand.press(search, "Enter")
    expect(page.locator("g.closed.selected", has_text=WANTED)).to_be_visible()
    return f"{card.inner_text()}; {WANTED} in its layer"


def first_nan(hand: Hand) -> str:
    """The operator that made the first NaN, and its line of source code."""
    page = hand.page
    hand.view("Dumps")
    page.goto(page.url.split("?")[0] + "?dump=./broken/dump")
    hand.click(page.get_by_role("button", name="Find the first fault"))
    fault = page.get_by_text("produced non-finite values from finite inputs.")
    expect(fault).to_be_visible()
    hand.click(page.get_by_role("button", name=re.compile("MatMul-op66$")).first)
    line = page.get_by_role("complementary", name="Operator").locator("figure pre")
    expect(line).to_have_text("return self.fc2(x)")
    return f"MatMul-op66; {line.inner_text()}"


def two_dumps(hand: Hand) -> str:
    """The first operator at which two dumps part."""
    page = hand.page
    hand.view("Dumps")
    page.goto(page.url.split("?")[0] + "?dump=./broken/dump&step=1")  # a link that a colleague sent
    tab = page.get_by_role("button", name="Compare", exact=True)
    hand.click(tab.first)
    page.get_by_label("Reference").select_option("./healthy/dump")
    hand.clicks += 2  # open the list, choose
    hand.click(tab.last)
    expect(page.get_by_text("99 of 99 compared")).to_be_visible()
    expect(page.locator(".dump-compared tbody tr", has_text="MatMul-op66").first).to_be_visible()
    return "MatMul-op66 parts first"


def checkpoints(hand: Hand) -> str:
    """What went wrong between checkpoints."""
    page = hand.page
    hand.view("Checkpoints")
    story = page.get_by_text("is the first with NaN or infinities")
    expect(story).to_be_visible()
    return story.inner_text()


def sweep(hand: Hand) -> str:
    """Which setting of 36 runs matters, and the best run."""
    page = hand.page
    hand.view("Lineage")
    page.get_by_role("combobox", name="Objective").select_option("final_loss")
    hand.clicks += 2  # open the list, choose
    row = page.locator(".importance").get_by_role("row").first
    expect(row).to_contain_text("learning_rate")
    expect(page.locator(".importance .number").first).not_to_be_empty()
    return row.inner_text().replace("\n", " ").replace("\t", " ")


TASKS: dict[str, Callable[[Hand], str]] = {
    "structure of an unknown graph of 20 000 operators, and one of them": unknown_graph,
    "from a NaN to the operator and its line": first_nan,
    "two dumps: where they part": two_dumps,
    "checkpoints of a training: what broke": checkpoints,
    "36 runs: which setting matters": sweep,
}


def write_base(base: Path) -> Path:
    write_dumps(base)
    (base / "job").mkdir()
    for number, name in enumerate(("1", "2", "nan"), 1):
        shutil.copy(DUMPS / "ckpt" / f"tinynet-{name}.ckpt", base / "job" / f"tinynet-{10 * number}.ckpt")
    run = base / "net"
    run.mkdir()
    (run / "events.out.events.summary.1700000000.0.net_MS").write_bytes(
        b"".join(graph_records("mindspore", NODES))
    )
    for number in range(36):
        rate, batch = RATES[number % 6], 16 * 2 ** (number // 6 % 3)
        with SummaryRecord(str(base / "sweep" / f"run_{number:02d}")) as record:
            loss = abs(rate - 0.03) + 0.05
            settings = {"learning_rate": rate, "batch_size": batch, "seed": number, "final_loss": loss}
            record.add_value("custom_lineage_data", "settings", settings)
            for step in range(1, 20):
                record.add_value("scalar", "loss", abs(rate - 0.03) + 1 / step)
                record.record(step)
    return base


def main() -> None:
    rows = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        address, server = serve(write_base(Path(folder) / "base"), Path(folder) / "workspace")
        try:
            browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
            for name, task in TASKS.items():
                page = browser.new_page(viewport={"width": 1440, "height": 900}, locale="en-GB")
                page.goto(address)
                page.locator("td.name").first.wait_for()
                hand, began = Hand(page), time.perf_counter()
                answer = task(hand)
                seconds = time.perf_counter() - began
                rows.append(f"| {name} | {hand.clicks} | {hand.keys} | {seconds:.1f} | {answer} |")
                page.close()
            browser.close()
        finally:
            server.terminate()
            server.wait(10)
    head = "| task | clicks | keys | seconds | answer |\n|---|---:|---:|---:|---|"
    text = f"# Five tasks of debugging\n\nMade with `python tests/pages/debugger_tasks.py`.\n\n{head}\n"
    RESULTS.write_text(text + "\n".join(rows) + "\n", encoding="utf-8")
    print(text + "\n".join(rows))


if __name__ == "__main__":
    main()
