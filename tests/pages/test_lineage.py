"""Lineage: one table and its axes; what a person keeps, moves, sorts and compares."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from mindinsight.writer import SummaryRecord
from tests.waiting import until

RUNS = "runs=lenet,landscape,ranks/rank_0,ranks/rank_1,ranks/rank_2,ranks/rank_3"
OWN = "axis=train:learning_rate&axis=train:batch_size&axis=metric:loss"


def rows(page: Any) -> Any:
    return page.locator("table tr[data-run]")


def shown(page: Any) -> list[Any]:
    return [row.get_attribute("data-run") for row in rows(page).all()]


def lines_in(page: Any) -> Any:
    return page.locator(".axes path.run:not(.out)")


def field(page: Any, name: Any) -> Any:
    return page.get_by_role("slider", name=f"Filter {name} by range")


def box_of(element: Any) -> Any:
    """Where it is. While the axes are drawn anew it is nowhere, on a busy machine for long."""
    return until(element.bounding_box)


def titles(page: Any) -> list[Any]:
    return [text.removeprefix("Move the axis ") for text in page.locator(".axes .title").evaluate_all(
        "all => all.map(one => one.getAttribute('aria-label'))"
    )]  # fmt: skip


def query(page: Any) -> Any:
    return parse_qs(urlsplit(page.url).query)


def test_settings_and_results_are_a_table_and_lines(page: Any, samples: Any) -> None:
    page.goto(f"{samples}lineage?{RUNS}")
    expect(rows(page)).to_have_count(6)
    expect(lines_in(page)).to_have_count(6)
    lenet = rows(page).filter(has_text="LeNet")
    expect(lenet).to_contain_text("lenet")
    expect(lenet).to_contain_text("0.46")
    rank = page.locator("tr[data-run='./ranks/rank_3']")
    expect(rank).to_contain_text("Adam")
    expect(rank).to_contain_text("0.04001")


def place_of(page: Any, axis: str) -> Any:
    """Where an axis is, once the importance has come: what it changes is drawn anew."""
    expect(page.locator(".importance-panel")).to_have_attribute("aria-busy", "false")
    return box_of(field(page, axis))


def test_a_brush_filters_lines_and_rows_and_the_address_keeps_it(page: Any, samples: Any) -> None:
    page.goto(f"{samples}lineage?{RUNS}&{OWN}")
    expect(lines_in(page)).to_have_count(6)
    box = place_of(page, "loss")
    middle = box["x"] + box["width"] / 2
    page.mouse.move(middle, box["y"] + box["height"] - 2)
    page.mouse.down()
    page.mouse.move(middle, box["y"] + 0.75 * box["height"], steps=4)
    page.mouse.up()
    expect(page.get_by_text("3 of 6 runs")).to_be_visible()
    assert sorted(shown(page)) == ["./ranks/rank_1", "./ranks/rank_2", "./ranks/rank_3"]
    expect(lines_in(page)).to_have_count(3)
    expect(page.get_by_role("heading", name="Importance for loss")).to_be_visible()
    page.reload()
    expect(rows(page)).to_have_count(3)
    page.get_by_role("button", name="Clear ranges").click()
    expect(rows(page)).to_have_count(6)


def test_a_drag_outlives_what_comes_meanwhile(page: Any, samples: Any) -> None:
    page.goto(f"{samples}lineage?{RUNS}&{OWN}")
    page.get_by_role("combobox", name="Objective").select_option("Learning rate")
    expect(page.get_by_role("heading", name="Importance for Learning rate")).to_be_visible()
    expect(lines_in(page)).to_have_count(6)
    box = place_of(page, "loss")
    middle = box["x"] + box["width"] / 2
    page.mouse.move(middle, box["y"] + box["height"] - 2)
    page.mouse.down()
    page.get_by_role("combobox", name="Objective").select_option("metric:loss")
    expect(page.get_by_role("heading", name="Importance for loss")).to_have_count(
        0
    )  # drawn at the end of the drag
    page.mouse.move(middle, box["y"] + 0.75 * box["height"], steps=4)
    page.mouse.up()
    expect(page.get_by_text("3 of 6 runs")).to_be_visible()
    expect(page.get_by_role("heading", name="Importance for loss")).to_be_visible()


def test_a_button_pressed_elsewhere_sets_no_range(page: Any, samples: Any) -> None:
    page.goto(f"{samples}lineage?{RUNS}&{OWN}")
    expect(lines_in(page)).to_have_count(6)
    box = place_of(page, "loss")
    page.mouse.move(box["x"] + 100, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=3)
    page.mouse.up()
    expect(page.get_by_text("6 runs with settings")).to_be_visible()
    expect(lines_in(page)).to_have_count(6)


def test_the_keyboard_brushes_moves_axes_and_opens_runs(page: Any, samples: Any) -> None:
    page.goto(f"{samples}lineage?{RUNS}&{OWN}")
    field(page, "loss").focus()
    for _ in range(7):
        page.keyboard.press("ArrowDown")
    expect(rows(page)).to_have_count(3)
    expect(field(page, "loss")).to_be_focused()
    expect(field(page, "loss")).to_have_attribute("aria-valuenow", "30")
    page.keyboard.press("Escape")
    expect(rows(page)).to_have_count(6)
    page.get_by_role("button", name="Move the axis loss").focus()
    page.keyboard.press("ArrowLeft")
    assert titles(page) == ["Learning rate", "loss", "Batch size"]
    expect(page.get_by_role("button", name="Move the axis loss")).to_be_focused()
    page.locator(".axes path[data-run='./lenet']").focus()
    expect(rows(page).filter(has_text="LeNet")).to_have_class("lit")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"overview\?.*run=./lenet"))


def test_an_axis_is_dragged_by_its_name(page: Any, samples: Any) -> None:
    page.goto(f"{samples}lineage?{RUNS}&{OWN}")
    place_of(page, "loss")
    box = box_of(page.get_by_role("button", name="Move the axis Learning rate"))
    other = box_of(page.get_by_role("button", name="Move the axis Batch size"))
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(other["x"] + other["width"] / 2, other["y"] + 5, steps=5)
    page.mouse.up()
    assert titles(page) == ["Batch size", "Learning rate", "loss"]
    assert query(page)["axis"] == ["train:batch_size", "train:learning_rate", "metric:loss"]


def test_axes_are_chosen_and_may_be_logarithmic(page: Any, samples: Any) -> None:
    page.goto(f"{samples}lineage?{RUNS}&{OWN}")
    page.get_by_role("button", name="Choose axes").click()
    box = page.get_by_role("dialog", name="Choose axes")
    box.get_by_label("Batch size", exact=True).uncheck()
    box.get_by_label("Epochs", exact=True).check()
    box.get_by_label("Learning rate on a log axis").check()
    box.get_by_role("button", name="Apply").click()
    assert sorted(titles(page)) == ["Epochs", "Learning rate", "loss"]
    assert query(page)["log"] == ["train:learning_rate"]
    page.reload()
    expect(rows(page)).to_have_count(6)
    assert sorted(titles(page)) == ["Epochs", "Learning rate", "loss"]


def test_columns_sort_both_ways(page: Any, samples: Any) -> None:
    page.goto(f"{samples}lineage?{RUNS}")
    head = page.get_by_role("columnheader", name="loss", exact=True)
    expect(head).to_have_attribute("aria-sort", "ascending")  # it is the objective
    assert shown(page)[0] == "./ranks/rank_3"
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    assert shown(page)[-1] == "./ranks/rank_3"
    expect(head.get_by_role("button")).to_be_focused()
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    assert shown(page)[0] == "./ranks/rank_3"


def test_what_matters_is_told_for_the_objective(page: Any, samples: Any) -> None:
    page.goto(f"{samples}lineage?runs=ranks/rank_0,ranks/rank_1,ranks/rank_2,ranks/rank_3&o=metric:loss")
    expect(page.locator("[data-claim='claim.lineage.too_few']")).to_contain_text("Only 4 runs")
    expect(page.locator(".importance")).to_have_count(0)
    page.get_by_role("combobox", name="Objective").select_option("Learning rate")
    expect(page.get_by_role("heading", name="Importance for Learning rate")).to_be_visible()
    assert query(page)["o"] == ["train:learning_rate"]


def test_the_page_says_what_matters_among_the_runs_inside_the_ranges(
    page: Any, serve: Any, tmp_path: Path
) -> None:
    for number in range(28):
        with SummaryRecord(str(tmp_path / "base" / f"run_{number}")) as record:
            facts = {"rate": number % 7 / 7, "width": number // 7, "seed": number}
            record.add_value("custom_lineage_data", "user", facts)
            record.add_value("eval_lineage", "eval", {"metrics": {"error": (number % 7 - 3) ** 2.0}})
            record.record(1)
    page.goto(f"{serve(tmp_path / 'base')}lineage?o=metric:error")
    panel = page.locator(".importance-panel")
    expect(panel).to_contain_text("error depends on rate (28 runs).")
    expect(panel.locator("[data-claim='claim.lineage.lowest']")).to_have_text(
        "The 4 of 28 runs with the lowest error: rate 0.4286."
    )
    expect(panel.get_by_text("↗")).to_have_count(0)
    rate = panel.get_by_role("row").first
    expect(rate).to_contain_text("rate")
    expect(rate).to_have_attribute("title", re.compile("recorded by 28 runs"))
    expect(panel.get_by_text("seed", exact=True)).to_have_count(0)  # named only as left out
    field(page, "rate").focus()
    page.keyboard.press("ArrowDown")
    expect(panel).not_to_contain_text("28 runs")
    expect(panel).to_contain_text(re.compile(r"(1\d|2[0-7]) runs"))


def test_nothing_is_ranked_before_the_importance_is_known(page: Any, samples: Any) -> None:
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    page.route("**/v2/lineage/importance*", hold)
    page.goto(f"{samples}lineage?{RUNS}&o=metric:loss")
    panel = page.locator(".importance-panel")
    expect(panel.get_by_role("progressbar")).to_be_visible()
    expect(page.get_by_role("img", name="Scatter plot")).to_have_count(0)
    held[0].continue_()
    expect(page.get_by_role("img", name="Scatter plot")).to_be_visible()
    expect(panel.get_by_role("progressbar")).to_have_count(0)


def test_any_two_columns_are_a_cloud_whose_points_lead_to_runs(page: Any, samples: Any, chart: Any) -> None:
    page.goto(f"{samples}lineage?{RUNS}&px=train:learning_rate&py=metric:loss")
    cloud = chart("Scatter plot")
    (dots,) = cloud.traces()
    assert len(dots["x"]) == 6
    known = dict(zip(dots["text"], zip(dots["x"], dots["y"], strict=True), strict=True))
    assert known["ranks/rank_0"] == pytest.approx((0.01, 0.693415), rel=1e-3)
    page.get_by_role("combobox", name="x", exact=True).select_option("Batch size")
    page.wait_for_url("**px=train:batch_size**")


def test_the_pipeline_of_data_is_readable(page: Any, samples: Any) -> None:
    page.goto(f"{samples}lineage?{RUNS}")
    page.locator("tr[data-run='./lenet']").get_by_role("button", name="→").click()
    box = page.get_by_role("dialog", name="Data of lenet")
    stages = box.get_by_role("listitem")
    assert stages.first.inner_text().startswith(stages.first.get_by_role("heading").inner_text())
    expect(stages.last).to_contain_text("Batch")
    expect(box).to_contain_text("Resize")
    expect(box).not_to_contain_text('{"')


def test_settings_of_two_runs_are_compared(page: Any, samples: Any) -> None:
    page.goto(f"{samples}lineage?{RUNS}")
    page.get_by_label("Compare ranks/rank_0").check()
    expect(page.get_by_role("button", name="Compare settings")).to_have_count(0)
    page.get_by_label("Compare ranks/rank_1").check()
    page.reload()
    expect(page.get_by_label("Compare ranks/rank_0")).to_be_checked()
    page.get_by_role("button", name="Compare settings").click()
    box = page.get_by_role("dialog", name="Compare settings")
    expect(box.get_by_role("row").filter(has_text="Learning rate").get_by_role("cell")).to_have_text(
        ["0.01", "0.02"]
    )
    expect(box.get_by_role("row").filter(has_text="Batch size")).to_have_count(0)
    expect(box.get_by_text("other columns are identical")).to_be_visible()


def test_lines_take_the_colour_of_the_objective(page: Any, samples: Any) -> None:
    page.goto(f"{samples}lineage?{RUNS}&{OWN}")
    stroke = "path => path.getAttribute('stroke')"
    line = page.locator(".axes path[data-run='./ranks/rank_3']")
    before = line.evaluate(stroke)
    page.get_by_label("Colour by objective").check()
    assert line.evaluate(stroke) != before
    assert query(page)["tint"] == ["1"]


def test_the_ends_of_an_axis_are_told_where_no_line_runs(page: Any, samples: Any) -> None:
    page.goto(f"{samples}lineage?{RUNS}&{OWN}")
    expect(page.locator(".axes .axis")).to_have_count(3)
    places = page.locator(".axes .axis").evaluate_all(
        """axes => axes.map(axis => {
            const line = axis.querySelector("line").getBBox();
            const ends = [...axis.querySelectorAll(".tick.end")].map(end => end.getBBox());
            const above = ends.some(end => end.y + end.height <= line.y);
            return { above, below: ends.some(end => end.y >= line.y + line.height), ends: ends.length };
        })"""
    )
    assert places == [{"above": True, "below": True, "ends": 2}] * 3


def test_back_and_forward_show_what_the_address_says(page: Any, samples: Any) -> None:
    page.goto(f"{samples}lineage?{RUNS}&{OWN}&brush=metric:loss~0~0.3&sort=metric:loss")
    expect(rows(page)).to_have_count(3)
    other = f"lineage?{RUNS}&axis=train:epoch&axis=train:batch_size&tint=1"
    # The page hears of it at once: until then, an answer under way would write the old state to it.
    page.evaluate(
        "address => { history.pushState(null, '', address); dispatchEvent(new PopStateEvent('popstate')); }",
        other,
    )
    expect(rows(page)).to_have_count(6)
    page.go_back()
    expect(rows(page)).to_have_count(3)
    page.go_forward()
    expect(rows(page)).to_have_count(6)
    expect(page.locator(".axes .title")).to_have_count(2)
    expect(page.get_by_label("Colour by objective")).to_be_checked()
    page.go_back()
    expect(rows(page)).to_have_count(3)
    expect(page.locator(".axes .title")).to_have_count(3)
    expect(page.get_by_role("columnheader", name="loss", exact=True)).to_have_attribute(
        "aria-sort", "ascending"
    )
    expect(page.get_by_label("Colour by objective")).not_to_be_checked()


def test_pages_without_lineage_say_what_to_do(page: Any, samples: Any) -> None:
    page.goto(f"{samples}lineage?runs=values")
    expect(page.get_by_role("heading", name="None of the selected runs has lineage")).to_be_visible()


def test_without_a_metric_there_is_no_objective_until_somebody_chooses_one(
    page: Any, serve: Any, tmp_path: Path, chart: Any
) -> None:
    for number in range(3):
        with SummaryRecord(str(tmp_path / "base" / f"run_{number}")) as record:
            record.add_value("custom_lineage_data", "own", {"rate": 0.1 * number, "size": number**2})
            record.record(1)
    page.goto(f"{serve(tmp_path / 'base')}lineage")
    expect(page.get_by_text("No run recorded an evaluation result")).to_be_visible()
    expect(page.get_by_role("checkbox", name="Colour by objective")).to_be_disabled()
    strokes = page.locator(".axes path.run").evaluate_all("all => all.map(one => one.getAttribute('stroke'))")
    (dots,) = chart("Scatter plot").until(lambda traces: len(traces[0]["x"]) == 3)
    assert set(dots["marker"]["color"]) == set(strokes)
    page.get_by_role("combobox", name="Objective").select_option("size")
    expect(page.get_by_role("heading", name="Importance for size")).to_be_visible()
    expect(page.get_by_text("Only 3 runs have a finite size")).to_be_visible()
    expect(page.get_by_role("checkbox", name="Colour by objective")).to_be_enabled()


def test_the_last_value_of_a_scalar_is_the_objective_of_a_sweep(
    page: Any, serve: Any, tmp_path: Path
) -> None:
    """Facts of the training that repeat a setting are no further axes."""
    for number in range(16):
        rate = 0.01 * (number + 1)
        with SummaryRecord(str(tmp_path / "base" / f"run_{number}")) as record:
            record.add_value("custom_lineage_data", "own", {"rate": rate, "lr": 0.5 + rate})
            record.add_value("train_lineage", "facts", {"learning_rate": 0.5 + rate})
            for step in range(3):
                record.add_value("scalar", "train/loss", 1.0 / (step + 1))
                record.add_value("scalar", "val/accuracy", rate * step)
                record.record(step)
    page.goto(f"{serve(tmp_path / 'base')}lineage")
    expect(page.get_by_role("heading", name="Importance for val/accuracy (last value)")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Move the axis"))).to_have_count(3)
    page.get_by_role("combobox", name="Objective").select_option("train/loss (last value)")
    expect(page.get_by_role("heading", name="Importance for train/loss (last value)")).to_be_visible()
    page.reload()
    expect(page.get_by_role("combobox", name="Objective")).to_have_value("scalar:train/loss")


def test_a_rate_of_many_decades_has_a_logarithmic_axis_and_the_best_run_comes_first(
    page: Page, serve: Callable[..., str], tmp_path: Path
) -> None:
    for number in range(14):
        with SummaryRecord(str(tmp_path / "base" / f"run_{number:02}")) as record:
            settings = {"lr": 10.0 ** (-5 + number / 4), "depth": number % 3}
            record.add_value("custom_lineage_data", "user", settings)
            record.add_value("eval_lineage", "eval", {"metrics": {"accuracy": (number * 5 % 14) / 14}})
            record.record(1)
    page.goto(f"{serve(tmp_path / 'base')}lineage?px=user:lr&py=metric:accuracy")
    expect(page.locator(".chart .main-svg").first).to_be_visible()
    page.wait_for_function(  # the chart is made anew while runs come in
        "() => { const layout = document.querySelector('.chart')?._fullLayout;"
        " return layout?.xaxis?.type === 'log' && layout.yaxis.type === 'linear'; }"
    )
    expect(page.get_by_role("columnheader", name="accuracy")).to_have_attribute("aria-sort", "descending")
    expect(page.locator("table tr[data-run]").first).to_have_attribute("data-run", "./run_11")  # 13 / 14
    expect(page.get_by_text("14 runs with settings, in the charts or not")).to_be_visible()
