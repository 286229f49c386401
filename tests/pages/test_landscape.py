"""Loss landscapes: three pictures, the path played on them, intervals, runs over each other."""

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, Route, expect

from mindinsight.proto.framing import encode_record
from mindinsight.proto.summary_pb2 import Event

DATA = Path(__file__).parents[1] / "data" / "events"
FIRST, FINAL = "landscape_[1, 5]", "landscape_[12]"


def name(tag: Any, run: str = "landscape") -> str:
    return f"{run} {tag}"


def expected_landscape(expected: Any, tag: Any) -> Any:
    return expected("landscape", "landscape", tag)["last"]["landscape"]


def test_the_map_holds_the_recorded_grid(page: Any, samples: Any, chart: Any, expected: Any) -> None:
    page.goto(f"{samples}landscape?runs=landscape&i=final")
    grid = chart(name(FINAL)).traces()[0]
    known = expected_landscape(expected, FINAL)
    assert grid["type"] == "contour"
    assert grid["x"][:4] == pytest.approx(known["x"]["first"])
    assert np.shape(grid["z"]) == (9, 9)
    assert np.sum(grid["z"]) == pytest.approx(known["z"]["finite_sum"])


def test_contour_map_and_surface(page: Any, samples: Any, chart: Any) -> None:
    page.goto(f"{samples}landscape?runs=landscape")
    page.get_by_role("button", name="Contours").click()
    figure = chart(name(FIRST))
    figure.until(lambda traces: traces[0]["contours"] == "lines")
    page.get_by_role("spinbutton", name="Lines").fill("10")
    page.keyboard.press("Enter")
    figure.until(lambda traces: traces[0]["lines"] == 10)
    page.get_by_role("button", name="Surface").click()
    figure.until(lambda traces: traces[0]["type"] == "surface")
    page.reload()
    assert chart(name(FIRST)).traces()[0]["type"] == "surface"


def test_the_path_is_played_and_stepped_through(page: Any, samples: Any, chart: Any) -> None:
    page.goto(f"{samples}landscape?runs=landscape")
    figure = chart(name(FIRST))
    whole = figure.traces()[1]
    assert whole["mode"] == "lines+markers"
    assert len(whole["x"]) == 5
    page.get_by_role("button", name="Play the path").click()
    figure.until(lambda traces: len(traces[1]["x"]) < 4)
    figure.until(lambda traces: len(traces[1]["x"]) == 5)
    page.get_by_role("spinbutton", name="Path").fill("2")
    page.keyboard.press("Enter")
    figure.until(lambda traces: len(traces[1]["x"]) == 2)
    page.reload()
    figure.until(lambda traces: len(traces[1]["x"]) == 2)
    page.get_by_role("button", name="Play the path").click()
    figure.until(lambda traces: len(traces[1]["x"]) == 5)
    expect(page).not_to_have_url(re.compile("at="))


def test_every_interval_is_reached(page: Any, samples: Any, chart: Any) -> None:
    page.goto(f"{samples}landscape?runs=landscape")
    choose = page.get_by_label("Interval")
    expect(choose.locator("option")).to_have_text(["1 … 5", "6 … 12", "Final weights"])
    choose.select_option("Final weights")
    star = chart(name(FINAL)).traces()[-1]
    assert star["marker"]["symbol"] == "star"
    expect(page.get_by_text("End of training:")).to_be_visible()
    page.reload()
    expect(chart(name(FINAL)).element).to_be_visible()


def stretch(page: Any, label: Any) -> Any:
    return page.get_by_role("group", name="Click a section").get_by_role("button", name=label)


def test_an_interval_is_picked_on_the_curve_of_the_loss(page: Any, samples: Any, chart: Any) -> None:
    page.goto(f"{samples}landscape?runs=landscape")
    expect(stretch(page, "1 … 5")).to_have_attribute("aria-pressed", "true")
    first, second, final = (
        stretch(page, label).bounding_box() for label in ("1 … 5", "6 … 12", "Final weights")
    )
    assert first["x"] < second["x"] < final["x"]
    assert first["x"] + first["width"] <= second["x"]
    expect(page.locator(".loss-plot path")).to_have_count(1)
    stretch(page, "6 … 12").click(position={"x": 20, "y": 40})
    expect(chart(name("landscape_[6, 12]")).element).to_be_visible()
    expect(page.get_by_label("Interval").locator("option:checked")).to_have_text("6 … 12")
    expect(stretch(page, "6 … 12")).to_be_focused()
    page.reload()
    expect(stretch(page, "6 … 12")).to_have_attribute("aria-pressed", "true")


def test_a_late_curve_of_the_loss_pushes_no_landscape_down(page: Page, samples: str) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/v2/scalar/series*", hold)
    with page.expect_request("**/v2/scalar/series*"):
        page.goto(f"{samples}landscape?runs=landscape")
    expect(page.locator("#view .card")).to_have_count(0)
    held[0].continue_()
    expect(page.locator("#view .card").first).to_be_visible()
    expect(page.locator(".loss-curve")).to_be_visible()


def test_a_landscape_without_a_loss_beside_it_has_no_curve(page: Any, serve: Any, tmp_path: Path) -> None:
    long_path(tmp_path / "base" / "run", 3)
    page.goto(f"{serve(tmp_path / 'base')}landscape")
    expect(page.locator(".card")).to_have_count(1)
    expect(page.locator(".loss-curve")).to_have_count(0)


