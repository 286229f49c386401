"""What pages cost the browser: CPU time of the main thread until the first picture, and while working.

    python -m benchmarks.pages [--alone]

Tasks are read from Chromium's own trace, with the thread's CPU time, so that other work on the machine does
not count. W2 has 999 runs of 5 tags; the page shows its newest ten, or all of them. The other bases have ten
runs of 300 tags, 120 runs of 5, one run of 10 000 tags and 200 steps, and one job of 1 000 ranks with 3 tags
and 1 000 steps. TensorBoard has the same runs in its own files, unless ``--alone``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from benchmarks import workloads
from benchmarks.browser import DRAWN, PAGES, PATIENCE, chromium
from benchmarks.encoding import Format
from benchmarks.environments import python_with
from benchmarks.servers import Ours, TensorBoard

RESULTS = Path(__file__).with_name("results") / "pages.md"
CATEGORIES = ["toplevel", "__metadata"]
BUDGET, LONGEST = 0.5, 0.1  # seconds
FEW = "_29|_3$", "", "_1", "nothing", "_2", ""  # narrower and wider patterns in turns, for 300 tags
MANY = "9.block.3", "", "layers.1", "nothing", "layers.2", ""  # for 10 000


@dataclass(frozen=True)
class Cost:
    """CPU seconds of the page's main thread."""

    total: float
    longest: float  # one task


def many_tags(form: Format) -> Iterator[tuple[str, workloads.Records]]:
    for run in range(10):
        yield f"run_{run}", workloads.scalar_run(run, 300, 1000, form)


def thousand_ranks(form: Format) -> Iterator[tuple[str, workloads.Records]]:
    for rank in range(1000):
        yield f"job/rank_{rank}", workloads.scalar_run(rank, 3, 1000, form)


def many_runs(form: Format) -> Iterator[tuple[str, workloads.Records]]:
    for run in range(120):
        yield f"run_{run}", workloads.scalar_run(run, 5, 1000, form)


workloads.WORKLOADS["many_runs"] = many_runs
workloads.WORKLOADS["many_tags"] = many_tags
workloads.WORKLOADS["thousand_ranks"] = thousand_ranks


def traced(page: Page, work: Callable[[Page], None]) -> Cost:
    browser = page.context.browser
    assert browser is not None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        browser.start_tracing(page=page, path=path, categories=CATEGORIES)
        work(page)
        browser.stop_tracing()
        return cost(json.loads(path.read_text())["traceEvents"])


def cost(events: list[dict[str, Any]]) -> Cost:
    """Of the renderer that worked most: other processes' main threads have the same name."""
    threads = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    tasks: dict[tuple[int, int], list[float]] = {thread: [0.0] for thread in threads}
    for event in events:
        if (event["pid"], event["tid"]) in threads and event["name"].endswith("RunTask"):
            tasks[event["pid"], event["tid"]].append(event.get("tdur", 0) / 1e6)
    most = max(tasks.values(), key=sum)
    return Cost(sum(most), max(most))


def open_page(address: str, charts: int) -> Callable[[Page], None]:
    """Open the page and wait until that many charts are drawn and nothing moves any more."""

    def work(page: Page) -> None:
        page.goto(address)
        page.locator(".chart svg:first-child").nth(charts - 1).wait_for(timeout=120_000)
        page.wait_for_timeout(1000)

    return work


def scroll(page: Page) -> None:
    """From the first of the cards to the last, a wheel's notch at a time."""
    page.mouse.move(700, 500)
    while True:
        page.mouse.wheel(0, 400)
        page.wait_for_timeout(60)
        if page.evaluate("scrollY + innerHeight >= document.documentElement.scrollHeight - 2"):
            return


def press_all(page: Page) -> None:
    """All runs instead of the newest ten, until nothing moves any more."""
    page.get_by_role("button", name="All", exact=True).click()
    page.wait_for_timeout(1500)


