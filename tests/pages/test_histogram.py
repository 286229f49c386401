"""Histograms: five pictures of how values are spread, along three axes, with what is not finite."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from mindinsight.writer import SummaryRecord


def card(page: Any, tag: Any) -> Any:
    return page.get_by_role("group", name=tag, exact=True)


def test_the_heat_map_holds_every_step_and_all_values(
    page: Any, samples: Any, chart: Any, expected: Any
) -> None:
    known = expected("lenet", "histogram", "fc1.weight/auto")
    page.goto(f"{samples}histogram?runs=lenet&q=fc1.weight")
    (heat,) = chart("fc1.weight/auto, ./lenet").traces()
    assert heat["type"] == "heatmap"
    assert sorted(set(heat["x"])) == sorted(set(known["steps"]))
    shares = np.square(np.array(heat["z"], float)).sum(axis=0)
    assert shares == pytest.approx(np.ones(len(heat["x"])), abs=1e-4)
    expect(card(page, "fc1.weight/auto")).to_contain_text(f"{len(heat['x'])} of {len(heat['x'])} steps")


def test_a_step_with_all_values_alike_leaves_the_others_their_colours(
    page: Any, serve: Any, tmp_path: Path, chart: Any
) -> None:
    with SummaryRecord(str(tmp_path / "base" / "run")) as record:
        for step in range(1, 21):
            record.add_value("histogram", "bias", np.linspace(-1, 1, 400) * (step > 1))
            record.record(step)
    page.goto(serve(tmp_path / "base") + "histogram?runs=run")
    (heat,) = chart("bias, ./run").until(lambda traces: len(traces[0]["x"]) == 20)
    peaks = np.array(heat["z"], float).max(axis=0)
    assert peaks[0] > 2 * heat["zmax"]
    assert heat["zmax"] == pytest.approx(peaks[1:].max(), rel=0.05)


def test_a_tag_has_a_card_and_the_filter_narrows_them(page: Any, samples: Any) -> None:
    page.goto(f"{samples}histogram?runs=lenet")
    expect(page.locator(".card")).to_have_count(9)
    page.get_by_role("searchbox", name="Filter tags").fill("BIAS")
    expect(page.locator(".card")).to_have_count(3)
    page.reload()
    expect(page.locator(".card")).to_have_count(3)
    page.get_by_role("searchbox", name="Filter tags").fill("nothing")
    expect(page.get_by_text("No tag matches the filter")).to_be_visible()
    page.locator("#view").get_by_role("button", name="Clear the filter").click()
    expect(page.locator(".card")).to_have_count(9)
    expect(page.get_by_role("searchbox", name="Filter tags")).to_have_value("")


def test_the_other_pictures(page: Any, samples: Any, chart: Any) -> None:
    page.goto(f"{samples}histogram?runs=lenet&q=fc1.weight")
    figure = chart("fc1.weight/auto, ./lenet")
    figure.traces()
    page.get_by_role("button", name="Percentiles").click()
    rows = np.array([trace["y"] for trace in figure.until(lambda traces: len(traces) == 9)])
    assert (rows[0] <= rows[-1]).all()
    assert (rows[-1] <= rows[1]).all()
    page.get_by_role("button", name="Ridge").click()
    assert len(figure.until(lambda traces: len(traces) > 31)) <= 2 * 60
    page.get_by_role("button", name="Overlay").click()
    figure.until(lambda traces: len(traces) == 31)
    page.reload()
    expect(page.get_by_role("button", name="Overlay")).to_have_attribute("aria-pressed", "true")


def test_the_axis_is_step_relative_or_wall_time(page: Any, samples: Any, chart: Any) -> None:
    page.goto(f"{samples}histogram?runs=lenet&q=fc1.weight")
    figure = chart("fc1.weight/auto, ./lenet")
    assert figure.axis("xaxis")["type"] == "linear"
    page.get_by_label("Time axis").select_option("Wall time")
    figure.until(lambda traces: figure.axis("xaxis")["type"] == "date")
    page.get_by_label("Time axis").select_option("Relative time")
    (heat,) = figure.until(lambda traces: traces[0]["x"][0] == 0)
    assert heat["x"][-1] < 60


def test_runs_are_laid_over_each_other_at_one_step(
    page: Any, samples: Any, chart: Any, expected: Any
) -> None:
    page.goto(f"{samples}histogram?runs=ranks/rank_0,ranks/rank_1&q=fc1.weight&m=beside")
    figure = chart("fc1.weight/auto")
    assert {trace["name"] for trace in figure.traces()} == {"ranks/rank_0", "ranks/rank_1"}
    for trace in figure.traces():
        width = np.diff(np.array(trace["x"]).reshape(-1, 2)).ravel()
        assert np.sum(width * np.array(trace["y"])[::2]) == pytest.approx(1, abs=1e-3)
    expect(card(page, "fc1.weight/auto")).to_contain_text("step 36")
    page.get_by_role("spinbutton", name="Step").fill("7")
    page.keyboard.press("Enter")
    expect(card(page, "fc1.weight/auto")).to_contain_text("step 7")
    page.reload()
    expect(card(page, "fc1.weight/auto")).to_contain_text("step 7")


def test_cards_of_a_tag_share_a_scale_when_asked_to(page: Any, samples: Any, chart: Any) -> None:
    page.goto(f"{samples}histogram?runs=ranks/rank_0,ranks/rank_1&q=fc1.weight")
    figures = [chart(f"fc1.weight/auto, ./ranks/rank_{rank}") for rank in range(2)]
    for figure in figures:
        figure.traces()
    page.get_by_role("combobox", name="Scale", exact=True).select_option("tag")
    expect(page).to_have_url(re.compile("sc=tag"))
    (first,) = figures[0].until(lambda traces: figures[1].traces()[0]["zmax"] == traces[0]["zmax"])
    assert np.max(first["z"]) <= 2 * first["zmax"]
    assert figures[0].axis("yaxis")["range"] == figures[1].axis("yaxis")["range"]
    card(page, "fc1.weight/auto").first.get_by_role("button", name="Full screen").click()
    page.get_by_role("dialog").get_by_role("combobox", name="Scale", exact=True).select_option("own")
    page.keyboard.press("Escape")
    expect(page.get_by_role("combobox", name="Scale", exact=True)).to_have_value("own")
    expect(page).not_to_have_url(re.compile("sc="))


def test_what_is_not_finite_is_counted(page: Any, samples: Any) -> None:
    page.goto(f"{samples}histogram?runs=values&q=nan")
    expect(card(page, "histogram/nan_inf")).to_contain_text("NaN 3 · +Inf 3 · −Inf 3 · since step 1")
    expect(card(page, "histogram/all_nan")).to_contain_text("NaN")


def test_new_steps_and_new_tags_arrive(page: Any, serve: Any, tmp_path: Path, chart: Any) -> None:
    with SummaryRecord(str(tmp_path / "live" / "run")) as record:
        record.add_value("histogram", "weight", np.arange(10.0))
        record.record(1)
        record.flush()
        page.goto(f"{serve(tmp_path / 'live')}histogram")
        expect(card(page, "weight")).to_contain_text("1 of 1 step")
        record.add_value("histogram", "weight", np.arange(20.0))
        record.add_value("histogram", "gradient", np.arange(20.0))
        record.record(2)
        record.flush()
        expect(card(page, "weight")).to_contain_text("2 of 2 steps")
        expect(card(page, "gradient")).to_contain_text("1 of 1 step")


def test_back_and_forward_show_what_the_address_says(page: Any, samples: Any, chart: Any) -> None:
    page.goto(f"{samples}histogram?runs=lenet&q=fc1.weight&m=overlay")
    figure = chart("fc1.weight/auto, ./lenet")
    figure.until(lambda traces: len(traces) == 31)
    page.evaluate("history.pushState(null, '', 'histogram?runs=lenet&q=bias&x=relative')")
    page.go_back()
    page.go_forward()
    expect(page.locator(".card")).to_have_count(3)
    expect(page.get_by_role("searchbox", name="Filter tags")).to_have_value("bias")
    expect(page.get_by_role("button", name="Heat map")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_label("Time axis").locator("option:checked")).to_have_text("Relative time")
    page.go_back()
    expect(page.locator(".card")).to_have_count(1)
    figure.until(lambda traces: len(traces) == 31)
    expect(page.get_by_role("button", name="Overlay")).to_have_attribute("aria-pressed", "true")


def test_pages_without_histograms_say_what_to_do(page: Any, samples: Any) -> None:
    page.goto(f"{samples}histogram?runs=images")
    expect(page.get_by_role("heading", name=re.compile("runs have histograms"))).to_be_visible()
