"""An answer that comes late must not lay an older choice over a newer one.

Each test holds an answer back, chooses something else, lets the answer go, and looks at what stands.
"""

import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from mindinsight.writer import SummaryRecord

from .delays import DelayedAnswer


def card(page: Any, tag: Any) -> Any:
    return page.get_by_role("group", name=tag, exact=True)


def choose_run(page: Any, run: Any) -> None:
    name = page.get_by_title(f"./{run}", exact=True)
    page.locator("#side label").filter(has=name).get_by_role("checkbox").click()


def query(page: Any) -> Any:
    return parse_qs(urlsplit(page.url).query)


def test_points_that_arrive_late_do_not_undo_another_axis(
    page: Any, serve: Any, tmp_path: Path, chart: Any
) -> None:
    with SummaryRecord(str(tmp_path / "live" / "run")) as record:
        for step in (1, 2, 3):
            write(record, step)
        page.goto(f"{serve(tmp_path / 'live')}scalar")
        chart("loss").until(lambda traces: len(traces[0]["x"]) == 3)
        held = DelayedAnswer(page, "scalar/tail")
        write(record, 4)
        held.until()
        page.get_by_role("button", name="Settings").click()
        page.get_by_label("X axis").select_option("rate")
        wanted = [0.1, 0.2, 0.3, 0.4]
        chart("loss").until(lambda traces: traces[0]["x"] == pytest.approx(wanted))
        held.release()
        assert chart("loss").traces()[0]["x"] == pytest.approx(wanted)


def test_curves_are_drawn_over_their_own_axis_until_others_come(page: Any, samples: Any, chart: Any) -> None:
    page.goto(f"{samples}scalar?runs=lenet&q=loss")
    loss = chart("loss/auto")
    steps = loss.traces()[0]["x"]
    held = DelayedAnswer(page, "scalar/series.*fc2_mean")
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("X axis").select_option("fc2_mean")
    held.until()
    page.set_viewport_size({"width": 1200, "height": 800})  # drawn anew
    page.wait_for_function(
        "() => document.querySelector('[aria-label=\"loss/auto\"][role=img]')._fullLayout.width < 900"
    )
    loss.point(0.5, 0.5)
    assert loss.traces()[0]["x"] == steps
    held.release()
    loss.until(lambda traces: traces[0]["x"] != steps)


def write(record: Any, step: Any) -> None:
    record.add_value("scalar", "loss", 1.0 / step)
    record.add_value("scalar", "rate", 0.1 * step)
    record.record(step)
    record.flush()


def test_curves_of_runs_that_were_switched_off_do_not_come_back(page: Any, samples: Any, chart: Any) -> None:
    page.goto(f"{samples}scalar?runs=lenet,landscape&q=loss/auto")
    loss = chart("loss/auto")
    loss.until(lambda traces: {trace["name"] for trace in traces} == {"lenet", "landscape"})
    held = DelayedAnswer(page, r"scalar/series.*smooth=0\.3")
    box = page.get_by_role("spinbutton", name="Smoothing")
    box.fill("0.3")
    box.press("Enter")
    held.until()
    choose_run(page, "landscape")
    loss.until(lambda traces: {trace["name"] for trace in traces} == {"lenet"})
    held.release()
    assert {trace["name"] for trace in loss.traces()} == {"lenet"}
    assert query(page)["runs"] == ["lenet"]


def test_a_verdict_for_an_older_tolerance_is_dropped(page: Any, samples: Any) -> None:
    page.goto(f"{samples}scalar?m=compare&runs=ranks/rank_0,ranks/rank_1&q=loss/auto")
    row = page.get_by_role("region", name="Compare").locator("tbody tr")
    expect(row).to_contain_text("at step")
    held = DelayedAnswer(page, "compare.*tolerance=0.005")
    box = page.get_by_label("Tolerance")
    box.fill("5")
    box.press("Enter")
    held.until()
    box.fill("100000000")
    box.press("Enter")
    expect(row).to_contain_text("never")
    held.release()
    expect(row).to_contain_text("never")