def hover(page: Page) -> None:
    """Ten moves of the pointer over the first chart."""
    box = page.locator(".card .chart, line-chart").first.bounding_box()
    assert box is not None
    for number in range(10):
        x = box["x"] + box["width"] * (0.3 + 0.05 * number)
        page.mouse.move(x, box["y"] + box["height"] / 2)
        page.wait_for_timeout(100)


def filter_tags(page: Page) -> None:
    """A pattern that eleven of the tags pass."""
    page.get_by_role("searchbox", name="Filter tags").fill("_29|_3$")
    page.wait_for_timeout(1500)


ANSWERED = """([box, pattern]) => new Promise(done => {
  const view = document.querySelector("#view");
  const before = view.textContent;
  const start = performance.now();
  box.value = pattern;
  box.dispatchEvent(new Event("input", { bubbles: true }));
  const look = () => {
    if (view.textContent === before) setTimeout(look, 1);
    else requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
  };
  look();
})"""


def answering_times(page: Page, patterns: tuple[str, ...] = FEW) -> list[float]:
    """Wall milliseconds from what is typed to the frame that shows the tags it finds."""
    field = page.get_by_role("searchbox", name="Filter tags")
    field.fill("")  # the page is as it was left
    page.wait_for_timeout(1000)
    box, times = field.element_handle(), []
    for pattern in patterns:
        times.append(float(page.evaluate(ANSWERED, [box, pattern])))
        page.wait_for_timeout(1000)
    return times


def measure() -> tuple[dict[str, Cost], dict[int, list[float]]]:
    """Costs of ours by what is done, and how long a filter takes over so many tags."""
    costs = {}
    answering = {}
    with started_browser() as page, tempfile.TemporaryDirectory() as folder:

        def cost_of(name: str, work: Callable[[Page], None]) -> None:
            costs[name] = traced(page, work)

        with Ours(workloads.folder("w2", "mindspore"), Path(folder) / "w2") as server:
            server.wait(999)
            address = f"http://127.0.0.1:{server.port}/scalar"
            cost_of("first picture, 999 runs, newest ten shown", open_page(address, 5))
            cost_of("again, scripts compiled", open_page(address, 5))
            cost_of("all 999 runs in every chart", open_page(f"{address}?runs=!", 5))
            cost_of("table of 999 runs", table(f"http://127.0.0.1:{server.port}/"))
        with Ours(workloads.folder("many_runs", "mindspore"), Path(folder) / "runs") as server:
            server.wait(120)
            open_page(f"http://127.0.0.1:{server.port}/scalar", 5)(page)
            cost_of("All of 120 runs", press_all)
        with Ours(workloads.folder("many_tags", "mindspore"), Path(folder) / "tags") as server:
            server.wait(10)
            address = f"http://127.0.0.1:{server.port}/scalar"
            cost_of("first picture, 300 tags of 10 runs", open_page(address, 6))
            cost_of("scrolling over 300 tags", scroll)
            open_page(address, 6)(page)
            cost_of("a filter over 300 tags", filter_tags)
            open_page(address, 6)(page)
            answering[300] = answering_times(page)
        with Ours(workloads.folder("wide", "mindspore"), Path(folder) / "wide") as server:
            server.wait(1)
            address = f"http://127.0.0.1:{server.port}/scalar"
            cost_of("first picture, 10 000 tags of a run", open_page(address, 6))
            cost_of("ten moves over a chart, 10 000 tags", hover)
            answering[10_000] = answering_times(page, MANY)
        with Ours(workloads.folder("thousand_ranks", "mindspore"), Path(folder) / "ranks") as server:
            server.wait(999)  # the limit that a server has unless told otherwise
            address = f"http://127.0.0.1:{server.port}/scalar?m=ranks"
            cost_of("1 000 ranks of a job: 3 bands, 3 maps", open_page(address, 6))
            cost_of("a click on a map, to a rank's curve", pick_rank)
    return costs, answering


