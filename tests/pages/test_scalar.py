"""Scalars: what is drawn, how it is looked at, and that the address keeps it."""

import csv
import math
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from mindinsight.writer import SummaryRecord
from tests.narrowing import require

from .conftest import Chart
from .curves import card, eventually_true, lines, long_runs, numbers, options, query
from .shown_text import shown_texts

Charts = Callable[[str], Chart]
Expected = Callable[[str, str, str], dict[str, Any]]


def test_every_point_of_a_tag_is_drawn_and_counted(
    page: Page,
    samples: str,
    chart: Charts,
    expected: Expected,
) -> None:
    known = expected("lenet", "scalar", "loss/auto")
    page.goto(f"{samples}scalar?runs=lenet")
    (line,) = lines(chart("loss/auto"))
    assert dict(zip(known["steps"], known["values"], strict=True)) == pytest.approx(
        dict(zip(line["x"], line["y"], strict=True))
    )
    expect(card(page, "loss/auto")).to_contain_text(f"{len(line['x'])} of {len(line['x'])} points")


def test_a_filter_keeps_the_charts_that_are_drawn(page: Any, samples: Any) -> None:
    page.goto(f"{samples}scalar?runs=lenet")
    chart = page.get_by_role("img", name="loss/auto", exact=True)
    expect(chart.locator("svg").first).to_be_attached()
    card = page.get_by_role("group", name="loss/auto", exact=True).element_handle()
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    box = page.get_by_role("searchbox", name="Filter tags")
    box.fill("fc2")
    expect(chart).to_have_count(0)
    expect(page.locator(".card")).to_have_count(1)
    box.fill("no such tag")
    expect(page.get_by_text("No tag matches the filter")).to_be_visible()
    box.fill("")
    expect(chart).to_be_visible()
    assert card.evaluate("card => card.isConnected")
    assert not [url for url in requested if "scalar/series" in url and "loss" in url]


def test_a_chart_that_was_filtered_away_shows_what_changed_meanwhile(
    page: Any, samples: Any, chart: Any
) -> None:
    page.goto(f"{samples}scalar?runs=lenet")
    loss = chart("loss/auto")
    loss.traces()
    box = page.get_by_role("searchbox", name="Filter tags")
    box.fill("fc2")
    expect(loss.element).to_have_count(0)
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("X axis").select_option("wall")
    box.fill("")
    loss.until(lambda traces: isinstance(traces[0]["x"][0], str) or traces[0]["x"][0] > 1e6)


def test_losses_come_first_and_prefixes_have_sections(page: Page, samples: str) -> None:
    page.goto(f"{samples}scalar?runs=values,lenet")
    expect(page.get_by_role("group", name="loss/auto", exact=True)).to_be_visible()
    names = [text.split("\n")[0] for text in shown_texts(page, "details.group > summary")]
    assert names == ["loss", "No prefix", "scalar"]


def test_sections_of_one_chart_stand_beside_each_other_where_there_is_room(page: Page, samples: str) -> None:
    page.goto(f"{samples}scalar?runs=lenet")
    groups = page.locator("details.group")
    expect(groups).to_have_count(2)

    def places(side: Any) -> Any:
        return len(
            set(groups.evaluate_all("(all, side) => all.map(one => one.getBoundingClientRect()[side])", side))
        )

    eventually_true(page, lambda: (places("left"), places("top")) == (2, 1))
    page.set_viewport_size({"width": 390, "height": 844})
    eventually_true(page, lambda: (places("left"), places("top")) == (1, 2))


def test_a_pattern_filters_tags_and_a_broken_one_says_so(page: Page, samples: str) -> None:
    page.goto(f"{samples}scalar?runs=values")
    box = page.get_by_role("searchbox", name="Filter tags")
    box.fill("u?int(8|16)$")
    expect(page.locator(".card")).to_have_count(4)
    box.fill("int(8")
    expect(box).to_have_attribute("aria-invalid", "true")
    expect(page.locator(".card")).to_have_count(4)
    page.reload()
    expect(page.locator(".card")).to_have_count(4)
    page.goto(f"{samples}scalar?runs=values&q=int(8")
    expect(page.locator(".scalar-toolbar").get_by_role("alert")).to_contain_text("(")
    page.get_by_role("searchbox", name="Filter tags").fill("nothing")
    expect(page.get_by_text("No tag matches the filter")).to_be_visible()


def test_a_pinned_chart_goes_on_top_and_stays_there(page: Page, samples: str) -> None:
    page.goto(f"{samples}scalar?runs=lenet")
    card(page, "fc2_mean").get_by_role("button", name="Pin to top").click()
    expect(page.locator(".card").first).to_have_attribute("aria-label", "fc2_mean")
    page.reload()
    expect(page.locator(".card").first).to_have_attribute("aria-label", "fc2_mean")
    card(page, "fc2_mean").get_by_role("button", name="Pin to top").click()
    expect(page.locator(".card").first).to_have_attribute("aria-label", "loss/auto")
    assert "pin" not in query(page)


