"""Management of many runs: ticks, and what is done to the ticked runs, with its undo."""

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from mindinsight.writer import SummaryRecord
from tests.waiting import until

FAILED = 20


def write_sweep(base: Path) -> Path:
    """123 runs, of which 20 failed."""
    for number in range(123):
        with suppress(RuntimeError), SummaryRecord(str(base / f"sweep-{number:03d}")) as record:
            record.add_value("scalar", "eval/accuracy", number / 1000)
            record.record(1)
            if number < FAILED:
                raise RuntimeError("out of memory")
    return base


@pytest.fixture
def small(serve: Any, sample_base: Path) -> Any:
    return serve(sample_base, allow_delete=True)


def manage(page: Page) -> Locator:
    page.get_by_role("button", name="Manage").click()
    return page.get_by_role("toolbar", name="Manage")


def tick(page: Page, *names: str) -> None:
    for name in names:
        page.get_by_role("checkbox", name=f"Tick {name}").check()


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("row").filter(has=page.get_by_text(name, exact=True))


def undo(page: Page) -> None:
    page.locator(".toast").last.get_by_role("button", name="Undo").click()


def test_many_runs_are_archived_and_come_back(page: Page, small: str) -> None:
    page.goto(small)
    bar = manage(page)
    expect(bar.get_by_role("button", name="Archive")).to_be_disabled()
    tick(page, "values", "ranks")
    expect(bar).to_contain_text("2 ticked")
    bar.get_by_role("button", name="Archive").click()
    expect(page.locator("td.name")).to_have_count(4)
    undo(page)
    expect(page.locator("td.name")).to_have_count(6)
    bar.get_by_role("button", name="Archive").click()
    expect(page.locator("td.name")).to_have_count(4)
    page.get_by_label("Show archived").check()
    expect(row(page, "values")).to_contain_text("archived")
    page.goto(f"{small}scalar")
    expect(page.locator(".side-run", has_text="lenet")).to_be_visible()
    expect(page.locator(".side-run", has_text="values")).to_have_count(0)


def test_labels_groups_and_colours_are_given_to_many_and_taken_back(page: Page, small: str) -> None:
    page.goto(small)
    bar = manage(page)
    tick(page, "values", "lenet")
    bar.get_by_role("button", name="Label", exact=True).click()
    page.get_by_role("combobox", name="Labels").fill("good, checked")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(row(page, "lenet")).to_contain_text("checked")
    bar.get_by_role("button", name="Group", exact=True).click()
    page.get_by_role("combobox", name="Group").fill("ours")
    page.get_by_role("button", name="Set group").click()
    expect(page.get_by_role("columnheader", name="Group")).to_be_visible()
    expect(page.get_by_role("cell", name="ours", exact=True)).to_have_count(2)
    bar.get_by_role("button", name="Colour", exact=True).click()
    page.get_by_role("dialog", name="Colour").get_by_title("#d5639c").click()
    expect(page.locator(".toast").last).to_contain_text("Colour of 2 runs changed")
    bar.get_by_role("button", name="Label", exact=True).click()
    page.get_by_role("combobox", name="Labels").fill("checked")
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(row(page, "lenet")).not_to_contain_text("checked")
    undo(page)
    expect(row(page, "lenet")).to_contain_text("checked")


def test_undo_of_a_label_keeps_those_given_since(page: Page, small: str) -> None:
    page.goto(small)
    bar = manage(page)
    tick(page, "lenet")
    for label in ("first", "second"):
        bar.get_by_role("button", name="Label", exact=True).click()
        page.get_by_role("combobox", name="Labels").fill(label)
        page.get_by_role("button", name="Add", exact=True).click()
        expect(row(page, "lenet")).to_contain_text(label)
    page.locator(".toast").first.get_by_role("button", name="Undo").click()
    expect(row(page, "lenet")).not_to_contain_text("first")
    expect(row(page, "lenet")).to_contain_text("second")