@contextmanager
def started_browser() -> Iterator[Page]:
    arguments = ["--no-sandbox", "--disable-gpu"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=arguments)
        yield browser.new_page(viewport={"width": 1440, "height": 900})
        browser.close()


def open_tensorboard(server: TensorBoard) -> Callable[[Page], None]:
    """Open its page of scalars until its first chart is drawn and nothing moves any more."""

    def work(page: Page) -> None:
        page.goto("about:blank")  # an address that differs in its fragment alone loads nothing
        page.goto(f"http://127.0.0.1:{server.port}/{PAGES[server.name]}")
        page.wait_for_function(DRAWN[server.name], timeout=PATIENCE)
        page.wait_for_timeout(1000)

    return work


def filter_in_tensorboard(page: Page) -> None:
    page.get_by_role("combobox", name="Filter tags").fill("_29|_3$")
    page.wait_for_timeout(1500)


def measure_tensorboard(python: Path) -> dict[str, Cost]:
    """Of TensorBoard, under the names of ours: what it can do as well."""
    costs = {}
    with started_browser() as page:
        with TensorBoard(python, workloads.folder("w2", "tensorboard")) as server:
            server.wait(999)
            costs["first picture, 999 runs, newest ten shown"] = traced(page, open_tensorboard(server))
            costs["again, scripts compiled"] = traced(page, open_tensorboard(server))
        with TensorBoard(python, workloads.folder("many_tags", "tensorboard")) as server:
            server.wait(10)
            costs["first picture, 300 tags of 10 runs"] = traced(page, open_tensorboard(server))
            costs["a filter over 300 tags"] = traced(page, filter_in_tensorboard)
        with TensorBoard(python, workloads.folder("wide", "tensorboard")) as server:
            server.wait(1)
            costs["first picture, 10 000 tags of a run"] = traced(page, open_tensorboard(server))
            costs["ten moves over a chart, 10 000 tags"] = traced(page, hover)
    return costs


def pick_rank(page: Page) -> None:
    box = page.locator(".card .chart").nth(1).locator(".nsewdrag").first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 3)
    page.locator(".card footer button.link").first.wait_for(timeout=60_000)
    page.wait_for_timeout(500)


def table(address: str) -> Callable[[Page], None]:
    def work(page: Page) -> None:
        page.goto(address)
        page.locator("td.name").first.wait_for(timeout=60_000)
        page.wait_for_timeout(1000)

    return work


def report(costs: dict[str, Cost], answering: dict[int, list[float]], peer: dict[str, Cost]) -> str:
    rows = "\n".join(
        f"| {name} | {cost.total:.2f} | {1000 * cost.longest:.0f} | {text_of(peer.get(name))} |"
        for name, cost in costs.items()
    )
    times = "; ".join(
        f"over {tags:,} tags " + ", ".join(f"{time:.0f}" for time in taken)
        for tags, taken in answering.items()
    )
    return f"""# What pages cost the browser

Made with `python -m benchmarks.pages`: CPU time of the page's main thread, from Chromium's trace. The
budget is {BUDGET:.1f} s until the first picture and no task over {1000 * LONGEST:.0f} ms while scrolling.
TensorBoard is opened at its time series, where the first chart counts as its first picture; it shows all
runs, and twelve tags of a group.

{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}

| | main thread, CPU s | longest task, CPU ms | TensorBoard: CPU s, longest task |
|---|---:|---:|---:|
{rows}

Wall milliseconds from what is typed into the filter to the frame that shows what it finds, narrower and wider
patterns in turns: {times}.
"""


def text_of(cost: Cost | None) -> str:
    return "" if cost is None else f"{cost.total:.2f}, {1000 * cost.longest:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alone", action="store_true", help="without TensorBoard")
    python = None if parser.parse_args().alone else python_with("tensorboard")
    text = report(*measure(), measure_tensorboard(python) if python else {})
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
