"""Loss landscapes: three pictures, the path played on them, intervals, runs over each other."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

DATA = Path(__file__).parents[1] / "data" / "events"
FIRST, FINAL = "landscape_[1, 5]", "landscape_[12]"


def name(tag, run="landscape"):
    return f"{run} {tag}"


def expected_landscape(expected, tag):
    return expected("landscape", "landscape", tag)["last"]["landscape"]


def test_the_map_holds_the_recorded_grid(page, samples, chart, expected):
    page.goto(f"{samples}landscape?runs=landscape&i=final")
    grid = chart(name(FINAL)).traces()[0]
    known = expected_landscape(expected, FINAL)
    assert grid["type"] == "contour"
    assert grid["x"][:4] == pytest.approx(known["x"]["first"])
    assert np.shape(grid["z"]) == (9, 9)
    assert np.sum(grid["z"]) == pytest.approx(known["z"]["finite_sum"])


def test_contour_map_and_surface(page, samples, chart):
    page.goto(f"{samples}landscape?runs=landscape")
    page.get_by_role("button", name="Contour").click()
    one = chart(name(FIRST))
    one.until(lambda traces: traces[0]["contours"] == "lines")
    page.get_by_role("spinbutton", name="Lines").fill("10")
    page.keyboard.press("Enter")
    one.until(lambda traces: traces[0]["lines"] == 10)
    page.get_by_role("button", name="Surface").click()
    one.until(lambda traces: traces[0]["type"] == "surface")
    page.reload()
    assert chart(name(FIRST)).traces()[0]["type"] == "surface"


def test_the_path_is_played_and_stepped_through(page, samples, chart):
    page.goto(f"{samples}landscape?runs=landscape")
    one = chart(name(FIRST))
    whole = one.traces()[1]
    assert whole["mode"] == "lines+markers"
    assert len(whole["x"]) == 5
    page.get_by_role("button", name="Play the path").click()
    one.until(lambda traces: len(traces[1]["x"]) < 4)
    one.until(lambda traces: len(traces[1]["x"]) == 5)
    page.get_by_role("spinbutton", name="Path").fill("2")
    page.keyboard.press("Enter")
    one.until(lambda traces: len(traces[1]["x"]) == 2)


def test_every_interval_is_reached(page, samples, chart):
    page.goto(f"{samples}landscape?runs=landscape")
    choose = page.get_by_label("Interval")
    expect(choose.locator("option")).to_have_text(["1 … 5", "6 … 12", "Final weights"])
    choose.select_option("Final weights")
    star = chart(name(FINAL)).traces()[-1]
    assert star["marker"]["symbol"] == "star"
    expect(page.get_by_text("End of training:")).to_be_visible()
    page.reload()
    expect(chart(name(FINAL)).element).to_be_visible()


def test_runs_are_beside_or_over_each_other(page, serve, tmp_path, chart):
    for run in ("one", "two", "three"):
        shutil.copytree(DATA / "landscape", tmp_path / "base" / run)
    page.goto(f"{serve(tmp_path / 'base')}landscape")
    expect(page.locator(".card")).to_have_count(3)
    page.get_by_label("Over each other").check()
    expect(page.locator(".card")).to_have_count(1)
    names = ", ".join(name(FIRST, run) for run in ("one", "three", "two"))
    assert [trace["type"] for trace in chart(names).traces()].count("contour") == 3


def test_pages_without_landscapes_say_what_to_do(page, samples):
    page.goto(f"{samples}landscape?runs=lenet")
    expect(page.get_by_role("heading", name="No loss landscapes in the selected runs")).to_be_visible()