def test_tags_share_a_chart_until_it_is_taken_apart(page: Page, samples: str, chart: Charts) -> None:
    page.goto(f"{samples}scalar?runs=lenet")
    page.get_by_role("button", name="Add chart").click()
    box = page.get_by_role("dialog", name="Add chart")
    box.get_by_label("fc2_mean").check()
    box.get_by_label("loss/auto").check()
    box.get_by_role("button", name="Add", exact=True).click()
    both = chart("fc2_mean, loss/auto")
    assert {line["name"] for line in lines(both)} == {"lenet · fc2_mean", "lenet · loss/auto"}
    options(page, "fc2_mean + loss/auto").get_by_role("button", name="Remove this chart").click()
    expect(both.element).to_have_count(0)


def test_the_x_axis_is_time_or_another_scalar(
    page: Page,
    samples: str,
    chart: Charts,
    expected: Expected,
) -> None:
    page.goto(f"{samples}scalar?runs=lenet&q=loss")
    page.get_by_role("button", name="Settings").click()
    axis = page.get_by_label("X axis")
    axis.select_option("Relative time")
    page.wait_for_url("**x=relative**")
    loss = chart("loss/auto")
    expect(card(page, "loss/auto")).to_contain_text("points")
    axis.select_option("fc2_mean")
    page.wait_for_url("**x=tag:fc2_mean**")
    other = expected("lenet", "scalar", "fc2_mean")

    def drawn() -> Any:
        (line,) = lines(loss)
        return line["x"][-1] == pytest.approx(other["values"][-1], rel=1e-6)

    eventually_true(page, drawn)
    axis.select_option("Wall time")
    eventually_true(page, lambda: loss.axis("xaxis")["type"] == "date")


def test_smoothing_lays_a_line_over_the_faint_raw_one(page: Page, samples: str, chart: Charts) -> None:
    page.goto(f"{samples}scalar?runs=lenet&q=loss")
    loss = chart("loss/auto")
    assert len(lines(loss)) == 1  # few points are shown as they are
    page.get_by_role("spinbutton", name="Smoothing").fill("0.8")
    page.keyboard.press("Enter")
    eventually_true(page, lambda: len(lines(loss)) == 2)
    raw, smooth = lines(loss)
    assert raw["opacity"] < 0.5 < smooth["opacity"]
    assert swing(smooth["y"]) < swing(raw["y"]) / 2
    page.reload()
    assert len(lines(chart("loss/auto"))) == 2


def swing(values: Any) -> Any:
    return sum(abs(b - a) for a, b in pairwise(values))


def test_log_and_symlog_axes(page: Page, samples: str, chart: Charts) -> None:
    page.goto(f"{samples}scalar?runs=lenet,values&q=fc2_mean|int16$")
    page.get_by_label("Y scale").select_option("Log")
    eventually_true(page, lambda: chart("fc2_mean").axis("yaxis")["type"] == "log")
    page.get_by_label("Y scale").select_option("Symlog")
    eventually_true(page, lambda: chart("fc2_mean").axis("yaxis")["type"] == "linear")
    assert 0 in chart("scalar/int16").axis("yaxis")["tickvals"]
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("X scale").select_option("Log")
    eventually_true(page, lambda: chart("fc2_mean").axis("xaxis")["type"] == "log")
    assert query(page)["y"] == ["symlog"]
    assert query(page)["lx"] == ["log"]


def test_what_is_not_finite_is_counted_and_marked(page: Page, samples: str, chart: Charts) -> None:
    page.goto(f"{samples}scalar?runs=values&q=nan|inf")
    expect(card(page, "scalar/nan")).to_contain_text("NaN: 3, first at step 1")
    expect(card(page, "scalar/pos_inf")).to_contain_text("+Inf: 3, first at step 1")
    expect(card(page, "scalar/neg_inf")).to_contain_text("−Inf: 3, first at step 1")
    marks = [trace for trace in chart("scalar/nan").traces() if trace["mode"] == "markers"]
    assert [trace["x"] for trace in marks] == [[1, 2, 5]]
    assert set(marks[0]["marker"]["symbol"]) == {"x"}


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory, serve_once: Callable[[Path], str]) -> str:
    return serve_once(long_runs(tmp_path_factory.mktemp("long")))


def test_zooming_fetches_finer_data_for_every_card_and_can_be_undone(
    page: Page, long: str, chart: Charts
) -> None:
    page.goto(f"{long}scalar?s=0")
    loss, rate = chart("loss"), chart("rate")
    coarse = lines(loss)[0]
    assert len(coarse["x"]) < 5000
    expect(card(page, "loss")).to_contain_text("of 40,000 points")
    loss.drag(0.5, 0.6)
    page.wait_for_url("**z=**")
    low, high = numbers(query(page)["z"][0].split(","))
    assert (low, high) == (pytest.approx(10_000, abs=400), pytest.approx(12_000, abs=400))
    for card_chart in (loss, rate):
        eventually_true(page, lambda card_chart=card_chart: lines(card_chart)[0]["x"][0] >= low - 2)
        fine = lines(card_chart)[0]
        inside = [x for x in coarse["x"] if low <= x <= high]
        assert len(fine["x"]) > 3 * len(inside)
        assert card_chart.axis("xaxis")["range"] == pytest.approx([low, high])
    page.reload()
    assert loss.axis("xaxis")["range"] == pytest.approx([low, high])
    page.get_by_role("button", name="Reset zoom").click()
    eventually_true(page, lambda: lines(rate)[0]["x"][-1] == 19_999)
    assert "z" not in query(page)


