"""Tasks of debugging, from the list of runs to the answer: actions, keys pressed and seconds of each.

    python tests/pages/debugger_tasks.py

The seconds are those of a script, which reads nothing: how long a person waits for the pages. Writes
``benchmarks/results/debugger_tasks.md``. ``test_debugger_tasks.py`` holds the actions.
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
from tests.flight import unpack
from tests.pages.screenshots import ROOT, chromium, serve
from tests.pages.test_dump import DUMPS, write_dumps
from tests.pages.test_graph_compare import write_graphs

RESULTS = ROOT / "benchmarks" / "results" / "debugger_tasks.md"
NODES = 20_000
RATES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)


@dataclass
class Hand:
    """Clicks, choices and keys of a person on a page."""

    page: Page
    clicks: int = 0
    keys: int = 0

    def click(self, target: Locator) -> None:
        target.click()
        self.clicks += 1

    def choose(self, target: Locator, label: str) -> None:
        target.select_option(label=label)
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
    """The structure of a graph of 20 000 operators, and one operator by words of its path."""
    page = hand.page
    hand.view("Graph")
    hand.choose(page.get_by_role("combobox", name="Run"), "net")
    card = page.locator(".graph-side").get_by_text("9 × stage_1…9 {20 × block}")
    expect(card).to_be_visible()
    search = page.get_by_role("searchbox").first
    search.fill("network.stage_5.block_3 MatMul")
    expect(page.locator(".graph-results")).to_contain_text("stage_5")
    hand.press(search, "Enter")
    expect(page.locator("g.closed.selected", has_text="MatMul")).to_be_in_viewport()
    return card.inner_text()


def fault_line(hand: Hand) -> str:
    """From the bell to the operator of the first NaN and its line."""
    page = hand.page
    hand.click(page.get_by_role("link", name=re.compile("^Alerts: ")))
    hand.click(page.get_by_role("link", name=re.compile("^Training fault: the loss is nan")).last)
    line = page.locator("pre, .code", has_text="return torch.log(scores)").first
    expect(line).to_be_visible()
    return "return torch.log(scores)"


def cause_and_spread(hand: Hand) -> str:
    """Why that operator made NaN, and what it reached."""
    fault_line(hand)
    page = hand.page
    hand.click(page.get_by_role("link", name=re.compile("^Explain the run logarithm")))
    spread = page.locator(".explain-part[data-topic=tensors]").get_by_text(
        "At step 25, NaN or infinity is in"
    )
    expect(spread).to_be_visible()
    return spread.inner_text()


def two_dumps(hand: Hand) -> str:
    """The first operator at which two dumps differ."""
    page = hand.page
    page.get_by_role("searchbox", name="Search runs").fill("broken")
    hand.click(page.locator("td.name").get_by_role("link", name="broken", exact=True))
    hand.click(page.locator(".overview-facts").get_by_role("link", name="broken/dump"))
    expect(page.get_by_text("99 tensors")).to_be_visible()
    step = page.get_by_role("spinbutton", name="Step")
    step.fill("1")
    hand.press(step, "Enter")
    expect(page).to_have_url(re.compile("step=1"))
    hand.click(page.get_by_role("button", name="Compare", exact=True).first)
    hand.choose(page.get_by_label("Reference"), "healthy/dump")
    claim = page.locator("[data-claim]", has_text="MatMul-op66").first
    expect(claim).to_be_visible()
    return claim.inner_text()


def two_graphs(hand: Hand) -> str:
    """What was edited from one graph to the other."""
    page = hand.page
    hand.view("Graph")
    hand.choose(page.get_by_role("combobox", name="Run"), "two")
    hand.click(page.get_by_role("button", name="Compare two"))
    edits = page.get_by_role("region", name="What changed", exact=True)
    expect(edits).to_contain_text("conv2-Conv2d")
    return edits.locator(".claim").first.inner_text()


def broken_checkpoint(hand: Hand) -> str:
    """What went wrong between checkpoints."""
    page = hand.page
    hand.view("Checkpoints")
    story = page.get_by_text("head.weight has NaN or infinity, of these checkpoints first in tinynet-10")
    expect(story).to_be_visible()
    return story.inner_text()


def largest_change(hand: Hand) -> str:
    """Which weight changed most between two checkpoints."""
    page = hand.page
    hand.view("Checkpoints")
    hand.click(page.get_by_role("button", name="Compare", exact=True))
    claim = page.locator("[data-claim='claim.checkpoint.largest']")
    expect(claim).to_be_visible()
    expect(claim).to_contain_text("head.bias changed most")
    return claim.inner_text()


def sweep(hand: Hand) -> str:
    """Which setting of 36 runs matters, and the region of the best."""
    page = hand.page
    hand.view("Lineage")
    region = page.locator(".importance, .lineage-row").get_by_text("runs with the lowest loss: learning_rate")
    expect(region.first).to_be_visible()
    return region.first.inner_text()


def hand_over(hand: Hand) -> str:
    """A file of the page for somebody who has no server."""
    page = hand.page
    page.goto(f"{page.url}explain?run=logarithm")  # where somebody is who has seen the cause
    expect(page.locator(".explain-part[data-topic=curves]")).to_be_visible()
    with page.expect_download() as download:
        hand.click(page.get_by_role("button", name="Save this page as a single HTML file"))
    text = Path(download.value.path()).read_text(encoding="utf-8")
    assert "The logarithm is defined only above 0" in text
    assert download.value.suggested_filename == "Explain_logarithm.html"
    return download.value.suggested_filename


TASKS: dict[str, tuple[Callable[[Hand], str], int]] = {  # with the most actions that each may take
    "structure of an unknown graph of 20 000 operators, and one of them": (unknown_graph, 2),
    "from the bell to the first NaN and its line": (fault_line, 2),
    "its cause and spread": (cause_and_spread, 3),
    "two dumps: where they differ": (two_dumps, 4),
    "two graphs: what was edited": (two_graphs, 3),
    "checkpoints of a training: what broke": (broken_checkpoint, 2),
    "two checkpoints: what changed most": (largest_change, 3),
    "36 runs: which setting matters, and the best region": (sweep, 2),
    "a page for somebody without a server": (hand_over, 1),
}


def write_base(base: Path) -> Path:
    write_dumps(base)
    unpack("logarithm", base)
    write_graphs(base)
    (base / "job").mkdir()
    for number, name in enumerate(("nan", "1", "2"), 1):
        shutil.copy(DUMPS / "ckpt" / f"tinynet-{name}.ckpt", base / "job" / f"tinynet-{10 * number}.ckpt")
    run = base / "net"
    run.mkdir()
    (run / "events.out.events.summary.1700000000.0.net_MS").write_bytes(
        b"".join(graph_records("mindspore", NODES))
    )
    for number in range(36):
        rate, batch = RATES[number % 6], 16 * 2 ** (number // 6 % 3)
        with SummaryRecord(str(base / "sweep" / f"run_{number:02d}")) as record:
            settings = {"learning_rate": rate, "batch_size": batch, "seed": number, "warmup": 10}
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
            for name, (task, _) in TASKS.items():
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
    head = "| task | actions | keys | seconds | answer |\n|---|---:|---:|---:|---|"
    text = f"# Tasks of debugging\n\nMade with `python tests/pages/debugger_tasks.py`.\n\n{head}\n"
    RESULTS.write_text(text + "\n".join(rows) + "\n", encoding="utf-8")
    print(text + "\n".join(rows))


if __name__ == "__main__":
    main()