def test_a_rank_picked_later_stays(page: Any, samples: Any, chart: Any) -> None:
    page.goto(f"{samples}scalar?m=ranks&q=loss/auto")
    heat = chart("Deviation of each rank from the median: loss/auto")
    heat.traces()
    band = chart("Median, middle half and range of loss/auto across ranks")
    band.traces()  # what lies above the map is there: it moves no more
    held = DelayedAnswer(page, r"scalar/series.*rank_0")
    pick(page, heat, 0, 0.9)
    held.until()
    pick(page, heat, 3, 0.1)
    band.until(lambda traces: any(trace["name"] == "Rank 3" for trace in traces))
    held.release()
    assert [trace["name"] for trace in band.traces() if str(trace["name"]).startswith("Rank")] == ["Rank 3"]


def pick(page: Any, heat: Any, rank: int, down: float) -> None:
    heat.point(0.5, down)
    pointed = "([element, rank]) => element._hoverdata?.[0].customdata === rank"
    page.wait_for_function(pointed, arg=[heat.element.element_handle(), rank])  # Plotly looks every 50 ms
    page.mouse.down()
    page.mouse.up()


def test_histograms_of_a_step_that_was_left_are_dropped(page: Any, samples: Any) -> None:
    page.goto(f"{samples}histogram?runs=lenet&m=beside&q=conv1")
    foot = page.locator(".card footer").first
    expect(foot).to_contain_text("step")
    box = page.get_by_role("spinbutton", name="Step")
    held = DelayedAnswer(page, r"histogram/at.*step=1($|&)")
    box.fill("1")
    box.press("Enter")
    held.until()
    before = foot.inner_text()
    box.fill("100000")
    box.press("Enter")
    expect(page).to_have_url(re.compile(r"at=(?!1(&|$))"))
    held.release()
    expect(foot).to_have_text(re.compile(re.escape(before.split("\n")[-1])))


def test_pictures_of_runs_that_were_switched_off_do_not_come_back(page: Any, samples: Any) -> None:
    page.goto(f"{samples}image?runs=images")
    expect(page.locator(".card").first).to_be_visible()
    held = DelayedAnswer(page, r"v2/tags\?kind=image.*lenet")
    choose_run(page, "lenet")
    held.until()
    choose_run(page, "lenet")
    expect(page).to_have_url(re.compile(r"runs=images$"))
    held.release()
    expect(page.locator(".card footer").filter(has_text="lenet")).to_have_count(0)
    expect(page.locator(".card").first).to_be_visible()


def test_the_step_compared_is_the_one_chosen_last(page: Any, samples: Any) -> None:
    page.goto(f"{samples}image?runs=images")
    page.get_by_role("button", name="Compare").first.click()
    box = page.get_by_role("dialog")
    captions = box.locator("figcaption")
    expect(captions).to_have_count(2)
    step = box.get_by_role("slider", name="Step")
    step.press("End")
    last = captions.nth(1).inner_text()
    held = DelayedAnswer(page, r"image/picture.*row=0($|&)")
    step.press("Home")
    held.until()
    step.press("End")
    expect(captions.nth(1)).to_have_text(last)
    held.release()
    expect(captions.nth(1)).to_have_text(last)


def test_the_objective_chosen_last_stays(page: Any, serve: Any, tmp_path: Path) -> None:
    """Only the table of a scalar is requested anew."""
    for number in range(3):
        with SummaryRecord(str(tmp_path / "base" / f"run_{number}")) as record:
            record.add_value("custom_lineage_data", "own", {"rate": 0.1 * number})
            record.add_value("scalar", "val/loss", 1.0 + number)
            record.add_value("scalar", "norm", 2.0 * number)
            record.record(1)
    page.goto(f"{serve(tmp_path / 'base')}lineage")
    objective = page.locator("select[data-focus=objective]")
    expect(objective).to_have_value("scalar:val/loss")
    held = DelayedAnswer(page, "lineage/table.*objective=scalar:norm")
    objective.select_option(value="scalar:norm")
    held.until()
    objective.select_option(value="user:rate")
    expect(page.get_by_role("heading", name="Importance for rate")).to_be_visible()
    held.release()
    expect(objective).to_have_value("user:rate")
    expect(page.get_by_role("heading", name="Importance for rate")).to_be_visible()
    assert query(page)["o"] == ["user:rate"]