def test_a_vertical_zoom_is_in_the_address_and_of_one_card_alone(
    page: Page, long: str, chart: Charts
) -> None:
    page.goto(f"{long}scalar?s=0")
    loss, rate = chart("loss"), chart("rate")
    rate.traces()
    before = rate.axis("yaxis")["range"]
    loss.drag_up(0.75, 0.25)
    page.wait_for_url("**zy=**")
    tag, ends = query(page)["zy"][0].rsplit(":", 1)
    low, high = numbers(ends.split(","))
    assert tag == "loss"
    assert loss.axis("yaxis")["range"] == pytest.approx([low, high], rel=1e-6)
    eventually_true(page, lambda: rate.axis("yaxis")["range"] == pytest.approx(before))
    page.reload()
    assert loss.axis("yaxis")["range"] == pytest.approx([low, high], rel=1e-6)
    page.get_by_label("Y scale").select_option("Log")
    eventually_true(page, lambda: loss.axis("yaxis")["type"] == "log")
    page.get_by_role("button", name="Reset zoom").click()
    page.get_by_label("Y scale").select_option("Linear")
    eventually_true(page, lambda: loss.axis("yaxis")["range"][1] > 40)
    assert "zy" not in query(page)


def test_a_double_click_undoes_the_zoom(page: Page, long: str, chart: Charts) -> None:
    page.goto(f"{long}scalar?s=0&z=1000,2000")
    assert lines(chart("loss"))[0]["x"][-1] <= 2002
    chart("loss").attend()
    chart("loss").element.locator(".nsewdrag").first.dblclick()
    eventually_true(page, lambda: lines(chart("loss"))[0]["x"][-1] == 19_999)


def test_a_chart_is_zoomed_moved_and_read_by_keyboard(page: Page, samples: str, chart: Charts) -> None:
    page.goto(f"{samples}scalar?runs=lenet&q=^loss")
    figure = chart("loss/auto")
    (line,) = lines(figure)
    figure.element.focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tooltip")).to_contain_text(f"Step {line['x'][0]:.0f}")
    expect(page.get_by_role("status").filter(has_text="lenet:")).to_contain_text("Step 1")
    page.keyboard.press("Enter")
    expect(page.get_by_role("table", name="Values at step")).to_contain_text("lenet")
    page.keyboard.press("Escape")
    expect(page.get_by_role("tooltip")).to_be_hidden()
    page.keyboard.press("+")
    expect(page).to_have_url(re.compile(r"z=\d"))
    before = page.url
    page.keyboard.press("Shift+ArrowRight")
    expect(page).not_to_have_url(before)
    expect(figure.element).to_be_focused()
    page.keyboard.press("0")
    expect(page).not_to_have_url(re.compile(r"[?&]z="))


def test_zooming_still_works_after_a_card_was_scrolled_away(page: Page, samples: str, chart: Charts) -> None:
    page.goto(f"{samples}scalar?runs=lenet,values")
    loss = chart("loss/auto")
    loss.traces()
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    expect(loss.element.locator("svg")).to_have_count(0)
    page.evaluate("window.scrollTo(0, 0)")
    loss.drag(0.2, 0.6)
    page.wait_for_url("**z=**")


def test_the_tip_lists_runs_by_nearness_and_the_cursor_is_in_every_card(
    page: Page,
    samples: str,
    chart: Charts,
    expected: Expected,
) -> None:
    page.goto(f"{samples}scalar?runs=lenet,landscape,ranks/rank_0")
    loss, mean = chart("loss/auto"), chart("fc2_mean")
    mean.traces()
    loss.traces()
    loss.point(0.1, 0.02)
    tip = page.get_by_role("tooltip")
    expect(tip.locator("tbody tr")).to_have_count(3)
    assert holds_its_table(tip)
    assert tip.locator("tbody tr").first.inner_text().split()[0] == "lenet"
    expect(page.locator(".scalar-cursor:visible")).to_have_count(2)
    loss.point(0.1, 0.98)
    expect(tip.locator("tbody tr").first).not_to_contain_text("lenet")
    loss.point(0.999, 0.5)
    last = expected("lenet", "scalar", "loss/auto")
    expect(tip.locator("tbody tr").filter(has_text="lenet")).to_contain_text(f"{last['values'][-1]:.5g}"[:5])
    page.mouse.move(5, 5)
    expect(tip).to_be_hidden()


def test_a_run_that_has_ended_is_not_the_nearest_where_another_goes_on(
    page: Page, samples: str, chart: Charts
) -> None:
    page.goto(f"{samples}scalar?runs=lenet,landscape&s=0&q=loss")
    loss = chart("loss/auto")
    ended = next(
        trace for trace in loss.until(lambda traces: len(traces) == 2) if trace["name"] == "landscape"
    )
    low, high = loss.axis("yaxis")["range"]
    assert loss.axis("xaxis")["range"][1] > 1.5 * ended["x"][-1]
    loss.point(0.98, (high - ended["y"][-1]) / (high - low))
    first = page.get_by_role("tooltip").locator("tbody tr").first
    expect(first).to_contain_text("lenet")
    loss.point(0.02, (high - ended["y"][0]) / (high - low))
    expect(first).to_contain_text("landscape")


