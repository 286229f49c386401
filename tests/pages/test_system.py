"""System page: what machines did, beside the curve that says most, on one axis of time."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from mindinsight.writer import SummaryRecord

from .test_accessibility import violations

BEGIN = 1_790_000_000


@pytest.fixture
def base(tmp_path: Path) -> Path:
    for rank in range(2):
        with SummaryRecord(tmp_path / "base" / "job", rank=rank) as record:
            for i in range(60):
                now = BEGIN + 5 * i
                for name in ("loss", "grad_norm"):
                    record.add_value("scalar", name, 1 / (1 + i), step=i, wall_time=now)
                values = {"cpu/percent": 50 + rank, "gpu.0/power_W": 300 + i, "gpu.0/odd": i}
                for tag, value in values.items():
                    record.add_value("scalar", f"system/{tag}", value, step=now, wall_time=now)
    with SummaryRecord(tmp_path / "base" / "without") as record:
        record.add_value("scalar", "loss", 1.0)
        record.record(1)
    return tmp_path / "base"


def test_machines_are_beside_the_loss_by_time(page: Page, serve: Callable[..., str], base: Path) -> None:
    address = serve(base)
    page.goto(f"{address}system")
    titles = page.locator(".card h2")
    expect(titles).to_have_count(4)
    assert titles.all_inner_texts() == [
        "loss",
        "CPU · All cores (%)",
        "system/gpu.0/odd",
        "GPU 0 · Power (W)",
    ]
    expect(page.locator(".card").first.locator(".xtick, .x2tick").first).to_be_attached()
    assert violations(page) == {}
    page.goto(f"{address}scalar")
    expect(page.locator(".card h2")).to_have_count(2)  # the machine is no metric of the training


def test_ranks_of_a_job_are_compared(page: Page, serve: Callable[..., str], base: Path) -> None:
    page.goto(f"{serve(base)}system?m=ranks")
    expect(page.locator(".card h2")).to_have_count(3)


def test_a_run_without_a_machine_says_how_to_record_it(
    page: Page, serve: Callable[..., str], base: Path
) -> None:
    page.goto(f"{serve(base)}system?runs=without")
    expect(page.locator(".empty")).to_contain_text("2 runs have system metrics")


def test_the_page_fits_a_phone_in_chinese(page: Page, serve: Callable[..., str], base: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    address = serve(base)
    page.goto(f"{address}system?lang=zh")
    expect(page.locator(".card h2").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


TRAINING = """
import sys, time
from mindinsight.writer.integrations.training import Training
training = Training(sys.argv[1])
print("the training begins", flush=True)
for step in range(600):
    training.numbers({"loss": 1 / (1 + step)}, step)
    time.sleep(0.1)
"""


def test_a_training_that_begins_shows_loss_machine_console_and_program(
    page: Page, serve: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    address = serve(tmp_path / "empty")
    page.goto(f"{address}system")
    expect(page.locator(".empty")).to_be_visible()
    command = [sys.executable, "-c", TRAINING, str(tmp_path / "empty" / "run")]
    training = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        expect(page.locator(".card h2", has_text="CPU · All cores (%)")).to_be_visible()
        expect(page.locator(".card h2", has_text="loss")).to_be_visible()
        page.goto(f"{address}console")
        expect(page.locator(".console-line").first).to_contain_text("the training begins")
        page.goto(f"{address}overview")
        expect(page.locator(".overview-program")).to_contain_text(sys.executable.rpartition("/")[2])
    finally:
        training.kill()
        training.wait()