def test_a_name_is_shown_and_the_directory_is_still_found(page: Page, small: str, sample_base: Path) -> None:
    page.goto(small)
    bar = manage(page)
    tick(page, "values", "lenet", "ranks")
    bar.get_by_role("button", name="Rename").click()
    box = page.get_by_role("dialog", name="Rename")
    expect(box).to_contain_text("A rank is named after its job")
    box.get_by_label("lenet").fill("the good one")
    box.get_by_role("button", name="Save").click()
    expect(row(page, "the good one")).to_be_visible()
    assert (sample_base / "lenet").is_dir()
    page.get_by_role("searchbox", name="Search runs").fill("lenet")
    expect(page.locator("td.name")).to_have_count(1)
    undo(page)
    expect(row(page, "lenet")).to_be_visible()


def test_deleted_runs_are_in_the_trash_and_come_back(page: Page, small: str, sample_base: Path) -> None:
    page.goto(small)
    bar = manage(page)
    tick(page, "values", "ranks")
    bar.get_by_role("button", name="Delete").click()
    box = page.get_by_role("dialog", name="Move 5 directories to the trash?")
    box.get_by_role("button", name="Move to trash").click()
    expect(page.locator("td.name")).to_have_count(4)
    assert not (sample_base / "values").exists()
    undo(page)
    expect(page.locator("td.name")).to_have_count(6)
    assert (sample_base / "values").is_dir()


def test_a_deleted_run_is_restored_after_a_reload(page: Page, small: str, sample_base: Path) -> None:
    page.goto(small)
    manage(page)
    tick(page, "values")
    page.get_by_role("toolbar", name="Manage").get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Move to trash").click()
    expect(page.locator("td.name")).to_have_count(5)
    page.reload()
    manage(page).get_by_role("button", name="Trash").click()
    page.get_by_role("button", name="Restore values").click()
    expect(page.get_by_text("The trash is empty.")).to_be_visible()
    assert (sample_base / "values").is_dir()


def test_a_server_that_deletes_nothing_says_how_to_start_it(page: Page, samples: str) -> None:
    page.goto(samples)
    bar = manage(page)
    tick(page, "lenet")
    delete = bar.get_by_role("button", name="Delete")
    expect(delete).to_be_disabled()
    expect(delete).to_have_attribute("title", re.compile("--allow-delete"))


def test_hiding_a_run_charts_no_other_in_its_place(page: Page, serve: Any, tmp_path: Path) -> None:
    address = serve(write_sweep(tmp_path / "base"))

    def is_read() -> bool:
        runs = page.request.get(f"{address}v2/runs").json()["runs"]
        return len(runs) == 123 and all(run["read"] >= run["total"] for run in runs)

    until(is_read)  # which runs are the newest, and which one is first, changes until then
    page.goto(address)
    expect(page.get_by_text("123 runs")).to_be_visible()
    expect(page.locator(".runs-shown")).to_have_text(re.compile("Showing the 10 newest jobs"))
    page.locator("tbody tr[data-key]").first.get_by_role("button", name="Hide").click()
    expect(page.locator(".runs-shown")).to_have_text("9 of 122 in the charts")
    undo(page)
    expect(page.locator(".runs-shown")).to_have_text(re.compile("Showing the 10 newest jobs"))


def test_twenty_failed_runs_are_archived_in_three_actions(
    page: Page, serve: Callable[..., str], tmp_path: Path
) -> None:
    page.goto(serve(write_sweep(tmp_path / "base")))
    expect(page.locator(".runs-shown")).to_be_visible()
    page.get_by_role("searchbox", name="Search runs").fill("failed")  # 1
    expect(page.get_by_text("20 found")).to_be_visible()
    bar = manage(page)  # 2
    expect(bar).to_contain_text("20 ticked")
    bar.get_by_role("button", name="Archive").click()  # 3
    expect(page.locator(".toast").last).to_contain_text("20 runs archived")
    expect(page.get_by_text("20 hidden or archived runs match.")).to_be_visible()
    page.get_by_role("searchbox", name="Search runs").fill("")
    expect(page.get_by_text("103 runs")).to_be_visible()