@pytest.mark.parametrize("axis", ["step", "tag:fc2_mean"])
def test_the_tip_fits_into_a_narrow_window(page: Page, samples: str, chart: Charts, axis: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{samples}scalar?runs=lenet,landscape&q=loss&x={axis}")
    loss = chart("loss/auto")
    loss.until(lambda traces: len(traces) > 1)
    loss.point(0.5, 0.5)
    tip = page.get_by_role("tooltip")
    expect(tip.get_by_role("columnheader", name="Value")).to_be_in_viewport(ratio=1)
    assert holds_its_table(tip)
    box = require(tip.bounding_box())
    assert box["x"] + box["width"] <= 390


def holds_its_table(tip: Any) -> Any:
    return tip.evaluate("box => box.querySelector('table').offsetWidth <= box.clientWidth")


def test_the_tip_is_right_after_a_chart_was_drawn_again(
    page: Page,
    samples: str,
    chart: Charts,
    expected: Expected,
) -> None:
    page.goto(f"{samples}scalar?runs=lenet&s=0")
    loss = chart("loss/auto")
    loss.traces()
    across = loss.axis("xaxis")["range"]
    page.get_by_role("button", name=re.compile("theme", re.I)).first.click()
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Overwritten steps").check()
    page.get_by_label("Overwritten steps").uncheck()
    loss.point(0.999, 0.5)
    known = expected("lenet", "scalar", "loss/auto")
    expect(page.get_by_role("tooltip")).to_contain_text(f"{known['values'][-1]:.5g}"[:5])
    assert loss.axis("xaxis")["range"] == pytest.approx(across)


def test_clipping_leaves_outliers_as_ticks_at_the_edge(page: Page, long: str, chart: Charts) -> None:
    page.goto(f"{long}scalar?s=0&q=loss")
    loss = chart("loss")
    assert loss.axis("yaxis")["range"][1] > 40
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Ignore outliers").check()
    eventually_true(page, lambda: loss.axis("yaxis")["range"][1] < 5)
    ticks = [trace for trace in loss.traces() if trace["mode"] == "markers"]
    assert [tick["x"] for tick in ticks] == [[12_000], [12_000]]
    assert query(page)["clip"] == ["1"]


@pytest.mark.parametrize(("kind", "low", "high", "holds"), [
    ("above", 2.3, None, lambda v: v > 2.3),
    ("below", 2, None, lambda v: v < 2),
    ("between", 1.5, 2, lambda v: 1.5 <= v <= 2),
    ("outside", 1.5, 2, lambda v: not 1.5 <= v <= 2),
])  # fmt: skip
def test_values_beyond_a_threshold_are_red(
    page: Page,
    samples: str,
    chart: Charts,
    expected: Expected,
    kind: str,
    low: float | None,
    high: float | None,
    holds: Callable[[float], bool],
) -> None:
    page.goto(f"{samples}scalar?runs=lenet&q=loss")
    box = options(page, "loss/auto")
    box.get_by_label("Highlight values").select_option(kind)
    box.get_by_label("Threshold, or lower limit").fill(str(low))
    if high is not None:
        box.get_by_label("Upper limit").fill(str(high))
    box.get_by_role("button", name="Highlight", exact=True).click()
    known = expected("lenet", "scalar", "loss/auto")
    eventually_true(page, lambda: len(lines(chart("loss/auto"))) == 2)
    plain, red = lines(chart("loss/auto"))
    assert red["colour"] != plain["colour"]
    red_points = {x: y for x, y in zip(red["x"], red["y"], strict=True) if y is not None and math.isfinite(y)}
    latest = dict(zip(known["steps"], known["values"], strict=True))
    assert red_points == pytest.approx({step: value for step, value in latest.items() if holds(value)})
    page.reload()
    assert len(lines(chart("loss/auto"))) == 2


def test_a_threshold_can_be_set_for_all_tags_and_removed(page: Page, samples: str) -> None:
    page.goto(f"{samples}scalar?runs=lenet")
    box = options(page, "fc2_mean")
    box.get_by_label("Threshold, or lower limit").fill("1")
    box.get_by_label("For all tags shown").check()
    box.get_by_role("button", name="Highlight", exact=True).click()
    assert query(page)["th"] == ["fc2_mean:>1", "loss/auto:>1"]
    options(page, "loss/auto").get_by_role("button", name="Remove").click()
    assert query(page)["th"] == ["fc2_mean:>1"]


def test_a_threshold_without_a_number_is_not_taken(page: Page, samples: str) -> None:
    page.goto(f"{samples}scalar?runs=lenet&q=loss")
    box = options(page, "loss/auto")
    box.get_by_role("button", name="Highlight", exact=True).click()
    expect(box.get_by_label("Threshold, or lower limit")).to_have_attribute("aria-invalid", "true")
    page.keyboard.press("Escape")
    expect(box).to_have_count(0)


def test_full_screen_shows_facts_of_the_range(page: Page, samples: str, expected: Expected) -> None:
    page.goto(f"{samples}scalar?runs=lenet&q=loss&z=10,20")
    card(page, "loss/auto").get_by_role("button", name="Full screen").click()
    known = expected("lenet", "scalar", "loss/auto")
    inside = {s: v for s, v in zip(known["steps"], known["values"], strict=True) if 10 <= s <= 20}
    table = card(page, "loss/auto").get_by_role("table")
    expect(table).to_contain_text("Steps 10 to 20")
    cells = table.locator("tbody td").all_inner_texts()
    assert int(cells[0]) == len(inside)
    assert float(cells[3]) == pytest.approx(min(inside.values()), rel=1e-4)
    assert float(cells[5]) == pytest.approx(max(inside.values()), rel=1e-4)
    expect(card(page, "loss/auto").locator("footer")).to_be_in_viewport(ratio=1)
    page.keyboard.press("Escape")
    expect(table).to_have_count(0)


def test_statistics_of_the_range_looked_at_stand_in_the_card(
    page: Page,
    samples: str,
    chart: Charts,
    expected: Expected,
) -> None:
    page.goto(f"{samples}scalar?runs=lenet&q=loss")
    table = card(page, "loss/auto").get_by_role("table")
    chart("loss/auto").traces()
    expect(table).to_have_count(0)
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Statistics").check()
    known = expected("lenet", "scalar", "loss/auto")
    latest = dict(zip(known["steps"], known["values"], strict=True))
    expect(table).to_contain_text("Whole curve")
    expect(table.locator("tbody td").first).to_have_text(str(len(latest)))
    chart("loss/auto").drag(0.2, 0.5)
    page.wait_for_url("**z=**")
    low, high = numbers(query(page)["z"][0].split(","))
    inside = [value for step, value in latest.items() if low <= step <= high]
    expect(table.locator("tbody td").first).to_have_text(str(len(inside)))
    assert float(table.locator("tbody td").nth(7).inner_text()) == pytest.approx(
        sum(inside) / len(inside), rel=1e-4
    )
    page.reload()
    expect(table.locator("tbody td").first).to_have_text(str(len(inside)))


def points(page: Page, base: Any, tag: str, run: Any) -> Any:
    """Every point as it is downloaded: [(wall time, value)]; of two with one step the later."""
    answer = page.request.get(f"{base}v2/scalar/download", params={"tag": tag, "run": run})
    rows = csv.DictReader(answer.text().splitlines())
    return list({row["step"]: (float(row["wall_time"]), float(row["value"])) for row in rows}.values())


@pytest.mark.parametrize("axis", ["relative", "wall"])
def test_statistics_of_a_range_of_time(page: Page, samples: str, chart: Charts, axis: str) -> None:
    page.goto(f"{samples}scalar?runs=lenet&q=loss&st=1&x={axis}")
    chart("loss/auto").traces()
    chart("loss/auto").drag(0.2, 0.6)
    page.wait_for_url("**z=**")
    page.reload()  # the range is what the address says, to its last digit
    low, high = numbers(query(page)["z"][0].split(","))
    known = points(page, samples, "loss/auto", "./lenet")
    start = known[0][0] if axis == "relative" else 0
    inside = [value for wall, value in known if low <= wall - start <= high]
    assert 0 < len(inside) < len(known)
    cells = card(page, "loss/auto").locator("tbody td")
    expect(cells.first).to_have_text(str(len(inside)))
    figures = [float(text.replace("−", "-").replace("e−", "e-")) for text in cells.all_inner_texts()]
    mean = sum(inside) / len(inside)
    assert [figures[at] for at in (1, 2, 3, 5, 7)] == pytest.approx(
        [inside[0], inside[-1], min(inside), max(inside), mean], rel=1e-4
    )


def test_all_points_are_downloaded_as_csv(page: Page, samples: str, expected: Expected) -> None:
    page.goto(f"{samples}scalar?runs=lenet&q=loss")
    with page.expect_download() as download:
        options(page, "loss/auto").get_by_role("link", name="CSV").click()
    rows = list(csv.DictReader(download.value.path().read_text().splitlines()))
    known = expected("lenet", "scalar", "loss/auto")
    line = dict(zip(known["steps"], known["values"], strict=True))  # the later value of a step
    assert [int(row["step"]) for row in rows] == list(line)
    assert numbers(row["value"] for row in rows) == pytest.approx(list(line.values()))


@pytest.mark.parametrize(("kind", "start"), [("PNG", b"\x89PNG"), ("SVG", b"<svg")])
def test_a_chart_is_downloaded_as_a_picture(
    page: Page, samples: str, chart: Charts, kind: str, start: bytes
) -> None:
    page.goto(f"{samples}scalar?runs=lenet&q=loss")
    chart("loss/auto").traces()
    with page.expect_download() as download:
        options(page, "loss/auto").get_by_role("button", name=kind).click()
    assert download.value.suggested_filename == f"loss_auto.{kind.lower()}"
    assert download.value.path().read_bytes().startswith(start)


def test_modes_and_choices_are_in_the_address(page: Page, samples: str) -> None:
    page.goto(f"{samples}scalar?runs=lenet")
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page).to_have_url(re.compile("m=compare"))
    page.get_by_role("button", name="Curves", exact=True).click()
    expect(page).to_have_url(f"{samples}scalar?runs=lenet")


