"""What an open page costs: left alone while one of 121 runs grows, when the pointer moves over a chart, and
with thousands of tags.

    python -m benchmarks.at_rest [--alone] [--seconds 60]

The page shows 120 finished runs of 5 tags and a growing one of 10, all in every chart. The growing run gets a
step each second. Requests are those of the page, CPU seconds those of all processes of the browser and of the
server. The pointer makes ten moves over the first chart, each after the frame that the move before it led to.
Chromium renders in software. TensorBoard has the same runs in its own files, unless ``--alone``. Its
page asks for nothing until somebody presses *Reload* or turns on *Reload data*.

Pages of 5,000 and 10,000 tags are ours alone: the time from the address to the first chart in a browser that
has the scripts, the elements, ten moves, and the CPU of a key in the filter, median of six patterns.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from playwright.sync_api import Page, sync_playwright

from benchmarks import workloads
from benchmarks.browser import ARGUMENTS, DRAWN, PAGES, PATIENCE, chromium
from benchmarks.encoding import Format
from benchmarks.environments import python_with
from benchmarks.pages import ANSWERED, many_runs
from benchmarks.processes import MARK, cpu_of, marked_processes, with_descendants
from benchmarks.servers import Ours, Server, TensorBoard

RESULTS = Path(__file__).with_name("results") / "at_rest.md"
RUNS: Final = 121
MOVES: Final = 10
SETTLE: Final = 5.0  # seconds until a page that was opened or pointed at does nothing more
CHARTS: Final = {"ours": ".card .chart", "TensorBoard": "line-chart"}
FRAME: Final = "() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))"


class Idle(NamedTuple):
    """What a page does that nobody touches, per minute."""

    requests: float
    browser: float  # CPU s
    server: float  # CPU s


class Hover(NamedTuple):
    """What ten moves of the pointer cost."""

    seconds: float
    browser: float  # CPU s


class Wide(NamedTuple):
    """A page of many tags."""

    first: float  # s until the first chart
    elements: int
    hover: Hover
    key: float  # ms
    key_cpu: float  # s


def base(form: Format, folder: Path) -> Path:
    """Write 120 finished runs and one that can grow, and return their directory."""
    target = folder / form
    for run, records in many_runs(form):
        workloads.write_run(target / run, records, form)
    workloads.write_run(target / "live", workloads.scalar_run(5, 10, 1, form), form)
    return target


@contextmanager
def growing(target: Path, form: Format) -> Iterator[None]:
    """Append a step to the live run each second until the block ends."""
    (path,) = (target / "live").iterdir()
    ended = threading.Event()

    def grow() -> None:
        step = 2
        while not ended.wait(1):
            workloads.append_step(path, step, time.time(), form)
            step += 1

    thread = threading.Thread(target=grow)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(10)


@contextmanager
def opened(server: Server) -> Iterator[tuple[Page, Callable[[], float]]]:
    """Open the page of scalars in a new browser. Yield the page and a function: the browser's CPU seconds."""
    mark = uuid.uuid4().hex
    environment: dict[str, str | float | bool] = {**os.environ, MARK: mark}

    def cpu() -> float:
        return sum(map(cpu_of, with_descendants(marked_processes(f"{MARK}={mark}".encode()))))

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS, env=environment)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        address = f"http://127.0.0.1:{server.port}/{PAGES[server.name]}"
        page.goto(f"{address}?runs=!" if server.name == "ours" else address, timeout=PATIENCE)
        page.wait_for_function(DRAWN[server.name], timeout=PATIENCE)
        page.wait_for_timeout(1000 * SETTLE)
        yield page, cpu
        browser.close()


def left_alone(server: Server, page: Page, browser_cpu: Callable[[], float], seconds: float) -> Idle:
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    before, of_server = browser_cpu(), server.cpu()
    page.wait_for_timeout(1000 * seconds)
    minutes = seconds / 60
    return Idle(
        len(requests) / minutes, (browser_cpu() - before) / minutes, (server.cpu() - of_server) / minutes
    )


