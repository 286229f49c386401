"""Scalars looked at together: against a baseline, over the ranks of a job, in groups."""

import math
import re
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from mindinsight.writer import SummaryRecord

from .curves import card, eventually_true, long_runs, query


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory, serve_once: Any) -> Any:
    return serve_once(long_runs(tmp_path_factory.mktemp("long")))


def test_runs_are_compared_and_the_step_where_they_part_is_named(page: Any, long: Any, chart: Any) -> None:
    page.goto(f"{long}scalar?m=compare&du=absolute")
    verdict = page.get_by_role("row").filter(has_text="loss")
    expect(verdict).to_contain_text("at step 5000")
    expect(page.get_by_role("row").filter(has_text="rate")).to_contain_text("never")
    apart = [
        trace for trace in chart("Difference of loss from the baseline").traces() if trace["axis"] == "y2"
    ]
    assert max(abs(y) for x, y in zip(apart[0]["x"], apart[0]["y"], strict=True) if x < 5000) < 1e-6
    assert abs(apart[0]["y"][-1]) == pytest.approx(0.01, rel=0.01)
    page.get_by_label("Tolerance").fill("1000000000")
    page.keyboard.press("Enter")
    expect(verdict).to_contain_text("never")
    assert query(page)["tol"] == ["1000000"]


def test_one_run_alone_cannot_be_compared(page: Any, samples: Any) -> None:
    page.goto(f"{samples}scalar?m=compare&runs=lenet")
    expect(page.get_by_role("heading", name="Select at least two runs to compare")).to_be_visible()


def test_ranks_have_a_band_and_a_map_whose_cells_show_a_curve(
    page: Any, samples: Any, chart: Any, expected: Any
) -> None:
    page.goto(f"{samples}scalar?m=ranks&runs=ranks/rank_0")
    heat = chart("Deviation of each rank from the median: loss/auto")
    (grid,) = heat.traces()
    assert len(grid["z"]) == 4
    band = chart("Median, middle half and range of loss/auto across ranks")
    traces = band.traces()
    median = next(trace for trace in traces if trace["name"] == "Median rank")
    every = [expected_rank(expected, rank)[1] for rank in range(4)]
    assert median["y"][0] == pytest.approx(statistics.median(every))
    drawn = [trace["y"][0] for trace in traces]
    assert (min(drawn), max(drawn)) == pytest.approx((min(every), max(every)))
    key = card(page, "loss/auto").locator(".scalar-key").first
    expect(key).to_have_text("Median rankMiddle half of the ranksSmallest to largest")
    box = heat.plot_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 0.35 * box["height"])
    eventually_true(page, lambda: any(trace["name"] == "Rank 2" for trace in band.traces()))
    curve = next(trace for trace in band.traces() if trace["name"] == "Rank 2")
    assert dict(zip(curve["x"], curve["y"], strict=True)) == pytest.approx(expected_rank(expected, 2))
    page.get_by_role("button", name="Hide the rank's curve").click()
    eventually_true(page, lambda: not any(trace["name"] == "Rank 2" for trace in band.traces()))


@pytest.fixture(scope="module")
def many_ranks(tmp_path_factory: pytest.TempPathFactory, serve_once: Any) -> Any:
    """A job of 300 ranks that go together, but for one that leaves them, and one that ends in NaN."""
    base = tmp_path_factory.mktemp("ranks")
    for rank in range(300):
        with SummaryRecord(str(base / "job" / f"rank_{rank}")) as record:
            for step in range(1, 21):
                value = 1 / step + 0.001 * math.sin(rank * step)
                value += 0.5 * (rank == 123 and step > 10)
                record.add_value("scalar", "loss", math.nan if rank == 200 and step > 15 else value)
                record.record(step)
    return serve_once(base)