def test_back_leads_to_the_mode_before(page: Page, samples: str) -> None:
    page.goto(f"{samples}scalar")
    modes = page.get_by_role("button", name=re.compile("^(Curves|Groups|Compare)$"))
    curves, groups, compare = (modes.filter(has_text=name) for name in ("Curves", "Groups", "Compare"))
    groups.click()
    expect(page).to_have_url(re.compile("m=groups"))
    compare.click()
    expect(page).to_have_url(re.compile("m=compare"))
    page.go_back()
    expect(groups).to_have_attribute("aria-pressed", "true")
    expect(page).to_have_url(re.compile("m=groups"))
    page.go_back()
    expect(curves).to_have_attribute("aria-pressed", "true")
    expect(page).to_have_url(re.compile("scalar(?!.*m=)"))
    page.go_forward()
    expect(groups).to_have_attribute("aria-pressed", "true")


def test_new_points_arrive_while_the_page_is_open(
    page: Page, serve: Callable[..., str], tmp_path: Path, chart: Charts
) -> None:
    base = tmp_path / "live"
    with SummaryRecord(str(base / "run")) as record:
        record.add_value("scalar", "loss", 3.0)
        record.record(1)
        record.flush()
        page.goto(f"{serve(base)}scalar")
        assert lines_or_dots(chart("loss")) == {1: 3.0}
        page.evaluate("window.kept = true")
        for step in (2, 3):
            record.add_value("scalar", "loss", 1.0 / step)
            record.record(step)
            record.flush()
            eventually_true(page, lambda step=step: max(lines_or_dots(chart("loss"))) == step)
        expect(card(page, "loss")).to_contain_text("3 of 3 points")
        record.add_value("scalar", "accuracy", 0.5)
        record.record(4)
        record.flush()
        expect(card(page, "accuracy")).to_be_visible()
    assert page.evaluate("window.kept")


