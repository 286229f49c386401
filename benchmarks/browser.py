"""First chart in the browser: wall time, requests and bytes, ours and TensorBoard's in turns.

    python -m benchmarks.browser [--rounds 3]

Each visit is a browser of its own with an empty profile, at a server that has read everything. A chart counts
as drawn when its axis has labels and its curves have points. The tunnel is Chromium's own emulation of a line
with 50 ms per answer and 10 Mbit/s. Chromium renders in software: there is no graphics card.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser, Page, Playwright, sync_playwright

from benchmarks import workloads
from benchmarks.environments import python_with
from benchmarks.servers import Ours, Server, TensorBoard

RESULTS = Path(__file__).with_name("results") / "browser.md"
PATIENCE: Final = 120_000  # ms for a chart
LATENCY: Final = 50  # ms until an answer begins
THROUGHPUT: Final = 10e6 / 8  # bytes/s each way
ARGUMENTS: Final = ["--no-sandbox", "--disable-gpu"]
# Text of an axis and a curve: SVG in our charts, which are sketched until somebody turns to them, and in
# TensorBoard's where there is no graphics card.
DRAWN: Final[Mapping[str, str]] = {
    "ours": "() => document.querySelector('.sketch text') && document.querySelector('.sketch .trace path')",
    "TensorBoard": """() => {
      const axis = document.querySelector('line-chart-axis text, line-chart-axis .tick');
      const shown = document.querySelector('line-chart .series-view, line-chart canvas, line-chart path');
      return axis && shown;
    }""",
}
PAGES: Final[Mapping[str, str]] = {"ours": "scalar", "TensorBoard": "#timeseries"}


@dataclass(frozen=True)
class Visit:
    """What it took until the first chart was drawn."""

    seconds: float
    requests: float
    megabytes: float  # as they came over the line

    def __str__(self) -> str:
        return f"{self.seconds:.2f}, {self.requests:.0f}, {self.megabytes:.2f}"


def visit(playwright: Playwright, server: Server, slow: bool) -> Visit:
    """One visit by a new browser."""
    browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
    try:
        return first_chart(browser, f"http://127.0.0.1:{server.port}/{PAGES[server.name]}", server.name, slow)
    finally:
        browser.close()


def first_chart(browser: Browser, address: str, name: str, slow: bool) -> Visit:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    sizes, requests = counted(page, slow)
    began = time.perf_counter()
    page.goto(address, wait_until="commit", timeout=PATIENCE)
    page.wait_for_function(DRAWN[name], timeout=PATIENCE)
    return Visit(time.perf_counter() - began, len(requests), sum(sizes) / 1e6)


def counted(page: Page, slow: bool) -> tuple[list[float], list[str]]:
    """Bytes and addresses of what the page gets from now on; over a slow line, if wanted."""
    sizes: list[float] = []
    addresses: list[str] = []
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.on("Network.requestWillBeSent", lambda event: addresses.append(event["request"]["url"]))
    session.on("Network.dataReceived", lambda event: sizes.append(event["encodedDataLength"]))
    if slow:
        line: dict[str, Any] = {"offline": False, "latency": LATENCY}
        session.send(
            "Network.emulateNetworkConditions",
            {**line, "downloadThroughput": THROUGHPUT, "uploadThroughput": THROUGHPUT},
        )
    return sizes, addresses


def medians(visits: list[Visit]) -> Visit:
    return Visit(
        *(
            statistics.median(getattr(each_visit, field.name) for each_visit in visits)
            for field in fields(Visit)
        )
    )


def measure(rounds: int, python: Path) -> dict[str, dict[str, Visit]]:
    """Medians by row and server, which take turns."""
    rows: dict[str, dict[str, Visit]] = {}
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        for workload, runs in (("eight_runs", 8), ("w2", 999)):
            begins: dict[str, Callable[[], Server]] = {
                "ours": partial(Ours, workloads.folder(workload, "mindspore"), Path(folder) / workload),
                "TensorBoard": partial(TensorBoard, python, workloads.folder(workload, "tensorboard")),
            }
            visits: dict[tuple[str, str], list[Visit]] = {}
            for name, begin in begins.items():
                with begin() as server:
                    server.wait(runs)
                    for _ in range(rounds):
                        for slow in (False, True):
                            row = f"{runs} runs{', tunnel' if slow else ''}"
                            visits.setdefault((row, name), []).append(visit(playwright, server, slow))
            for (row, name), measured in visits.items():
                rows.setdefault(row, {})[name] = medians(measured)
    return rows


def report(rows: dict[str, dict[str, Visit]], rounds: int) -> str:
    lines = "\n".join(
        f"| {row} | {visits['ours']} | {visits['TensorBoard']} |" for row, visits in sorted(rows.items())
    )
    return f"""# First chart in the browser

Made with `python -m benchmarks.browser`: medians of {rounds} visits of a browser with an empty profile, at a
server that has read everything; wall seconds until a chart has axis and curves, requests and MB until then.
The tunnel is Chromium's emulation of {LATENCY} ms per answer and 10 Mbit/s.

{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()},
load average {os.getloadavg()[0]:.1f}

| first chart: s, requests, MB | ours | TensorBoard |
|---|---:|---:|
{lines}
"""


def chromium() -> str:
    for name in ("chromium", "chromium-headless-shell", "google-chrome"):
        if path := shutil.which(name):
            return path
    raise FileNotFoundError("Chromium is needed: apt-get install chromium")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    python = python_with("tensorboard")
    if python is None:
        parser.error("TensorBoard cannot be installed here")
    text = report(measure(rounds, python), rounds)
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