def test_different_planes_are_said_beside_each_other_too(page: Any, serve: Any, tmp_path: Path) -> None:
    long_path(tmp_path / "base" / "narrow", 3)
    long_path(tmp_path / "base" / "wide", 3, width=2.0)
    page.goto(f"{serve(tmp_path / 'base')}landscape")
    expect(page.locator(".card")).to_have_count(2)
    expect(page.get_by_text("different planes")).to_be_visible()


def long_path(run: Any, points: Any, width: float = 1.0) -> None:
    """A run with a landscape from ``-width`` to ``width`` whose path has so many points."""
    event = Event(wall_time=1.0, step=1)
    value = event.summary.value.add(tag=f"landscape_[1, {points}]")
    side = np.linspace(-width, width, 5, dtype=np.float32)
    line = np.linspace(-1, 1, points, dtype=np.float32)
    grid = np.add.outer(side**2, side**2)
    for point, columns in (
        (value.loss_landscape.landscape, (side, side, grid)),
        (value.loss_landscape.loss_path.points, (line, line, 2 * line**2)),
    ):
        for tensor, column in zip((point.x, point.y, point.z), columns, strict=True):
            tensor.dims.extend(column.shape)
            tensor.data_type = 11
            tensor.float_data.extend(column.ravel().tolist())
    value.loss_landscape.loss_path.intervals.extend(range(1, points + 1))
    value.loss_landscape.metadata.unit = "step"
    run.mkdir(parents=True)
    (run / "events.out.events.summary.1700000000.host_MS").write_bytes(
        encode_record(event.SerializeToString())
    )


def test_a_landscape_that_arrives_does_not_end_the_play(
    page: Any, serve: Any, tmp_path: Path, chart: Any
) -> None:
    long_path(tmp_path / "base" / "one", 600)
    page.goto(f"{serve(tmp_path / 'base')}landscape")
    page.get_by_role("button", name="Play the path").click()
    figure = chart("one landscape_[1, 600]")
    figure.until(lambda traces: len(traces[1]["x"]) < 600)
    long_path(tmp_path / "base" / "two", 600)
    expect(page.locator(".card")).to_have_count(2)
    expect(page.get_by_role("button", name="Stop playing")).to_be_visible()
    two = chart("two landscape_[1, 600]")
    seen = len(two.until(lambda traces: len(traces[1]["x"]) < 600)[1]["x"])
    two.until(lambda traces: seen < len(traces[1]["x"]) < 600)
    page.get_by_role("button", name="Stop playing").click()
    two.until(lambda traces: len(traces[1]["x"]) == 600)
    expect(page.get_by_role("button", name="Play the path")).to_be_visible()


def test_back_and_forward_show_what_the_address_says(page: Any, samples: Any, chart: Any) -> None:
    page.goto(f"{samples}landscape?runs=landscape&m=lines&i=final")
    chart(name(FINAL)).until(lambda traces: traces[0]["contours"] == "lines")
    page.evaluate("history.pushState(null, '', 'landscape?runs=landscape&i=6,8,10,12')")
    page.go_back()
    expect(page.get_by_role("button", name="Contours")).to_have_attribute("aria-pressed", "true")
    page.go_forward()
    chart(name("landscape_[6, 12]")).until(lambda traces: traces[0]["contours"] == "fill")
    expect(page.get_by_role("button", name="Map")).to_have_attribute("aria-pressed", "true")
    page.go_back()
    chart(name(FINAL)).until(lambda traces: traces[0]["contours"] == "lines")


def test_colours_are_chosen_and_the_picture_is_downloaded(page: Any, samples: Any, chart: Any) -> None:
    page.goto(f"{samples}landscape?runs=landscape")
    chart(name(FIRST)).traces()
    page.get_by_role("combobox", name="Colours").select_option("Cividis")
    scale = "element => JSON.stringify(element._fullData[0].colorscale)"
    page.wait_for_function(
        f"element => ({scale})(element).includes('rgb(0,32,76)')",
        arg=chart(name(FIRST)).element.element_handle(),
    )
    page.reload()
    expect(page.get_by_role("combobox", name="Colours").locator("option:checked")).to_have_text("Cividis")
    with page.expect_download() as started:
        page.get_by_role("button", name="Image (PNG)").click()
    assert started.value.path().read_bytes().startswith(b"\x89PNG")


def test_runs_are_beside_or_over_each_other(page: Any, serve: Any, tmp_path: Path, chart: Any) -> None:
    for run in ("one", "two", "three"):
        shutil.copytree(DATA / "landscape", tmp_path / "base" / run)
    page.goto(f"{serve(tmp_path / 'base')}landscape")
    expect(page.locator(".card")).to_have_count(3)
    page.get_by_label("Overlay").check()
    expect(page.locator(".card")).to_have_count(1)
    names = ", ".join(name(FIRST, run) for run in ("one", "three", "two"))
    traces = chart(names).traces()
    assert [trace["type"] for trace in traces].count("contour") == 3
    assert {trace["contours"] for trace in traces if trace["type"] == "contour"} == {"none"}
    expect(page.get_by_text("different planes")).to_have_count(0)  # copies of one landscape


def test_pages_without_landscapes_say_what_to_do(page: Any, samples: Any) -> None:
    page.goto(f"{samples}landscape?runs=lenet")
    expect(page.get_by_role("heading", name="No loss landscapes in the selected runs")).to_be_visible()
