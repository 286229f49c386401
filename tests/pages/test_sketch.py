"""Sketched charts: what they show before Plotly is loaded is what Plotly draws once they get attention."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from mindinsight.writer import SummaryRecord

from .conftest import Chart
from .curves import eventually_true

LABELS = """(element, selector) => [...element.querySelectorAll(selector)].map(label => {
    const box = label.getBoundingClientRect();
    return [label.textContent, box.x + box.width / 2, box.y + box.height / 2];
}).sort()"""
# of each trace: pieces of its line, between which it has gaps, and the box around them
LINES = """(element, selector) => {
    const traces = new Map();
    for (const line of element.querySelectorAll(selector)) {
        const trace = line.closest(".trace");
        traces.set(trace, [...(traces.get(trace) ?? []), line]);
    }
    return [...traces.values()].map(lines => {
        const boxes = lines.map(line => line.getBoundingClientRect());
        return [
            lines.map(line => line.getAttribute("d")).join("").split("M").length - 1,
            Math.min(...boxes.map(box => box.left)), Math.max(...boxes.map(box => box.right)),
            Math.min(...boxes.map(box => box.top)), Math.max(...boxes.map(box => box.bottom)),
        ];
    });
}"""


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("runs=lenet&s=0.6", "loss/auto"),
        ("runs=lenet&s=0&y=log&lx=log", "loss/auto"),
        ("runs=lenet&s=0&y=symlog", "loss/auto"),
        ("runs=lenet&s=0&z=5,25", "loss/auto"),
        ("runs=values&s=0&q=float64_huge", "scalar/float64_huge"),
        ("m=groups&runs=!&q=loss", "loss/auto"),
    ],
)
def test_axes_and_lines_lie_where_plotly_draws_them(
    page: Page, samples: str, chart: Callable[[str], Chart], query: str, name: str
) -> None:
    page.goto(f"{samples}scalar?{query}")
    drawn = chart(name)
    expect(drawn.element.locator(".sketch .trace").first).to_be_attached()
    assert page.evaluate("typeof Plotly") == "undefined"
    labels = drawn.element.evaluate(LABELS, ".sketch text")
    lines = drawn.element.evaluate(LINES, ".sketch .trace path[stroke]")
    drawn.attend()
    expect(drawn.element.locator(".sketch")).to_have_count(0)
    assert [text for text, *_ in labels] == [
        text for text, *_ in drawn.element.evaluate(LABELS, ".xtick text, .ytick text")
    ]
    near(labels, drawn.element.evaluate(LABELS, ".xtick text, .ytick text"))
    strokes = drawn.element.evaluate(LINES, ".scatterlayer .js-line:not([style*='stroke-width: 0'])")
    near([["", *line] for line in lines], [["", *line] for line in strokes])


def test_curves_that_ended_are_not_drawn_again_while_another_grows(
    page: Page, serve: Callable[..., str], tmp_path: Path, chart: Callable[[str], Chart]
) -> None:
    for run in range(3):
        with SummaryRecord(str(tmp_path / "base" / f"run_{run}")) as record:
            for step in range(1, 90):
                record.add_value("scalar", "loss", 1.0 / step + run)
                record.record(step)
    with SummaryRecord(str(tmp_path / "base" / "live")) as live:

        def grow(step: int) -> None:
            live.add_value("scalar", "loss", 0.5)
            live.record(step)
            live.flush()

        grow(1)
        page.goto(f"{serve(tmp_path / 'base')}scalar?s=0")
        element = chart("loss").element
        expect(element.locator(".sketch .trace").first).to_be_attached()
        grow(2)
        still, front = element.locator(".sketch.still"), element.locator(".sketch.still + .sketch")
        expect(still.locator(".trace")).to_have_count(3)
        expect(front.locator(".trace[data-run='./live']")).to_have_count(1)
        element.evaluate("element => element.querySelector('.still').dataset.seen = 'yes'")
        for step in (3, 4):
            before = front.locator("path[stroke]").first.get_attribute("d")
            grow(step)
            eventually_true(
                page,
                lambda: front.locator("path[stroke]").first.get_attribute("d") != before,  # noqa: B023
            )
        assert still.get_attribute("data-seen") == "yes"
        grow(200)  # beyond the axis
        expect(element.locator("[data-seen]")).to_have_count(0)
        expect(still.locator(".trace")).to_have_count(3)


def rest_on(chart: Locator) -> bool:
    """Point at a chart for long enough to be meant; the page may move under the pointer meanwhile."""
    chart.page.mouse.move(0, 0)
    chart.hover()
    chart.page.wait_for_timeout(300)
    return True


def near(sketched: list[list[Any]], plotted: list[list[Any]]) -> None:
    assert len(sketched) == len(plotted)
    for ours, theirs in zip(sketched, plotted, strict=True):
        assert ours[1:] == pytest.approx(theirs[1:], abs=2.5), ours[0]


def test_the_cursor_reads_a_sketch_and_plotly_takes_over_where_the_pointer_rests(
    page: Page, samples: str, chart: Callable[[str], Chart]
) -> None:
    page.goto(f"{samples}scalar?runs=lenet&q=^loss")
    drawn = chart("loss/auto").element
    expect(drawn.locator(".sketch")).to_be_attached()
    held: list[Route] = []  # so that nothing but the sketch is there
    page.route("**/plotly-basic*", lambda route: held.append(route))  # noqa: PLW0108 - Playwright marks it
    tip = page.get_by_role("tooltip")
    eventually_true(page, lambda: rest_on(drawn) and "lenet" in "".join(tip.all_inner_texts()))
    page.mouse.move(0, 0)
    expect(tip).to_be_hidden()
    for route in held:
        route.continue_()
    page.unroute("**/plotly-basic*")
    eventually_true(page, lambda: rest_on(drawn) and drawn.locator(".main-svg").count() > 0)
    expect(drawn.locator(".sketch")).to_have_count(0)
