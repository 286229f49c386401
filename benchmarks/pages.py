"""What pages cost the browser: CPU time of the main thread until the first picture, and while scrolling.

    python -m benchmarks.pages

Tasks are read from Chromium's own trace, with the thread's CPU time, so that other work on the machine does
not count. W2 has 999 runs of 5 tags; the page shows its newest ten, or all of them. The other bases have ten
runs of 300 tags, and one job of 1 000 ranks with 3 tags and 1 000 steps.
"""

from __future__ import annotations

import json
import os
import platform
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks import workloads
from benchmarks.encoding import Format
from benchmarks.servers import Ours

RESULTS = Path(__file__).with_name("results") / "pages.md"
CATEGORIES = ["toplevel", "__metadata"]
BUDGET, LONGEST = 1.0, 0.2  # seconds


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


workloads.WORKLOADS["many_tags"] = many_tags
workloads.WORKLOADS["thousand_ranks"] = thousand_ranks


def traced(browser: Browser, page: Page, work: Callable[[Page], None]) -> Cost:
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
        page.locator(".chart .main-svg:first-child").nth(charts - 1).wait_for(timeout=120_000)
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


def measure() -> dict[str, Cost]:
    costs = {}
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        arguments = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=arguments)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        with Ours(workloads.folder("w2", "mindspore"), Path(folder) / "w2") as server:
            server.wait(999)
            address = f"http://127.0.0.1:{server.port}/scalar"
            costs["first picture, 999 runs, newest ten shown"] = traced(browser, page, open_page(address, 5))
            costs["again, scripts compiled"] = traced(browser, page, open_page(address, 5))
            costs["all 999 runs in every chart"] = traced(browser, page, open_page(f"{address}?runs=!", 5))
            costs["table of 999 runs"] = traced(browser, page, table(f"http://127.0.0.1:{server.port}/"))
        with Ours(workloads.folder("many_tags", "mindspore"), Path(folder) / "tags") as server:
            server.wait(10)
            address = f"http://127.0.0.1:{server.port}/scalar"
            costs["first picture, 300 tags of 10 runs"] = traced(browser, page, open_page(address, 6))
            costs["scrolling over 300 tags"] = traced(browser, page, scroll)
        with Ours(workloads.folder("thousand_ranks", "mindspore"), Path(folder) / "ranks") as server:
            server.wait(999)  # the limit that a server has unless told otherwise
            address = f"http://127.0.0.1:{server.port}/scalar?m=ranks"
            costs["1 000 ranks of a job: 3 bands, 3 maps"] = traced(browser, page, open_page(address, 6))
            costs["a click on a map, to a rank's curve"] = traced(browser, page, pick_rank)
        browser.close()
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


def report(costs: dict[str, Cost]) -> str:
    rows = "\n".join(
        f"| {name} | {cost.total:.2f} | {1000 * cost.longest:.0f} |" for name, cost in costs.items()
    )
    return f"""# What pages cost the browser

Made with `python -m benchmarks.pages`: CPU time of the page's main thread, from Chromium's trace. The
budget is {BUDGET:.0f} s until the first picture and no task over {1000 * LONGEST:.0f} ms while scrolling.

{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}

| | main thread, CPU s | longest task, CPU ms |
|---|---:|---:|
{rows}
"""


if __name__ == "__main__":
    text = report(measure())
    RESULTS.write_text(text)
    print(text)
