"""The table of runs: search, sort, columns, baseline, hiding, notes, and what is said of the rest."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from mindinsight.writer import SummaryRecord

from .delays import DelayedAnswer
from .shown_text import shown_texts


@pytest.fixture
def url(samples: str) -> str:
    """One server for all tests that change nothing."""
    return samples


@pytest.fixture
def changeable(serve: Any, sample_base: Any) -> Any:
    return serve(sample_base)


def names(page: Any) -> list[Any]:
    """The names in the first column, top to bottom."""
    expect(page.locator("td.name").first).to_be_visible()
    return [text.split("\n")[0] for text in shown_texts(page, "td.name")]


def row(page: Any, name: Any) -> Any:
    return page.get_by_role("row").filter(has=page.get_by_text(name, exact=True))


def search(page: Any, text: Any) -> None:
    page.get_by_role("searchbox", name="Search runs").fill(text)
    page.wait_for_url(lambda address: ("q=" in address) == bool(text))


def test_nothing_is_managed_while_the_table_is_loading(page: Any, url: Any) -> None:
    columns = DelayedAnswer(page, r"v2/tags\?kind=scalar&brief=true$")
    page.goto(url)
    columns.until()
    expect(page.get_by_role("searchbox", name="Search runs")).to_be_visible()
    expect(page.get_by_role("toolbar", name="Manage")).to_be_hidden()
    columns.release()
    expect(page.locator("td.name").first).to_be_visible()


def test_every_job_is_a_row_with_its_newest_values(page: Any, url: Any) -> None:
    page.goto(url)
    expect(row(page, "lenet")).to_contain_text("1.126")
    expect(row(page, "lenet")).to_contain_text("60")
    assert sorted(names(page)) == ["damaged", "images", "landscape", "lenet", "ranks", "values"]


def test_ranks_unfold_and_the_address_remembers(page: Any, url: Any) -> None:
    page.goto(url)
    page.get_by_role("button", name="Ranks of ranks").click()
    expect(page.get_by_role("link", name="rank 3")).to_be_visible()
    assert [name for name in names(page) if name.startswith("rank ")] == [f"rank {n}" for n in range(4)]
    page.reload()
    expect(page.get_by_role("link", name="rank 3")).to_be_visible()


def test_search_by_words_patterns_and_comparisons(page: Any, url: Any) -> None:
    results = {
        "len": ["lenet"],
        "LAND": ["landscape"],
        "/^(lenet|images)$/": ["images", "lenet"],
        "network=LeNet": ["lenet"],
        "loss<1": ["damaged", "landscape", "ranks"],
        "loss>=1 batch_size=10": ["lenet"],
        "damage>0": ["damaged"],
        "nothing-like-this": [],
    }
    page.goto(url)
    expect(row(page, "lenet")).to_be_visible()
    for text, runs in results.items():
        search(page, text)
        for run in runs:
            expect(page.locator("td.name", has_text=run)).to_be_visible()
        expect(page.locator("td.name")).to_have_count(len(runs))


def test_a_search_compares_the_scalar_that_the_column_of_this_name_shows(
    page: Any, serve: Any, tmp_path: Path
) -> None:
    for run, tag, value in (
        ("a", "train/loss", 0.4),
        ("b", "loss", 0.3),
        ("c", "loss", 0.9),
        ("d", "d_loss", 0.1),
    ):
        with SummaryRecord(str(tmp_path / run)) as record:
            record.add_value("scalar", tag, value, step=1)
    page.goto(serve(tmp_path))
    expect(page.get_by_role("columnheader", name="loss", exact=False).first).to_be_visible()
    search(page, "loss<0.45")
    expect(page.locator("td.name")).to_have_count(2)
    assert sorted(names(page)) == ["a", "b"]


def test_a_search_shows_how_it_was_understood_and_has_a_way_back(page: Any, url: Any) -> None:
    page.goto(url)
    search(page, "momentum batch_size>=1e1 loss>=1")  # the optimizer of lenet, in a setting
    meaning = page.locator(".runs-meaning .badge")
    expected = ["“momentum” in name, label, note, setting or state", "batch_size ≥ 10", "loss ≥ 1"]
    expect(meaning).to_have_text(expected)
    expect(page.locator("td.name")).to_have_text(re.compile("lenet"))
    search(page, "nothing-like-this")
    expect(page.get_by_text("No run matches this search")).to_be_visible()
    page.get_by_role("button", name="Clear the search").click()
    expect(page.locator("td.name")).to_have_count(6)
    expect(meaning).to_have_count(0)


def test_the_panel_lists_charted_runs_first_and_filters_like_the_table(page: Any, url: Any) -> None:
    page.goto(f"{url}scalar?runs=./lenet")
    listed = page.locator(".side-run .side-name")
    expect(listed.first).to_have_text("lenet")
    page.get_by_role("checkbox", name="values").check()
    expect(listed.first).to_have_text("lenet")  # a row stays where it was ticked
    assert listed.nth(1).inner_text() != "values"
    page.get_by_role("searchbox", name="Filter runs").fill("network=LeNet")
    expect(listed).to_have_text(["lenet"])
    page.get_by_role("searchbox", name="Filter runs").fill("/(/")
    expect(page.get_by_role("searchbox", name="Filter runs")).to_have_attribute("aria-invalid", "true")


def test_a_broken_pattern_is_marked_and_changes_nothing(page: Any, url: Any) -> None:
    page.goto(url)
    expect(row(page, "lenet")).to_be_visible()
    box = page.get_by_role("searchbox", name="Search runs")
    box.fill("/(/")
    expect(box).to_have_attribute("aria-invalid", "true")
    expect(page.locator("td.name")).to_have_count(6)


def test_columns_sort_both_ways_and_then_not(page: Any, url: Any) -> None:
    page.goto(f"{url}?col=size")
    head = page.get_by_role("columnheader", name="Size", exact=True)
    head.get_by_role("button").first.click()
    expect(head).to_have_attribute("aria-sort", "descending")
    assert names(page)[0] == "lenet"
    head.get_by_role("button").first.click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    assert names(page)[-1] == "lenet"
    expect(page).to_have_url(re.compile("[?&]sort=size(&|$)"))
    head.get_by_role("button").first.click()
    expect(page).to_have_url(f"{url}?col=size")


def test_columns_are_chosen_and_kept_in_the_address(page: Any, url: Any) -> None:
    page.goto(url)
    page.get_by_role("button", name="Columns").click()
    chooser = page.get_by_role("dialog", name="Columns")
    chooser.get_by_label("Note", exact=True).check()
    chooser.get_by_role("searchbox").fill("conv1")
    page.keyboard.press("Escape")
    expect(page.get_by_role("columnheader", name="Note", exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_role("columnheader", name="Note", exact=True)).to_be_visible()


def test_columns_are_resized_and_stay_until_they_are_reset(page: Any, url: Any) -> None:
    page.set_viewport_size({"width": 700, "height": 600})
    page.goto(url)
    head = page.locator("th[data-column=step]")
    head.scroll_into_view_if_needed()
    before = head.bounding_box()
    handle = page.get_by_role("separator", name="Width of column Step")
    handle.focus()
    page.keyboard.press("ArrowRight")
    wider = head.bounding_box()["width"]
    assert wider > before["width"]
    box = handle.bounding_box()
    page.mouse.move(box["x"] + 4, box["y"] + 12)
    page.mouse.down()
    page.mouse.move(box["x"] + 54, box["y"] + 12, steps=3)
    page.mouse.up()
    assert head.bounding_box()["width"] == pytest.approx(wider + 50, abs=6)
    head.hover()
    page.get_by_role("button", name="Keep column Step at the left").click()
    page.goto("about:blank")
    page.goto(url)  # as it was left
    expect(page.get_by_role("button", name="Let column Step scroll again")).to_be_visible()
    left = head.bounding_box()["x"]
    page.locator(".table-scroll").evaluate("scroller => { scroller.scrollLeft = 300 }")
    assert head.bounding_box()["x"] <= left
    cell = page.locator("td.fixed").first.bounding_box()
    name = page.locator("td.name").first.bounding_box()
    assert cell["x"] == pytest.approx(name["x"] + name["width"], abs=2)
    page.get_by_role("button", name="Columns", exact=True).click()
    page.get_by_role("button", name="Reset columns").click()
    expect(page.locator("td.fixed")).to_have_count(0)


def test_the_lowest_value_of_a_scalar_can_be_a_column(page: Any, url: Any) -> None:
    page.goto(f"{url}?col=min:loss/auto&col=max:loss/auto")
    expect(page.get_by_role("columnheader", name="loss/auto min")).to_be_visible()
    expect(row(page, "lenet")).to_contain_text("1.126")
    expect(row(page, "lenet")).to_contain_text(re.compile(r"2\.[34]"))


def test_a_baseline_is_pinned_to_the_top_and_there_is_one_at_most(page: Any, changeable: Any) -> None:
    page.goto(changeable)
    row(page, "values").get_by_role("button", name="Set as baseline").click()
    expect(row(page, "values")).to_contain_text("baseline")
    row(page, "lenet").get_by_role("button", name="Set as baseline").click()
    expect(row(page, "lenet")).to_contain_text("baseline")
    expect(row(page, "values")).not_to_contain_text("baseline")
    assert names(page)[0] == "lenet"
    page.reload()
    expect(row(page, "lenet")).to_contain_text("baseline")


def test_a_hidden_run_leaves_all_pages_and_can_come_back(page: Any, changeable: Any) -> None:
    page.goto(changeable)
    row(page, "values").get_by_role("button", name="Hide").click()
    expect(row(page, "values")).to_have_count(0)
    page.goto(f"{changeable}overview")
    expect(page.get_by_role("checkbox", name="lenet")).to_be_visible()
    expect(page.get_by_role("checkbox", name="values")).to_have_count(0)
    page.goto(changeable)
    page.get_by_label("Show hidden").check()
    row(page, "values").get_by_role("button", name="Unhide").click()
    page.get_by_label("Show hidden").uncheck()
    expect(row(page, "values")).to_be_visible()


def test_notes_labels_and_colour_are_kept(page: Any, changeable: Any) -> None:
    page.goto(changeable)
    row(page, "lenet").get_by_role("button", name="Name, note, labels, group, colour").click()
    box = page.get_by_role("dialog", name="lenet")
    box.get_by_label("Note").fill("<script>alert(1)</script>")
    box.get_by_label("Labels").fill("good, 重要")
    box.get_by_title("#d5639c").click()
    box.get_by_role("button", name="Save").click()
    expect(row(page, "lenet")).to_contain_text("重要")
    page.goto(f"{changeable}overview?run=./lenet")
    expect(page.get_by_text("<script>alert(1)</script>")).to_be_visible()
    search_url = f"{changeable}?q=good"
    page.goto(search_url)
    expect(page.locator("td.name")).to_have_count(1)


def test_what_is_damaged_is_said_and_leads_to_the_report(page: Any, url: Any) -> None:
    page.goto(url)
    expect(page.get_by_text("1 section of a file could not be read")).to_be_visible()
    row(page, "damaged").get_by_role("link", name="1 damaged").click()
    report = page.locator("#damage")
    expect(report).to_contain_text("22,770")
    expect(report).to_contain_text("757 B")
    expect(report).to_contain_text("checksum mismatch in a record's content")


def test_the_newest_ten_are_on_at_first_and_the_page_says_so(page: Any, serve: Any, sample_base: Any) -> None:
    for number in range(12):
        shutil.copytree(sample_base / "values", sample_base / f"copy_{number:02}")
    url = serve(sample_base)
    page.goto(url)
    main = page.get_by_role("main")
    expect(main.get_by_text("Showing the 10 newest jobs")).to_be_visible()
    main.get_by_role("button", name="All", exact=True).click()
    expect(main.get_by_text("21 of 21 in the charts")).to_be_visible()
    main.get_by_role("button", name="None", exact=True).click()
    expect(main.get_by_text("0 of 21 in the charts")).to_be_visible()
    expect(page).to_have_url(f"{url}?runs=-")
    main.get_by_role("button", name="Newest 10").click()
    expect(page).to_have_url(url)


def test_runs_over_the_limit_are_counted(page: Any, serve: Any, sample_base: Any) -> None:
    page.goto(serve(sample_base, max_runs=5))
    notice = page.get_by_role("main").get_by_text("4 older runs are not shown: only the newest 5 are read")
    expect(notice).to_be_visible()


def test_an_empty_base_says_what_to_do(page: Any, serve: Any, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    page.goto(serve(tmp_path / "none"))
    expect(page.get_by_role("heading", name="No runs yet")).to_be_visible()
    expect(page.get_by_text("SummaryRecord")).to_be_visible()


def test_a_new_run_appears_by_itself(page: Any, changeable: Any, sample_base: Any) -> None:
    page.goto(changeable)
    expect(row(page, "lenet")).to_be_visible()
    shutil.copytree(sample_base / "values", sample_base / "later")
    expect(row(page, "later")).to_be_visible()


def test_a_long_table_holds_only_the_rows_in_sight(page: Any, serve: Any, sample_base: Any) -> None:
    for number in range(200):
        shutil.copytree(sample_base / "values", sample_base / f"copy_{number:03}")
    page.goto(serve(sample_base))
    expect(page.get_by_text("209 runs")).to_be_visible()
    expect(page.get_by_role("table")).to_have_attribute("aria-rowcount", "207")
    assert page.locator("td.name").count() < 60
    page.get_by_role("columnheader", name="Run").get_by_role("button").first.click()
    page.locator(".table-scroll").evaluate("element => element.scrollTop = element.scrollHeight")
    expect(row(page, "copy_000")).to_be_visible()


def test_a_narrow_table_has_the_values_of_jobs_in_their_columns(page: Any, url: Any) -> None:
    page.set_viewport_size({"width": 420, "height": 900})
    page.goto(url)
    expect(row(page, "ranks").locator("svg.spark")).to_be_visible()
    expect(row(page, "lenet").locator("svg.spark")).to_be_visible()
    left = [row(page, name).locator("svg.spark").bounding_box()["x"] for name in ("ranks", "lenet")]
    assert left[0] == left[1]
    expect(row(page, "ranks").get_by_text("2 ranks")).to_be_hidden()  # the name has this room
    assert page.locator(".brand img").bounding_box()["x"] >= 8


def test_a_run_that_ends_in_nan_and_an_unfinished_record_are_said(
    page: Any, serve: Any, sample_base: Any
) -> None:
    for name, values in {
        "ends": [1.0] * 9 + [float("nan")] * 9,
        "once": [1.0] * 9 + [float("nan"), 1.0],
    }.items():
        with SummaryRecord(str(sample_base / name)) as record:
            for step, value in enumerate(values):
                record.add_value("scalar", "loss/auto", value)
                record.record(step)
    torn = sample_base / "torn"
    shutil.copytree(sample_base / "values", torn)
    (file,) = torn.glob("*_MS")
    file.write_bytes(file.read_bytes()[:-5])
    page.goto(serve(sample_base))
    expect(row(page, "ends").locator("td", has=page.locator(".state"))).to_contain_text("NaN/Inf")
    expect(row(page, "once").locator(".state")).to_be_visible()
    expect(row(page, "once").get_by_text("NaN/Inf")).to_have_count(0)
    banner = page.get_by_role("note").filter(has_text="never written to")
    expect(banner).to_contain_text("The last record of 1 run was never written to its end. See torn")
    search(page, "nan=true")
    expect(page.locator("td.name")).to_have_count(1)
    assert names(page) == ["ends"]


def test_a_directory_of_dumps_is_not_in_the_charts(page: Any, serve: Any, sample_base: Any) -> None:
    dumps = Path(__file__).parents[1] / "data" / "dumps" / "ms_sync_v2_0_names"
    shutil.copytree(dumps, sample_base / "debugged" / "dump")
    page.goto(serve(sample_base))
    expect(row(page, "debugged").get_by_role("checkbox")).not_to_be_checked()
    expect(row(page, "values").get_by_role("checkbox")).to_be_checked()