@pytest.mark.parametrize(
    ("view", "answer"),
    [("lineage", "lineage/table"), ("graph", "graph/graphs"), ("landscape", "landscape/all")],
)
def test_a_page_that_was_left_writes_nothing_into_the_address(
    page: Any, samples: Any, view: str, answer: str
) -> None:
    held = DelayedAnswer(page, answer)
    page.goto(f"{samples}{view}")
    held.until()
    page.get_by_role("navigation").get_by_role("link", name="Runs", exact=True).click()
    expect(page.locator("#view").get_by_role("heading", name="Runs", exact=True)).to_be_visible()
    expect(page.locator("#view")).not_to_have_attribute("aria-busy", "true")
    address = page.url
    held.release()
    assert page.url == address


def test_landscapes_of_runs_that_were_switched_off_do_not_come_back(page: Any, samples: Any) -> None:
    page.goto(f"{samples}landscape?runs=-")
    expect(page.locator(".empty")).to_be_visible()
    held = DelayedAnswer(page, "landscape/all")
    choose_run(page, "landscape")
    held.until()
    choose_run(page, "landscape")
    held.release()
    expect(page.locator(".empty")).to_be_visible()
    expect(page.locator(".landscape-chart")).to_have_count(0)


def test_the_graph_shown_is_that_of_the_run_chosen_last(page: Any, samples: Any) -> None:
    page.goto(f"{samples}graph?run=./lenet")
    expect(page.locator(".graph-drawing [data-id]").first).to_be_attached()
    runs = page.locator('.graph .toolbar label:has(span:text-is("Run")) select')
    held = DelayedAnswer(page, r"graph/graphs.*run=\./landscape")
    runs.select_option(label="landscape")
    held.until()
    runs.select_option(label="lenet")
    expect(page).to_have_url(re.compile(r"run=\./lenet"))
    held.release()
    expect(page).to_have_url(re.compile(r"run=\./lenet"))
    expect(runs.locator("option:checked")).to_have_text("lenet")


def test_it_is_said_that_a_graph_is_on_its_way(page: Any, samples: Any) -> None:
    page.goto(f"{samples}graph?run=./lenet")
    expect(page.locator(".graph-drawing [data-id]").first).to_be_attached()
    held = DelayedAnswer(page, r"graph/picture.*run=\./landscape")
    page.locator('.graph .toolbar label:has(span:text-is("Run")) select').select_option(label="landscape")
    held.until()
    expect(page.locator(".graph-canvas").get_by_text("Loading…")).to_be_visible()
    held.release()
    expect(page.locator(".graph-canvas").get_by_text("Loading…")).to_have_count(0)
    expect(page.locator(".graph-drawing [data-id]").first).to_be_visible()


def test_a_scope_opened_while_another_opens_is_open_too(page: Any, samples: Any) -> None:
    page.goto(f"{samples}graph?run=./lenet&open=0")
    scopes = page.locator(".graph-drawing g.closed:has(.mark)")
    expect(scopes.nth(1)).to_be_attached()
    wanted = {scopes.nth(i).get_attribute("data-id") for i in (0, 1)}
    held = DelayedAnswer(page, "graph/picture")
    scopes.nth(0).locator(".mark").dispatch_event("click")
    held.until()
    scopes.nth(1).locator(".mark").dispatch_event("click")
    opened = page.locator(".graph-drawing g.frame")
    for scope in wanted:
        expect(opened.and_(page.locator(f"[data-id='{scope}']"))).to_be_attached()
    held.release()
    for scope in wanted:
        expect(opened.and_(page.locator(f"[data-id='{scope}']"))).to_be_attached()
    assert wanted <= set(query(page)["open"][0].split(","))


def test_the_difference_walked_to_last_is_the_one_that_is_told(page: Any, samples: Any) -> None:
    page.goto(f"{samples}graph?m=compare&run=./lenet&run2=./ranks/rank_0")
    rows = page.get_by_role("region", name="Differences", exact=True).get_by_role("listitem")
    expect(page.get_by_text(re.compile(r"^1 of \d+$"))).to_be_visible()  # where it opens
    following = page.get_by_role("button", name="Next difference")
    pictures = DelayedAnswer(page, r"compare/pictures.*[?&]open=")
    following.click()
    pictures.until()
    node = DelayedAnswer(page, "compare/node")
    following.click()
    node.until()
    pictures.release()
    node.release()
    expect(rows.nth(2)).to_have_class("row current")
    label = rows.nth(2).locator("button").inner_text()
    expect(page.locator(".graph-facts h2")).to_have_text(label.partition(" (")[0])