def lines_or_dots(chart: Chart) -> Any:
    line = lines(chart)[0]
    return dict(zip(line["x"], line["y"], strict=True))


def test_pages_without_scalars_say_what_to_do(page: Page, samples: str) -> None:
    page.goto(f"{samples}scalar?runs=images")
    expect(page.get_by_role("heading", name=re.compile("^[0-9]+ runs have scalars"))).to_be_visible()
    page.get_by_role("button", name="Show them").click()
    expect(page.locator(".card").first).to_be_visible()
    page.goto(f"{samples}scalar?q=nosuchtag")
    page.get_by_role("button", name="Clear the filter").click()
    expect(page.locator(".card").first).to_be_visible()
    box = page.get_by_role("searchbox", name="Filter tags")
    box.fill("loss[")
    expect(page.get_by_role("alert")).to_have_text("Invalid regular expression: character 5, “[”")


def widths(page: Page, section: Any) -> Any:
    cards = page.locator("details.group", has=page.locator("summary", has_text=section)).locator(".card")
    return cards.evaluate_all("all => all.map(one => Math.round(one.getBoundingClientRect().width))")


def test_cards_of_a_section_are_equally_wide_and_fill_the_page(page: Page, samples: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{samples}scalar?runs=values,lenet&pin=loss/auto&pin=scalar/float32")
    expect(card(page, "loss/auto")).to_be_visible()
    last = page.locator("details.group").last
    last.locator("summary").scroll_into_view_if_needed()
    expect(last.locator(".card").first).to_be_attached()
    pinned, others = widths(page, "Pinned"), widths(page, "scalar")
    assert len(pinned) == 2
    assert len(others) > 3
    assert max(pinned) - min(pinned) <= 1
    assert max(others) - min(others) <= 1
    assert sum(pinned) > 0.95 * 3 * others[0], "two cards of a row of three fill it"


def test_cards_of_many_tags_are_in_the_page_near_the_window_alone(
    page: Page, serve: Callable[..., str], tmp_path: Path
) -> None:
    cards = page.locator(".curve-card")
    with SummaryRecord(str(tmp_path / "base" / "run")) as record:
        record.add_value("scalar", "layer/norm_000", 0.0)
        record.record(0)
        record.flush()
        page.goto(f"{serve(tmp_path / 'base')}scalar?s=0")
        expect(page.get_by_role("button", name="Settings")).to_be_visible()  # made before the other tags
        for step in range(1, 4):
            for number in range(600):
                record.add_value("scalar", f"layer/norm_{number:03}", float(step * number))
            record.record(step)
    expect(cards.nth(1)).to_be_visible()
    expect(card(page, "layer/norm_000").locator(".trace").first).to_be_attached()
    height = page.evaluate("document.documentElement.scrollHeight")
    assert cards.count() < 100
    page.mouse.move(700, 500)
    page.mouse.wheel(0, height)
    expect(card(page, "layer/norm_599").locator(".trace").first).to_be_attached()
    expect(card(page, "layer/norm_000")).to_have_count(0)
    assert cards.count() < 100
    assert abs(page.evaluate("document.documentElement.scrollHeight") - height) < 0.02 * height
    page.get_by_role("searchbox", name="Filter tags").fill("_(007|599)$")
    expect(cards).to_have_count(2)
    expect(card(page, "layer/norm_599").locator(".trace").first).to_be_attached()
    page.get_by_role("button", name="Settings").click()
    x = page.get_by_label("X axis")
    assert x.locator("option").count() < 600
    x.focus()
    expect(x.locator("option")).to_have_count(603)
    expect(x).to_have_value("step")


def test_a_filter_of_many_sections_lays_the_page_out_a_few_times(
    page: Page, serve: Callable[..., str], tmp_path: Path
) -> None:
    with SummaryRecord(str(tmp_path / "base" / "run")) as record:
        for number in range(200):
            record.add_value("scalar", f"layer_{number:03}/norm", float(number))
        record.record(1)
    page.goto(f"{serve(tmp_path / 'base')}scalar")
    expect(page.locator("details.group")).to_have_count(200)
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")

    def layouts() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return next(float(metric["value"]) for metric in metrics if metric["name"] == "LayoutCount")

    before = layouts()
    page.get_by_role("searchbox", name="Filter tags").fill("layer_007")
    expect(page.locator("details.group")).to_have_count(0)  # a section alone has no head
    expect(card(page, "layer_007/norm")).to_be_visible()
    assert layouts() - before < 100  # not one for each section


def test_a_card_that_fills_the_window_is_a_dialog_with_its_axes(page: Page, samples: str, chart: Any) -> None:
    page.goto(f"{samples}scalar?runs=lenet")
    figure = card(page, "loss/auto")
    figure.get_by_role("button", name="Full screen").click()
    dialog = page.get_by_role("dialog", name="loss/auto")
    dialog.get_by_label("Y scale").select_option("Log")
    eventually_true(page, lambda: chart("loss/auto").axis("yaxis")["type"] == "log")
    chart("loss/auto").point(0.5, 0.5)
    expect(dialog.get_by_role("tooltip")).to_be_visible()
    dialog.get_by_role("button", name="Card menu").click()
    with page.expect_download() as download:
        dialog.get_by_role("button", name="Image as SVG").click()
    picture = Path(download.value.path()).read_text(encoding="utf-8")
    for text in ("loss/auto (Log)", ">Step<", ">lenet<"):
        assert text in picture, text
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)
    expect(figure.get_by_role("button", name="Full screen")).to_be_visible()


