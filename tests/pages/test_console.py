"""Console page: the last lines, those before them, new ones, a search, and the way to a chart and back."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from mindinsight.writer import SummaryRecord

from .test_accessibility import violations

BEGIN = 1_790_000_000


def write_console(run: Path, rows: list[str], process: int = 7, start: int = BEGIN) -> Path:
    path = run / f"console.{start}.{process}.0000.log"
    text = "".join(f"{row}\n" for row in rows)
    path.write_text(f"# mindinsight console 1 0\n{text}", encoding="utf-8")
    return path


@pytest.fixture
def base(tmp_path: Path) -> Path:
    for name in ("a", "b", "without"):
        with SummaryRecord(tmp_path / "base" / name) as record:
            for step in range(100):
                record.add_value("scalar", "loss", 1 / (1 + step), step=step, wall_time=BEGIN + 10.0 * step)
    rows = [f"{BEGIN + i / 2:.3f} o step {i}" for i in range(2000)]
    rows[1990] = f"{BEGIN + 995:.3f} e \x1b[31mERROR\x1b[0m out of memory <b>x</b>"
    write_console(tmp_path / "base" / "a", rows)
    write_console(tmp_path / "base" / "b", [f"{BEGIN}.000 b only this"])
    return tmp_path / "base"


def lines(page: Page) -> Any:
    return page.locator(".console-line")


def test_the_newest_lines_are_shown_with_their_colours_and_earlier_ones_when_scrolled(
    page: Page, serve: Callable[..., str], base: Path
) -> None:
    page.goto(f"{serve(base)}console?run=a")
    expect(lines(page).last).to_contain_text("step 1999")
    expect(lines(page)).to_have_count(500)
    error = page.locator(".console-line.is-error")
    expect(error.locator(".ansi-1")).to_have_text("ERROR")
    expect(error).to_contain_text("out of memory <b>x</b>")
    assert violations(page) == {}
    log = page.locator(".console-lines")
    for _ in range(8):
        log.evaluate("element => (element.scrollTop = 0)")
        page.wait_for_timeout(100)
    log.evaluate("element => (element.scrollTop = 0)")
    expect(page.locator(".console-note")).to_contain_text("Process 7 started at")
    expect(lines(page).first).to_contain_text("step 0")
    texts = lines(page).locator(".console-text").all_inner_texts()
    numbers = [int(text.split()[1]) for text in texts if text.startswith("step")]
    assert numbers == [i for i in range(2000) if i != 1990]


def test_new_lines_appear_and_an_unfinished_one_is_replaced(
    page: Page, serve: Callable[..., str], base: Path
) -> None:
    now = time.time()
    with SummaryRecord(base / "live") as record:
        record.add_value("scalar", "loss", 1.0)
        record.record(1)
        record.flush()
        path = write_console(base / "live", [f"{now:.3f} o begun"], start=int(now))
        page.goto(f"{serve(base)}console?run=live")
        expect(lines(page)).to_have_count(1)
        with path.open("a") as file:
            file.write(f"{now + 1:.3f} O 10 %\n")
        expect(page.locator(".console-line.unfinished")).to_contain_text("10 %")
        with path.open("a") as file:
            file.write(f"{now + 2:.3f} o 100 %\n{now + 3:.3f} o end\n")
        expect(lines(page).last).to_contain_text("end")
        expect(page.locator(".console-line.unfinished")).to_have_count(0)
        expect(lines(page)).to_have_count(3)


def test_a_search_lists_lines_and_one_is_shown_among_its_neighbours(
    page: Page, serve: Callable[..., str], base: Path
) -> None:
    page.goto(f"{serve(base)}console?run=a")
    expect(lines(page)).to_have_count(500)
    page.get_by_label("Search in the output").fill("step 77")
    expect(page.get_by_role("status").filter(has_text="found")).to_have_text("11 lines found")
    expect(lines(page).first.locator("mark")).to_have_text("step 77")
    lines(page).nth(1).get_by_role("button", name="Show around it").click()
    expect(page.locator(".console-line.current")).to_contain_text("step 770")
    expect(lines(page).filter(has_text=re.compile("step 769$"))).to_have_count(1)
    expect(lines(page).filter(has_text=re.compile("step 771$"))).to_be_visible()
    page.get_by_role("button", name="Newest lines").click()
    expect(lines(page).last).to_contain_text("step 1999")


TRACE = ["Traceback (most recent call last):", '  File "a.py", line 3', "OSError: short read"]


def test_errors_are_counted_and_listed_with_whole_tracebacks_and_lead_to_their_places(
    page: Page, serve: Callable[..., str], base: Path
) -> None:
    texts = [f"step {i}, error_rate 0.1, 0 errors" for i in range(1500)]
    texts[700:700] = ["WARNING: slow", "ERROR: retrying", *TRACE]
    write_console(base / "without", [f"{BEGIN + i / 10:.3f} o {text}" for i, text in enumerate(texts)])
    page.goto(f"{serve(base)}console?run=without")
    status = page.locator(".console-page > p[role=status]")
    expect(status).to_contain_text("2 errors · 1 warning · not on this page: lines before")
    choice = page.get_by_role("group", name="Listed lines")
    expect(choice.get_by_role("button")).to_have_text(["All lines", "Errors", "Warnings"])
    choice.get_by_role("button", name="Errors").click()
    expect(lines(page).locator(".console-text")).to_have_text(["ERROR: retrying", *TRACE])
    expect(status).to_have_text("2 errors")
    expect(page).to_have_url(re.compile("level=error"))
    page.get_by_role("button", name="Show around it").nth(1).click()
    expect(page.locator(".console-line.current")).to_contain_text("Traceback")
    expect(page.locator(".level-trace")).to_have_count(2)
    expect(lines(page).filter(has_text=re.compile("step 699,"))).to_have_count(1)


def test_a_console_without_errors_has_no_choice_of_them(
    page: Page, serve: Callable[..., str], base: Path
) -> None:
    write_console(base / "without", [f"{BEGIN}.000 o metric error_rate=0.031 (top-1 error)"])
    page.goto(f"{serve(base)}console?run=without")
    expect(page.locator(".console-page > p[role=status]")).to_have_text("81 B recorded")
    expect(page.get_by_role("group", name="Listed lines")).to_have_count(0)


def test_the_error_that_ended_a_run_is_below_its_lines(
    page: Page, serve: Callable[..., str], base: Path
) -> None:
    with pytest.raises(ValueError, match="shapes"), SummaryRecord(base / "failed") as record:
        record.add_value("scalar", "loss", 1.0, step=1)
        raise ValueError("shapes (3,) and (4,) differ")
    write_console(base / "failed", [f"{BEGIN}.000 o progress 100%"])
    address = serve(base)
    page.goto(f"{address}console?run=failed")
    expect(lines(page)).to_have_count(1)
    ending = page.locator(".console-ending")
    expect(ending).to_contain_text(
        "ValueError: shapes (3,) and (4,) differ From the record of the run's end."
    )
    page.goto(f"{address}console?run=b")
    expect(lines(page)).to_have_count(1)
    expect(ending).to_have_count(0)


def test_a_saved_console_has_the_lines_a_page_holds_and_names_the_others(
    page: Page, serve: Callable[..., str], base: Path, tmp_path: Path, browser: Browser
) -> None:
    rows = [f"{BEGIN + i}.000 e {'ERROR' if i % 3000 == 1 else 'row'} {i}" for i in range(6000)]
    write_console(base / "without", rows)
    address = serve(base)
    saved = browser.new_page()
    for run, count, left in (("a", 2000, None), ("without", 5000, "not on this page: lines before 20")):
        page.goto(f"{address}console?run={run}")
        expect(lines(page)).to_have_count(500)
        with page.expect_download() as download:
            page.get_by_role("button", name="Save this page").click()
        assert download.value.suggested_filename == f"Console_{run}.html"
        download.value.save_as(tmp_path / "saved.html")
        saved.goto((tmp_path / "saved.html").as_uri())
        expect(saved).to_have_title(f"Console {run} · base · MindInsight")
        expect(saved.get_by_role("heading", level=1)).to_have_text(f"Console {run}")
        expect(lines(saved)).to_have_count(count)
        status = saved.locator("p[role=status]")
        expect(status).to_contain_text(left or "1 error")
        assert ("not on this page" in status.inner_text()) == (left is not None)
    expect(status).to_contain_text("2 errors")
    saved.close()


def test_a_line_leads_to_the_charts_of_its_time_and_a_point_back_to_the_lines(
    page: Page, serve: Callable[..., str], base: Path
) -> None:
    page.goto(f"{serve(base)}console?run=a&t={BEGIN + 500}")
    expect(page.locator(".console-line.current")).to_contain_text("step 1000")
    page.locator(".console-line.current .console-time").click()
    table = page.locator(".card table", has_text="Value")
    expect(table.locator("td", has_text=re.compile(r"^50$"))).to_be_visible()
    table.get_by_role("link").click()
    expect(page.locator(".console-line.current")).to_contain_text("step 1000")


def test_the_run_can_be_chosen_and_runs_without_a_console_say_how(
    page: Page, serve: Callable[..., str], base: Path
) -> None:
    address = serve(base)
    page.goto(f"{address}console?run=b")
    expect(lines(page)).to_have_count(1)
    page.locator(".toolbar label", has_text="Run").locator("select").select_option(label="a")
    expect(lines(page).last).to_contain_text("step 1999")
    page.goto(f"{address}console?runs=without")
    expect(page.locator(".empty")).to_contain_text("2 runs have a console")


def test_a_phone_shows_whole_lines(page: Page, serve: Callable[..., str], base: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{serve(base)}console?run=a")
    expect(lines(page).last).to_contain_text("step 1999")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_long_console_is_read_from_its_beginning_to_its_end_with_few_lines_on_the_page(
    page: Page, serve: Callable[..., str], base: Path
) -> None:
    rows = [f"{BEGIN + i / 10:.3f} o row {i}" for i in range(8000)]
    write_console(base / "without", rows, process=8)
    page.goto(f"{serve(base)}console?run=without&t={BEGIN}")
    expect(page.locator(".console-line.current")).to_contain_text("row 0")
    log = page.locator(".console-lines")
    seen: set[int] = set()
    while 7999 not in seen:
        texts = lines(page).locator(".console-text").all_inner_texts()
        seen |= {int(text.split()[1]) for text in texts}
        assert len(texts) <= 5000
        log.evaluate("element => (element.scrollTop = element.scrollHeight)")
        page.wait_for_timeout(50)
    assert len(seen) == 8000
