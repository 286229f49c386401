"""Looking closely at curves: a step back, the values at a place, a run that stands out, where NaN began."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from mindinsight.writer import SummaryRecord

from .curves import card, eventually_true, lines, query


def test_zooms_are_stepped_back_one_by_one(page: Any, samples: Any, chart: Any) -> None:
    page.goto(f"{samples}scalar?runs=lenet&q=loss")
    loss = chart("loss/auto")
    loss.until(lambda traces: traces)
    back = page.get_by_role("button", name="Back")
    expect(back).to_have_count(0)
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Statistics").check()
    expect(card(page, "loss/auto").get_by_role("table")).to_be_visible()
    loss.drag(0.2, 0.8)
    page.wait_for_url("**z=**")
    first = query(page)["z"]
    eventually_true(
        page, lambda: loss.axis("xaxis")["range"] == pytest.approx([float(x) for x in first[0].split(",")])
    )
    loss.drag(0.4, 0.6)
    eventually_true(page, lambda: query(page)["z"] != first)
    back.click()
    eventually_true(page, lambda: query(page)["z"] == first)
    expect(back).to_be_focused()
    back.click()
    eventually_true(page, lambda: "z" not in query(page))
    expect(back).to_have_count(0)


@pytest.fixture
def clicked(page: Any, samples: Any, chart: Any) -> int:
    """Two runs, and a click in the middle of one of their charts."""
    page.goto(f"{samples}scalar?runs=lenet,ranks/rank_0&s=0")
    loss = chart("loss/auto")
    loss.until(lambda traces: len(traces) == 2)
    box = loss.plot_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_url("**at=**")
    return int(query(page)["at"][0])


def values(page: Any, tag: Any) -> Any:
    return card(page, tag).get_by_role("region", name=re.compile("Values at step")).get_by_role("table")


def test_a_click_lists_what_every_curve_holds_there(
    page: Any, samples: Any, clicked: int, expected: Any
) -> None:
    known = expected("lenet", "scalar", "loss/auto")
    latest = dict(zip(known["steps"], known["values"], strict=True))
    nearest = min(latest, key=lambda step: abs(step - clicked))
    row = values(page, "loss/auto").get_by_role("row").filter(has_text="lenet")
    expect(row.get_by_role("cell").first).to_have_text(re.compile(f"{latest[nearest]:.4f}"[:5]))
    expect(row).to_contain_text(str(nearest))
    expect(values(page, "fc2_mean").get_by_role("row")).to_have_count(2)
    page.reload()
    expect(row).to_contain_text(str(nearest))


def test_the_list_of_values_is_sorted_by_a_press_on_its_heads(page: Any, clicked: int) -> None:
    table = values(page, "loss/auto")
    first = table.locator("tbody tr").first
    expect(first).to_contain_text("lenet")  # the higher loss
    head = table.get_by_role("columnheader", name="Value")
    expect(head).to_have_attribute("aria-sort", "descending")
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    expect(first).to_contain_text("ranks/rank_0")
    expect(head.get_by_role("button")).to_be_focused()


def test_the_list_of_values_is_hidden_again_for_all_charts(page: Any, clicked: int) -> None:
    page.get_by_role("button", name="Hide: loss/auto").click()
    expect(page.get_by_role("region", name=re.compile("Values at step"))).to_have_count(0)
    assert "at" not in query(page)


def test_a_run_that_is_pointed_at_in_the_panel_stands_out(page: Any, samples: Any, chart: Any) -> None:
    page.goto(f"{samples}scalar?runs=lenet,landscape&q=loss&s=0")
    loss = chart("loss/auto")
    loss.until(lambda traces: len(traces) == 2)
    panel = page.get_by_role("complementary", name="Charted runs")
    panel.get_by_text("landscape", exact=True).hover()
    faded = loss.element.locator(".trace.faded")
    expect(faded).to_have_count(1)
    page.get_by_label("Y scale").select_option("Log")  # drawn anew while pointing
    eventually_true(page, lambda: loss.axis("yaxis")["type"] == "log")
    expect(faded).to_have_count(1)
    page.get_by_role("searchbox", name="Filter tags").hover()
    expect(faded).to_have_count(0)


def test_a_curve_that_is_pointed_at_stands_out(page: Any, samples: Any, chart: Any) -> None:
    page.goto(f"{samples}scalar?runs=lenet,landscape&q=loss&s=0")
    loss = chart("loss/auto")
    loss.until(lambda traces: len(traces) == 2)
    loss.point(0.02, 0.01)
    expect(page.get_by_role("tooltip")).to_be_visible()
    page.mouse.move(5, 5)
    expect(loss.element.locator(".trace.faded")).to_have_count(0)


def test_a_legend_names_the_curves_with_their_values_under_the_pointer(
    page: Any, serve: Any, tmp_path: Path, chart: Any
) -> None:
    for run, steps in (("long", 100), ("short", 40)):
        with SummaryRecord(str(tmp_path / "base" / run)) as record:
            for step in range(1, steps + 1):
                record.add_value("scalar", "loss", float(step))
                record.record(step)
    page.goto(f"{serve(tmp_path / 'base')}scalar?s=0")
    loss = chart("loss")
    loss.until(lambda traces: len(traces) == 2)
    legend = page.get_by_role("list", name="Legend").get_by_role("listitem")
    expect(legend).to_have_count(2)
    expect(legend.filter(has_text="long")).to_have_text("long100")
    expect(legend.filter(has_text="short")).to_have_text("short40")
    loss.point(0.8, 0.5)
    expect(legend.filter(has_text="long")).to_have_text("long80")
    expect(legend.filter(has_text="short")).to_have_text("short")
    expect(page.get_by_role("tooltip")).to_contain_text("short (ended at 40)")
    legend.filter(has_text="short").hover()
    expect(legend.filter(has_text="long")).to_have_text("long100")
    expect(loss.element.locator(".trace.faded")).to_have_count(1)
    expect(page.locator(".side-run.pointed")).to_have_text("short→")
    expect(page.locator(".scalar-front path")).to_have_count(1)
    page.get_by_role("button", name="All 2").click()
    expect(page.get_by_role("button", name="Fewer")).to_be_visible()
    assert "legend=1" in page.url


def test_what_is_not_finite_is_one_press_away(page: Any, serve: Any, tmp_path: Path, chart: Any) -> None:
    base = tmp_path / "base"
    with SummaryRecord(str(base / "run")) as record:
        for step in range(500):
            record.add_value("scalar", "loss", float("nan") if step >= 300 else 1.0 / (step + 1))
            record.record(step)
    page.goto(f"{serve(base)}scalar?x=relative&s=0")
    card(page, "loss").get_by_role("button", name="NaN: 200, first at step 300").click()
    page.wait_for_url("**z=280,320**")
    assert "x" not in query(page)
    eventually_true(page, lambda: chart("loss").axis("xaxis")["range"] == pytest.approx([280, 320]))
    row = values(page, "loss").get_by_role("row").filter(has_text="run")
    expect(row.last).to_contain_text("NaN")
    assert all(279 <= x <= 321 for x in lines(chart("loss"))[0]["x"])