def pointed_at(server: Server, page: Page, browser_cpu: Callable[[], float]) -> Hover:
    box = page.locator(CHARTS[server.name]).first.bounding_box()
    assert box is not None

    def move(number: int) -> None:
        page.mouse.move(box["x"] + box["width"] * (0.3 + 0.04 * number), box["y"] + box["height"] / 2)
        page.evaluate(FRAME)

    move(-1)  # what a chart loads when it is first pointed at is not part of a move
    page.wait_for_timeout(1000 * SETTLE)
    before, began = browser_cpu(), time.perf_counter()
    for number in range(MOVES):
        move(number)
    return Hover(time.perf_counter() - began, browser_cpu() - before)


def many_tags(tags: int, folder: Path) -> Wide:
    """Open a run of so many tags, move the pointer over it and filter it."""
    target = folder / "base"
    workloads.write_run(target / "run", workloads.scalar_run(0, tags, 50, "mindspore"), "mindspore")
    with Ours(target, folder / "workspace") as server:
        server.wait(1)
        with opened(server) as (page, browser_cpu):
            began = time.perf_counter()
            page.goto(page.url)
            page.wait_for_function(DRAWN[server.name], timeout=PATIENCE)
            first = time.perf_counter() - began
            page.wait_for_timeout(1000 * SETTLE)
            elements = int(page.evaluate("document.querySelectorAll('*').length"))
            hover = pointed_at(server, page, browser_cpu)
            return Wide(first, elements, hover, *keys(page, browser_cpu))


def keys(page: Page, browser_cpu: Callable[[], float]) -> tuple[float, float]:
    """Milliseconds until the page shows what a filter finds, and the browser's CPU seconds; medians."""
    box = page.get_by_role("searchbox", name="Filter tags").element_handle()
    times, costs = [], []
    for pattern in ("_29|_3$", "", "1", "nothing", "2", ""):
        before = browser_cpu()
        times.append(float(page.evaluate(ANSWERED, [box, pattern])))
        page.wait_for_timeout(1500)
        costs.append(browser_cpu() - before)
    return statistics.median(times), statistics.median(costs)


def measure(begin: Callable[[Path], Server], form: Format, seconds: float) -> tuple[Idle, Hover]:
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        target = base(form, Path(folder))
        with begin(target) as server:
            server.wait(RUNS)
            with opened(server) as (page, browser_cpu):
                with growing(target, form):
                    idle = left_alone(server, page, browser_cpu, seconds)
                page.wait_for_timeout(1000 * SETTLE)
                return idle, pointed_at(server, page, browser_cpu)


def report(rows: dict[str, tuple[Idle, Hover]], wide: dict[int, Wide], seconds: float) -> str:
    pages = "\n".join(
        f"| {tags:,} | {page.first:.2f} | {page.elements:,} | {page.hover.browser:.2f} | {page.key:.0f} "
        f"| {page.key_cpu:.2f} |"
        for tags, page in wide.items()
    )
    lines = "\n".join(
        f"| {name} | {idle.requests:.0f} | {idle.browser:.2f} | {idle.server:.2f} "
        f"| {hover.seconds:.2f} | {hover.browser:.2f} |"
        for name, (idle, hover) in rows.items()
    )
    return f"""# What an open page costs

Made with `python -m benchmarks.at_rest`: {RUNS} runs in every chart, one of them growing, {seconds:.0f} s;
then {MOVES} moves of the pointer over the first chart, each after the frame of the one before. CPU of all
processes of the browser, which renders in software.

{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()},
load average {os.getloadavg()[0]:.1f}

| | requests a minute | browser, CPU s a minute | server, CPU s a minute | {MOVES} moves, s | CPU s |
|---|---:|---:|---:|---:|---:|
{lines}

| tags | first chart, s | elements | {MOVES} moves, CPU s | a key in the filter, ms | CPU s |
|---|---:|---:|---:|---:|---:|
{pages}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alone", action="store_true", help="without TensorBoard")
    parser.add_argument("--seconds", type=float, default=60.0, help="for which the page is left alone")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="benchmark-") as workspace:
        rows = {"ours": measure(lambda target: Ours(target, Path(workspace)), "mindspore", options.seconds)}
    if not options.alone:
        python = python_with("tensorboard")
        assert python is not None
        rows["TensorBoard"] = measure(
            lambda target: TensorBoard(python, target), "tensorboard", options.seconds
        )
    wide = {}
    for tags in (5_000, 10_000):
        with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
            wide[tags] = many_tags(tags, Path(folder))
    text = report(rows, wide, options.seconds)
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