def test_charts_have_a_size_that_the_address_keeps(page: Page, samples: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{samples}scalar?runs=values")
    plot = page.locator(".card .chart").first
    expect(plot).to_be_visible()

    def height() -> Any:
        return require(plot.bounding_box())["height"]

    medium = height()
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Card size").select_option("Large")
    eventually_true(page, lambda: height() > 1.3 * medium)
    expect(page).to_have_url(re.compile("size=large"))
    page.reload()
    eventually_true(page, lambda: plot.count() and height() > 1.3 * medium)
    drawn = plot.locator("svg").first
    eventually_true(page, lambda: require(drawn.bounding_box())["height"] > 1.3 * medium)
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Card size").select_option("Small")
    eventually_true(page, lambda: height() < 0.8 * medium)
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 390, "height": 844})
    eventually_true(page, lambda: page.evaluate("document.documentElement.scrollWidth") <= 390)
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Card size").select_option("Medium")
    expect(page).not_to_have_url(re.compile("size="))


def test_a_restarted_run_is_one_line_and_its_overwritten_steps_are_shown_when_asked_for(
    page: Page, serve: Callable[..., str], tmp_path: Path, chart: Charts
) -> None:
    for number, steps in enumerate((range(60), range(40, 50))):
        with SummaryRecord(str(tmp_path / "base" / "again"), file_suffix=f"_{number}") as record:
            for step in steps:
                record.add_value("scalar", "loss", 10.0 * number + step)
                record.record(step)
    page.goto(f"{serve(tmp_path / 'base')}scalar?s=0")
    (line,) = lines(chart("loss"))
    assert line["y"] == [*range(40), *range(50, 60)]
    expect(card(page, "loss")).to_contain_text("1 run restarted")
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Overwritten steps").check()
    traces = chart("loss").until(
        lambda traces: len([trace for trace in traces if trace["mode"] == "lines"]) == 2
    )
    dashed, line = (trace for trace in traces if trace["mode"] == "lines")
    assert (dashed["x"], len(line["x"])) == (list(range(40, 60)), 50)
    assert query(page)["old"] == ["1"]


@pytest.fixture
def sweep(tmp_path: Path, serve: Callable[..., str]) -> str:
    """Five runs whose loss falls from 2 to 1, but ``wild`` rises to 60; a constant, and large numbers."""
    for name in ("a", "b", "c", "d", "wild"):
        with SummaryRecord(str(tmp_path / "sweep" / name)) as record:
            for step in range(1, 61):
                loss = 2 - step / 60 + (59 * step / 60 if name == "wild" else 0)
                record.add_value("scalar", "loss", loss)
                record.add_value("scalar", "rate", 0.001)
                record.add_value("scalar", "samples", 12_500.0 * step)
                record.record(step)
    return serve(tmp_path / "sweep")


def test_a_run_that_diverges_does_not_flatten_the_others_and_is_named(
    page: Page, sweep: str, chart: Charts
) -> None:
    page.goto(f"{sweep}scalar?s=0")
    loss = chart("loss")
    loss.until(lambda traces: len([trace for trace in traces if trace["mode"] == "lines"]) == 5)
    assert loss.axis("yaxis")["range"][1] < 3
    chip = card(page, "loss").get_by_role("button", name="1 run above: wild")
    expect(card(page, "rate").get_by_role("button", name=re.compile("above"))).to_have_count(0)
    chip.click()
    eventually_true(page, lambda: loss.axis("yaxis")["range"][1] > 59)
    expect(chip).to_have_count(0)
    assert query(page)["zy"]


