"""Program of a run on its overview, and what differs from that of another run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from mindinsight.writer import SummaryRecord

from .test_accessibility import violations

DIFF = """diff --git a/train.py b/train.py
--- a/train.py
+++ b/train.py
@@ -1 +1,2 @@
-rate = 0.1
+rate = 0.2
+<b>x</b>
"""


def program(rate: str, diff: str, **changes: Any) -> dict[str, Any]:
    git = {
        "commit": "a1b2c3d4e5f6" * 3,
        "branch": "main",
        "remote": "",
        "diff": diff,
        "cut": False,
        "untracked": 0,
    }
    return {
        "command": ["python", "train.py", "--rate", rate, "two words"],
        "python": "3.11.7",
        "packages": {"numpy": "1.26.4", "torch": "2.13.0"},
        "git": git,
        **changes,
    }


@pytest.fixture
def base(tmp_path: Path) -> Path:
    programs = {
        "a": program("0.2", DIFF),
        "b": program("0.1", "", packages={"numpy": "2.0.0", "torch": "2.13.0"}),
        "without": None,
    }
    for name, facts in programs.items():
        with SummaryRecord(str(tmp_path / "base" / name)) as record:
            record.add_value("scalar", "loss", 1.0)
            if facts:
                record.add_value("code", "code", facts)
            record.record(1)
    return tmp_path / "base"


def test_the_program_is_shown_and_compared(page: Page, serve: Callable[..., str], base: Path) -> None:
    address = serve(base)
    page.goto(f"{address}overview?run=./a")
    panel = page.locator(".overview-program")
    expect(panel).to_contain_text("python train.py --rate 0.2 'two words'")
    expect(panel.locator("dd", has_text="+2 −1")).to_be_visible()
    panel.get_by_text("Uncommitted changes", exact=True).last.click()
    expect(panel.locator(".text-line.added", has_text="<b>x</b>")).to_be_visible()
    panel.get_by_text("Packages (2)").click()
    expect(panel.locator(".program-values")).to_contain_text("2.13.0")
    choice = panel.get_by_label("Compare with")
    assert choice.evaluate("box => [...box.list.options].map(option => option.value)") == [
        "No comparison",
        "b",
    ]
    choice.fill("b")
    expect(panel.locator(".claim-found")).to_have_count(2)
    expect(panel.get_by_role("region", name="Packages that differ (1)")).to_contain_text("numpy1.26.42.0.0")
    expect(panel.locator(".program-difference .text-line.removed", has_text="0.1")).to_be_visible()
    assert violations(page) == {}
    page.reload()
    expect(panel.locator(".claim-found")).to_have_count(2)
    page.goto(f"{address}overview?run=./without")
    expect(page.locator(".overview-facts")).to_contain_text("./without")
    expect(panel).to_be_hidden()


def test_a_comparison_fits_a_phone(page: Page, serve: Callable[..., str], base: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{serve(base)}overview?run=./a&with=./b")
    expect(page.locator(".overview-program .claim-found")).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
