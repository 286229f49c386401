"""A page that charts a hundred runs: its first chart, the pointer over a chart, and what it asks while idle.

    python -m benchmarks.hundred_runs [--rounds 3]

Runs of 5 tags and 1 000 steps, all of them charted, in one browser after the other at servers that have read
everything. A move of the pointer is what the main thread of the page does for it, in wall milliseconds
of Chromium's own counters; nobody else may work on the machine. TensorBoard has the same runs in its own
files and charts all of them by default.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from playwright.sync_api import CDPSession, Page, sync_playwright

from benchmarks import workloads
from benchmarks.browser import ARGUMENTS, DRAWN, PAGES, PATIENCE, chromium, counted
from benchmarks.environments import python_with
from benchmarks.pages import many_runs
from benchmarks.servers import Ours, Server, TensorBoard

RESULTS = Path(__file__).with_name("results") / "hundred_runs.md"
GOALS = "1 s, 16 ms, one request a second"
MOVES = 60  # of the pointer
IDLE = 10  # seconds


@dataclass(frozen=True)
class Figures:
    """What one visit costs."""

    first_chart: float  # wall seconds
    move: float  # ms of the main thread
    requests: float  # a second, of an idle page

    def __str__(self) -> str:
        return f"{self.first_chart:.2f} | {self.move:.1f} | {self.requests:.1f}"


def visit(server: Server, runs: int) -> Figures:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        try:
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            _, addresses = counted(page, slow=False)
            every = f"?runs={','.join(f'run_{run}' for run in range(runs))}" if server.name == "ours" else ""
            began = time.perf_counter()
            page.goto(f"http://127.0.0.1:{server.port}/{PAGES[server.name]}{every}", timeout=PATIENCE)
            page.wait_for_function(DRAWN[server.name], timeout=PATIENCE)
            first_chart = time.perf_counter() - began
            page.wait_for_timeout(5000)
            session = page.context.new_cdp_session(page)
            session.send("Performance.enable")
            move = move_cost(page, session)
            page.mouse.move(5, 5)
            page.wait_for_timeout(1000)
            addresses.clear()
            page.wait_for_timeout(1000 * IDLE)
            return Figures(first_chart, move, len(addresses) / IDLE)
        finally:
            browser.close()


def busy(session: CDPSession) -> float:
    """Seconds for which the main thread has worked."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(float(metric["value"]) for metric in metrics if metric["name"] == "TaskDuration")


def move_cost(page: Page, session: CDPSession) -> float:
    """Milliseconds a move, from the middle of three series of moves over the first chart."""
    box = page.locator(".card .chart, line-chart").first.bounding_box()
    assert box is not None
    costs = []
    for _ in range(3):
        before = busy(session)
        for number in range(MOVES):
            x = box["x"] + box["width"] * (0.2 + 0.6 * number / MOVES)
            page.mouse.move(x, box["y"] + box["height"] / 2 + number % 9)
            page.wait_for_timeout(18)
        costs.append(1000 * (busy(session) - before) / MOVES)
    return statistics.median(costs)


def measure(runs: int, rounds: int, python: Path | None) -> dict[str, list[Figures]]:
    workloads.WORKLOADS["many_runs"] = many_runs
    measured: dict[str, list[Figures]] = {}
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder) / "workspace"
        starts: list[Callable[[], Server]] = [
            partial(Ours, workloads.folder("many_runs", "mindspore"), workspace)
        ]
        if python is not None:
            starts.append(partial(TensorBoard, python, workloads.folder("many_runs", "tensorboard")))
        for start in starts:
            with start() as server:
                server.wait(runs)
                measured[server.name] = [visit(server, runs) for _ in range(rounds)]
    return measured


def middle(visits: list[Figures]) -> Figures:
    columns = zip(*((seen.first_chart, seen.move, seen.requests) for seen in visits), strict=True)
    return Figures(*(statistics.median(column) for column in columns))


def report(measured: dict[str, list[Figures]], runs: int, rounds: int) -> str:
    rows = "\n".join(f"| {name} | {middle(visits)} |" for name, visits in measured.items())
    return f"""# A page that charts {runs} runs

Made with `python -m benchmarks.hundred_runs`: medians of {rounds} visits, each by a new browser. The goals
are {GOALS}.

{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()},
load average {os.getloadavg()[0]:.1f}

| | first chart, s | a move of the pointer, ms | requests a second, idle |
|---|---:|---:|---:|
{rows}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    text = report(measure(120, rounds, python_with("tensorboard")), 120, rounds)
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