def test_an_axis_fits_a_constant_and_labels_both_ends_in_full(page: Page, sweep: str, chart: Charts) -> None:
    page.goto(f"{sweep}scalar?s=0")
    rate = chart("rate")
    rate.traces()
    low, high = rate.axis("yaxis")["range"]
    assert 0.0008 < low < 0.001 < high < 0.0012
    chart("samples").attend()
    labels = chart("samples").element.locator(".ytick text")
    expect(labels).to_have_text(["0", "200k", "400k", "600k", "800k"])
    page.get_by_label("Y scale").select_option("Log")
    expect(labels).to_have_text(["10k", "20k", "50k", "100k", "200k", "500k", "1M"])


def test_the_tip_shows_values_in_the_chosen_order_and_more_with_shift(
    page: Page, sweep: str, chart: Charts
) -> None:
    page.goto(f"{sweep}scalar?s=0&tip=value")
    loss = chart("samples")
    loss.until(lambda traces: len(traces) == 5)
    loss.point(0.5, 0.5)
    tip = page.get_by_role("tooltip")
    expect(tip.get_by_role("columnheader")).to_have_text(["Run", "Value"])
    expect(tip).to_contain_text("Step ")
    page.keyboard.down("Shift")
    expect(tip.get_by_role("columnheader")).to_have_text(["Run", "Value", "Step", "Relative", "Wall time"])
    page.keyboard.up("Shift")
    expect(tip.get_by_role("columnheader")).to_have_count(2)
    plot = require(loss.element.bounding_box())
    box = require(tip.bounding_box())
    assert box["y"] >= plot["y"] + plot["height"] or box["y"] + box["height"] <= plot["y"]
    page.mouse.move(5, 5)
    chart("loss").point(0.9, 0.1)
    expect(tip.locator("tbody tr").first).to_contain_text("wild")
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Tooltip order").select_option("Name")
    chart("loss").point(0.9, 0.1)
    expect(tip.locator("tbody th")).to_have_text(["a", "b", "c", "d", "wild"])
    assert query(page)["tip"] == ["name"]


def rows_of_toolbar(page: Page) -> int:
    """Return the number of rows in which the visible controls of the toolbar stand."""
    rows: int = page.locator(".scalar-toolbar").evaluate(
        "bar => new Set([...bar.querySelectorAll('button, input, select')].filter(e => e.checkVisibility())"
        ".map(e => Math.round((e.getBoundingClientRect().top + e.getBoundingClientRect().bottom) / 20))).size"
    )
    return rows


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_toolbar_is_one_row_and_a_phone_shows_a_chart_at_once(
    page: Page, samples: str, lang: str
) -> None:
    page.context.add_cookies([{"name": "mindinsight_lang", "value": lang, "url": samples}])
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{samples}scalar?runs=lenet")
    plot = page.locator(".scalar-plot").first
    expect(plot).to_be_visible()
    assert rows_of_toolbar(page) == 1
    page.set_viewport_size({"width": 390, "height": 844})
    assert rows_of_toolbar(page) == 2
    box = require(plot.bounding_box())
    assert box["y"] + box["height"] < 600


def test_the_panel_says_how_many_settings_differ_from_the_defaults(page: Page, samples: str) -> None:
    page.goto(f"{samples}scalar?runs=lenet&y=log")
    opener = page.get_by_role("button", name="Settings")
    expect(opener).to_have_text("Settings")  # the scale of y is in sight beside it
    opener.click()
    page.get_by_label("X axis").select_option("relative")
    page.get_by_label("Statistics").check()
    expect(opener).to_have_text("Settings2")
    page.get_by_label("Statistics").uncheck()
    expect(opener).to_have_attribute("title", "1 setting differs from the default")
    page.set_viewport_size({"width": 390, "height": 844})
    opener.click()
    expect(page.get_by_label("Y scale")).not_to_be_visible()
    opener.click()
    expect(page.get_by_role("dialog").get_by_label("Y scale")).to_have_value("log")


def test_a_formula_is_a_chart_in_three_actions(page: Page, samples: str, chart: Charts) -> None:
    page.goto(f"{samples}scalar?runs=lenet&s=0")
    page.get_by_role("button", name="Add chart").click()
    box = page.get_by_role("dialog", name="Add chart")
    box.get_by_label("Formula").fill("log(loss/nothing) +")
    box.get_by_role("button", name="Add", exact=True).click()
    expect(box.get_by_role("alert")).to_have_text("Invalid formula: log(loss/nothing) +")
    box.get_by_label("Formula").fill("log(loss/nothing)")
    page.keyboard.press("Enter")
    expect(box.get_by_role("alert")).to_have_text("None of the runs shown has loss/nothing.")
    box.get_by_label("Formula").fill("=log(loss/auto) - 1")  # as in links
    page.keyboard.press("Enter")
    expect(box).to_have_count(0)
    (line,) = lines(chart("log(loss/auto) - 1"))
    (recorded,) = lines(chart("loss/auto"))
    assert line["y"] == pytest.approx([math.log(value) - 1 for value in recorded["y"]], abs=1e-5)
    page.reload()  # it is in the address, and there tomorrow
    expect(card(page, "log(loss/auto) - 1")).to_be_visible()
    options(page, "log(loss/auto) - 1").get_by_role("button", name="Remove this chart").click()
    expect(card(page, "log(loss/auto) - 1")).to_have_count(0)