def test_hundreds_of_ranks_fit_and_the_one_that_strays_is_named_and_seen(
    page: Any, many_ranks: Any, chart: Any
) -> None:
    page.goto(f"{many_ranks}scalar?m=ranks")
    heat = chart("Deviation of each rank from the median: loss")
    grid, strange = heat.traces()
    assert 60 <= len(grid["z"]) <= 150
    at = [row[-1] for row in grid["z"]]
    strays = [i for i, away in enumerate(at) if away is not None and abs(away) > 0.3]
    ranks_per_row = -(-300 // len(at))
    assert strays == [123 // ranks_per_row]
    assert grid["y"] == list(range(len(at)))
    (row,) = (i for i, cells in enumerate(strange["z"]) if 1 in cells)
    assert row == 200 // ranks_per_row
    assert [cell == 1 for cell in strange["z"][row]] == [False] * 15 + [True] * 5
    foot = card(page, "loss").locator("footer")
    expect(
        foot.get_by_role("button", name=re.compile("^Rank 200: NaN or infinite at 5 steps, .* step 16$"))
    ).to_be_visible()
    foot.get_by_role("button", name=re.compile("^Rank 123: .* since step 11$")).click()
    band = chart("Median, middle half and range of loss across ranks")
    traces = band.until(lambda traces: any(trace["name"] == "Rank 123" for trace in traces))
    curve = next(trace for trace in traces if trace["name"] == "Rank 123")
    assert curve["y"][-1] == pytest.approx(0.55, abs=0.01)
    expect(page.locator("option", has_text=re.compile(r"^job \(300 ranks\)$"))).to_have_count(1)


@pytest.mark.parametrize("width", [1440, 390])
def test_nothing_of_a_rank_card_leaves_it_and_no_number_breaks(
    page: Page, tmp_path: Path, serve: Callable[..., str], width: int
) -> None:
    for rank in range(4):
        with SummaryRecord(str(tmp_path / "base" / "job" / f"rank_{rank}")) as record:
            for step in range(500):
                away = max(0, step - 300) / 70 if rank == 2 else 0
                record.add_value("scalar", "loss", 1 + away + 0.01 * math.sin(step * (rank + 2)))
                record.record(step)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{serve(tmp_path / 'base')}scalar?m=ranks")
    box = card(page, "loss")
    expect(box.get_by_role("button", name=re.compile("^Rank 2: changing gradually"))).to_be_visible()
    inside = "(all, edge) => all.every(e => e.getBoundingClientRect().right <= edge)"
    edge = box.evaluate("e => e.getBoundingClientRect().right")
    assert box.locator("footer *, .scalar-key *").evaluate_all(inside, edge)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    scale = box.locator(".scalar-key").filter(has_text="deviation from the median rank").locator("span.row")
    rectangles = """e => {
        const contents = document.createRange();
        contents.selectNodeContents(e);
        return contents.getClientRects().length;
    }"""
    assert scale.evaluate(rectangles) == 3, "two numbers on one line each, and the scale between"


def test_a_job_is_one_curve_with_its_range_until_it_is_unfolded(
    page: Any, many_ranks: Any, chart: Any
) -> None:
    page.goto(f"{many_ranks}scalar?s=0")
    band, median = chart("loss").until(lambda traces: len(traces) >= 2)[:2]
    assert band["name"] == median["name"] == "job (median of 300 ranks)"
    assert len(band["x"]) == 2 * len(median["x"]) == 40
    assert median["y"][-1] == pytest.approx(1 / 20, abs=0.001), "the rank that leaves does not move it"
    page.get_by_role("button", name="Show the ranks of job one by one").click()
    expect(page).to_have_url(re.compile("ranks=job"))
    chart("loss").until(lambda traces: traces[0]["name"].startswith("job/rank_"))


def expected_rank(expected: Any, rank: Any) -> dict[Any, Any]:
    known = expected(f"multi_rank/rank_{rank}", "scalar", "loss/auto")
    return dict(zip(known["steps"], known["values"], strict=True))


def test_runs_are_grouped_by_a_pattern_in_their_names(
    page: Any, samples: Any, chart: Any, expected: Any
) -> None:
    page.goto(
        f"{samples}scalar?m=groups&g=name:rank_([01]|[23])&runs=ranks/rank_0,ranks/rank_1,ranks/rank_2,ranks/rank_3&q=loss"
    )
    legend = page.locator(".scalar-legend")
    expect(legend).to_contain_text("0 (1)")
    box = page.get_by_role("searchbox", name="Regular expression; its first")
    box.fill("rank")
    expect(legend).to_contain_text("rank (1)")  # the ranks of a job are one run
    eventually_true(page, lambda: len(chart("loss/auto").traces()) == 5)
    mean = chart("loss/auto").traces()[-1]
    every = [expected_rank(expected, rank) for rank in range(4)]
    assert mean["y"][-1] == pytest.approx(sum(values[36] for values in every) / 4)


def test_more_groups_than_colours_are_counted_and_many_numbers_have_bins(
    page: Any, tmp_path: Path, serve_once: Any, chart: Any
) -> None:
    for width in range(14):
        with SummaryRecord(str(tmp_path / f"run_{width}")) as record:
            some = {"a remark": "kept"} if width < 2 else {}
            record.add_value("custom_lineage_data", "notes", {"width": width, **some})
            record.add_value("scalar", "loss", 1.0 + width)
            record.record(1)
    page.goto(f"{serve_once(tmp_path)}scalar?m=groups&runs=!")
    expect(page.get_by_label("Group by")).to_have_value("hyper:width")
    legend = page.locator(".scalar-legend")
    expect(legend).to_contain_text("0 to 3 (4)")
    ends = page.locator(".group-ends")
    expect(ends).to_contain_text("The groups end with different values")
    expect(ends.get_by_role("row").filter(has_text="0 to 3")).to_contain_text("2.5")
    page.get_by_label("Bins").select_option("Each value")
    expect(page).to_have_url(re.compile("bins=each"))
    expect(legend).to_contain_text("11 (1)")
    expect(legend).to_contain_text("and 2 more groups, not drawn")
    chart("loss").until(lambda traces: max(trace["y"][0] for trace in traces) == 12)
    lines = page.locator("#side .line-sample path")
    colours = "lines => new Set(lines.map(line => line.getAttribute('stroke'))).size"
    assert lines.evaluate_all(colours) == 13, "twelve groups, and grey for those that are not drawn"
    page.get_by_label("Group by").select_option("a remark")
    expect(legend).to_contain_text("without a remark (12)")
    expect(legend).not_to_contain_text("more")
    eventually_true(page, lambda: lines.evaluate_all(colours) == 2)
    page.get_by_role("button", name="Curves", exact=True).click()
    eventually_true(page, lambda: lines.evaluate_all(colours) == 14)


SCROLLED_WITH_ITS_TAG = """region => {
    const fits = region.scrollWidth <= region.clientWidth;
    region.scrollLeft = region.scrollWidth;
    const [tag, box] = [region.querySelector("tbody th"), region].map(one => one.getBoundingClientRect());
    return (fits || region.scrollLeft > 0) && tag.left >= box.left && tag.right <= box.right;
}"""


def test_a_table_of_verdicts_has_a_row_for_each_tag_and_leaves_room_for_the_charts(
    page: Any, samples: Any
) -> None:
    page.goto(f"{samples}scalar?m=compare&runs=ranks/rank_0,ranks/rank_1,ranks/rank_2,lenet,images")
    table = page.get_by_role("region", name="Compare").get_by_role("table")
    expect(table.get_by_role("row")).to_have_count(2)  # with the head: only loss/auto is in two of them
    cells = table.get_by_role("row").nth(1).get_by_role("cell")
    expect(cells).to_have_count(3)  # images has no scalar to compare
    expect(cells.first).to_contain_text("at step 1")
    expect(cells.first).to_contain_text(" %")
    top = page.locator(".card").first.bounding_box()["y"]
    assert top < 500
    page.set_viewport_size({"width": 390, "height": 844})
    region = page.get_by_role("region", name="Compare")
    eventually_true(page, lambda: region.evaluate(SCROLLED_WITH_ITS_TAG))


def write_sweep(base: Path, runs: int, tags: tuple[str, ...]) -> str:
    """Write runs, of which the last has the lowest loss, and return their names for an address."""
    for number in range(runs):
        with SummaryRecord(str(base / f"run_{number:03}")) as record:
            settings = {"rate": [0.1, 0.2][number % 2], "output_dir": f"/out/{number}"}
            record.add_value("custom_lineage_data", "settings", settings)
            for step in range(3):
                for tag in tags:
                    value = 2.0 if tag == "same" else 200.0 - number * step
                    record.add_value("scalar", tag, np.float32(value))
                record.record(step)
    return ",".join(f"run_{number:03}" for number in range(runs))


def test_many_compared_runs_are_counted_for_each_tag_and_ranked_by_one(
    page: Page, serve: Any, tmp_path: Path
) -> None:
    names = write_sweep(tmp_path / "base", 120, ("loss", "accuracy", "same"))
    page.goto(f"{serve(tmp_path / 'base')}scalar?m=compare&baseline=run_000&runs={names}")
    counts = page.get_by_role("region", name="Compare").get_by_role("row")
    expect(counts).to_have_count(4)
    expect(counts.filter(has_text="loss").get_by_role("cell")).to_have_text(["119", "0", "0", "0"])
    expect(counts.filter(has_text="same").get_by_role("cell")).to_have_text(["0", "119", "0", "0"])
    ranked = page.get_by_role("region", name="Runs by their difference").get_by_role("table")
    expect(ranked).to_have_attribute("aria-rowcount", "120")
    assert ranked.get_by_role("row").count() < 60  # the others are made when somebody scrolls to them
    expect(ranked.get_by_role("columnheader").filter(has_text="rate")).to_have_count(1)
    expect(ranked.get_by_role("columnheader").filter(has_text="output_dir")).to_have_count(0)
    best = ranked.get_by_role("row").filter(has_text="run_").first
    expect(best).to_contain_text("run_119")  # the lowest loss
    expect(best).to_contain_text("−238 (−119 %)")
    counts.get_by_role("button", name="accuracy").click()
    expect(page.get_by_text("119 runs by accuracy")).to_be_visible()
    expect(best).to_contain_text("run_001")  # the highest accuracy
    ranked.get_by_role("button", name="Run", exact=True).click()
    ranked.get_by_role("button", name="Run", exact=True).click()
    expect(best).to_contain_text("run_119")


def test_a_few_compared_runs_have_a_column_for_each(page: Page, serve: Any, tmp_path: Path) -> None:
    names = write_sweep(tmp_path / "base", 3, ("loss",))
    page.goto(f"{serve(tmp_path / 'base')}scalar?m=compare&baseline=run_000&runs={names}")
    head = page.get_by_role("region", name="Compare").get_by_role("columnheader")
    expect(head).to_have_text(["Tag", re.compile("run_00"), re.compile("run_00")])


def test_runs_that_share_no_tag_cannot_be_compared(page: Any, samples: Any) -> None:
    page.goto(f"{samples}scalar?m=compare&runs=lenet,values")
    expect(page.get_by_role("heading", name=re.compile("selected runs share no tag"))).to_be_visible()


def test_the_tables_can_be_folded_away(page: Any, samples: Any) -> None:
    page.goto(f"{samples}scalar?m=compare&runs=landscape,ranks/rank_0")
    summary = page.locator("summary").filter(has_text="settings differ")
    table = page.get_by_role("region", name="settings differ")
    expect(table).to_be_visible()
    summary.click()
    expect(table).to_be_hidden()


def test_the_tags_are_those_of_the_job_whichever_runs_are_shown(page: Any, samples: Any) -> None:
    page.goto(f"{samples}scalar?m=ranks&runs=values")
    expect(card(page, "loss/auto")).to_be_visible()
    expect(page.locator(".card")).to_have_count(1)
    page.get_by_role("searchbox", name="Filter tags").fill("nothing")
    expect(page.get_by_role("heading", name="No tag matches the filter")).to_be_visible()
    page.get_by_role("searchbox", name="Filter tags").fill("loss")
    expect(card(page, "loss/auto")).to_be_visible()


def test_a_tag_that_comes_later_gets_a_card_among_the_ranks(page: Any, serve: Any, tmp_path: Path) -> None:
    base = tmp_path / "base"
    writers = [SummaryRecord(str(base / "job" / f"rank_{rank}")) for rank in range(2)]
    for tag in ("loss", "rate"):
        for writer in writers:
            writer.add_value("scalar", tag, 1.0)
            writer.record(1)
            writer.flush()
        if tag == "loss":
            page.goto(f"{serve(base)}scalar?m=ranks")
        expect(card(page, tag)).to_be_visible()
    for writer in writers:
        writer.close()


def test_a_group_of_one_point_is_a_dot(page: Any, samples: Any, chart: Any) -> None:
    page.goto(f"{samples}scalar?m=groups&g=name:.*&runs=values&q=negative_step")
    traces = chart("negative_step").until(lambda traces: any(trace["mode"] == "markers" for trace in traces))
    assert [trace["x"] for trace in traces if trace["mode"] == "markers"] == [[-3]]


@pytest.mark.parametrize("mode", ["groups", "ranks"])
def test_bands_can_stand_on_a_scale_that_shows_small_values_of_both_signs(
    page: Any, serve: Any, tmp_path: Path, chart: Any, mode: str
) -> None:
    for rank, values in enumerate(([-100.0, -0.01, 0.01, 100.0], [-100.0, -0.02, 0.02, 100.0])):
        with SummaryRecord(str(tmp_path / "base" / "job" / f"rank_{rank}")) as record:
            for step, value in enumerate(values):
                record.add_value("scalar", "loss", value)
                record.record(step)
    page.goto(f"{serve(tmp_path / 'base')}scalar?m={mode}&g=name:^job")
    plot = page.get_by_role("img", name="loss").first
    name = plot.get_attribute("aria-label")
    chart(name).until(lambda traces: max(traces[-1]["y"]) == 100)
    page.get_by_label("Y scale").select_option("symlog")
    mean = chart(name).until(lambda traces: max(traces[-1]["y"]) < 10)[-1]["y"]
    assert mean == sorted(mean)
    assert mean[2] - mean[1] > 0.1
    assert chart(name).axis("yaxis")["tickvals"]


def test_compared_curves_stand_over_their_differences_in_percent(
    page: Page, three_runs: str, chart: Callable[[str], Any]
) -> None:
    page.goto(f"{three_runs}scalar?m=compare&runs=a,b&baseline=a&s=0")
    drawn = chart("Difference of loss from the baseline")
    traces = drawn.until(lambda traces: len(traces) == 3)
    assert [max(trace["y"]) for trace in traces if trace["axis"] != "y2"] == [1, 2]
    assert [max(trace["y"]) for trace in traces if trace["axis"] == "y2"] == [100]
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Y scale").select_option("log")
    eventually_true(page, lambda: drawn.axis("yaxis")["type"] == "log")
    page.get_by_role("combobox", name="Difference").select_option("Absolute")
    drawn.until(lambda traces: max(traces[-1]["y"]) == 1)


def test_differences_to_a_baseline_of_zero_are_drawn_as_they_are(
    page: Page, serve: Callable[..., str], tmp_path: Path, chart: Callable[[str], Any]
) -> None:
    for name, value in (("zero", 0.0), ("other", 110.0)):
        with SummaryRecord(str(tmp_path / "base" / name)) as record:
            for step in range(1, 4):
                record.add_value("scalar", "loss", value)
                record.record(step)
    url = serve(tmp_path / "base")
    page.goto(f"{url}scalar?m=compare&runs=zero,other&baseline=zero&s=0")
    traces = chart("Difference of loss from the baseline").until(lambda traces: len(traces) == 3)
    assert [trace["y"] for trace in traces if trace["axis"] == "y2"] == [[110, 110, 110]]


def test_ranks_open_on_the_job_that_is_charted(page: Page, serve: Callable[..., str], tmp_path: Path) -> None:
    for job in ("a", "b"):
        for rank in range(2):
            with SummaryRecord(str(tmp_path / "base" / job / f"rank_{rank}")) as record:
                record.add_value("scalar", "loss", 1.0)
                record.record(1)
    url = serve(tmp_path / "base")
    for job in ("a", "b"):
        page.goto(f"{url}scalar?m=ranks&runs={job}/rank_0,{job}/rank_1")
        expect(page.get_by_label("Job")).to_have_value(f"./{job}")


def test_tags_with_other_names_are_paired_and_the_address_keeps_the_pair(
    page: Any, serve: Any, tmp_path: Path, chart: Any
) -> None:
    for name, tag in (("a", "loss/auto"), ("b", "train/loss")):
        with SummaryRecord(str(tmp_path / "base" / name)) as record:
            for step in range(10):
                record.add_value("scalar", tag, 1.0 + (name == "b" and step >= 6))
                record.record(step)
    page.goto(f"{serve(tmp_path / 'base')}scalar?m=compare&runs=a,b&baseline=a")
    expect(page.get_by_role("heading", name=re.compile("share no tag"))).to_be_visible()
    page.get_by_role("button", name="Pair tags…").click()
    page.get_by_label("Tag of the baseline").select_option("loss/auto")
    page.get_by_label("Tag of the other runs").select_option("train/loss")
    page.get_by_role("button", name="Pair", exact=True).click()
    expect(page.get_by_role("cell", name=re.compile("at step 6"))).to_be_visible()
    assert query(page)["pair"] == ["loss/auto|train/loss"]
    page.get_by_role("button", name="Remove the pair loss/auto ↔ train/loss").click()
    expect(page.get_by_role("heading", name=re.compile("share no tag"))).to_be_visible()


@pytest.fixture
def three_runs(tmp_path: Path, serve: Callable[..., str]) -> str:
    """Three runs: ``b`` differs from ``a`` since step 10, ``c`` has steps of its own."""
    for name in "abc":
        with SummaryRecord(str(tmp_path / "three" / name)) as record:
            for step in range(1, 21):
                value = 1.0 + (name == "b" and step >= 10)
                record.add_value("scalar", "loss", value)
                record.record(step + 1000 * (name == "c"))
    return serve(tmp_path / "three")


def test_a_link_to_a_comparison_names_all_it_depends_on(page: Page, three_runs: str) -> None:
    page.goto(f"{three_runs}scalar")
    page.get_by_role("button", name="Compare", exact=True).click()
    against = page.get_by_label("Against")
    expect(against).to_be_visible()
    eventually_true(page, lambda: "baseline" in query(page))
    named = query(page)
    assert sorted(named["runs"][0].split(",")) == ["a", "b", "c"]
    assert named["tol"] == ["0.001"]
    assert [f"./{name}" for name in named["baseline"]] == [against.input_value()]
    against.select_option(label="a")
    expect(page.get_by_role("row").filter(has_text="loss")).to_contain_text("at step 10")
    link = page.url
    assert query(page)["baseline"] == ["a"]
    page.get_by_role("button", name="Curves", exact=True).click()
    expect(against).to_have_count(0)
    assert not {"baseline", "runs", "tol"} & query(page).keys()
    page.goto(link)
    expect(against).to_have_value("./a")


def test_a_pinned_run_outside_the_selection_is_no_baseline(page: Page, three_runs: str) -> None:
    patched = page.request.patch(f"{three_runs}v2/runs/notes", data={"run": "./c", "pinned": True})
    assert patched.ok, patched.text()
    page.goto(f"{three_runs}scalar?m=compare&runs=a,b")
    verdict = page.get_by_role("row").filter(has_text="loss")
    expect(verdict).to_contain_text("at step 10")
    against = page.get_by_label("Against")
    expect(against.locator("option")).to_have_count(2)
    before = against.input_value()
    page.get_by_role("button", name="Swap the two runs").click()
    expect(against).not_to_have_value(before)
    expect(verdict).to_contain_text("at step 10")
    assert [f"./{name}" for name in query(page)["baseline"]] == [against.input_value()]
