"""A graph of 20 000 operators in our page and in Google's Model Explorer, action by action, in one run.

    python -m benchmarks.graph_explorers

The seconds are those from an action until the window changes no more: it is photographed ten times a second,
and what has not changed for two seconds is settled. Both draw without a graphics card, Model Explorer by
WebGL in software. It reads JSON with the same names, scopes and edges.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from playwright.sync_api import Page, TimeoutError, sync_playwright

from benchmarks.browser import chromium
from benchmarks.environments import python_with
from benchmarks.graphs import graph_records, name_of, scope_of
from benchmarks.servers import Ours, free_port

RESULTS = Path(__file__).with_name("results") / "graph_explorers.md"
NODES: Final = 20_000
WANTED: Final = "MatMul-op10003"
SETTLED: Final = 2.0  # seconds without a change, and without a sign that something is awaited
AWAITED: Final = ".graph-waits:not([hidden]), mat-snack-bar-container, .mat-mdc-snack-bar-container"
PATIENCE: Final = 90.0
PHOTOGRAPH: Final = 0.2  # seconds that a photograph takes
ARGUMENTS: Final = ["--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader"]


def until_settled(page: Page, act: Callable[[], object]) -> float:
    """Seconds from an action to the last change of the window; infinite beyond the patience."""
    before = page.screenshot()
    began = time.perf_counter()
    act()
    changed, seen = began, before
    while time.perf_counter() - began < PATIENCE:
        start = time.perf_counter()
        try:
            picture = page.screenshot(timeout=1000 * PATIENCE)
        except TimeoutError:  # the page is frozen
            return float("inf")
        if picture != seen:
            changed, seen = start, picture
        elif page.locator(AWAITED).count():
            changed = start
        elif time.perf_counter() - changed > SETTLED and seen != before:
            return changed - began
        page.wait_for_timeout(100)
    return float("inf")


def ours(page: Page, base: Path, workspace: Path) -> dict[str, float]:
    (base / "run").mkdir(parents=True)
    record = b"".join(graph_records("mindspore", NODES))
    (base / "run" / "events.out.events.summary.1700000000.0.graph_MS").write_bytes(record)
    with Ours(base, workspace) as server:
        server.wait(1)
        page.goto("about:blank")
        address = f"http://127.0.0.1:{server.port}/graph"
        rows = {"first picture": until_settled(page, lambda: page.goto(address))}
        page.get_by_role("button", name="Fit to window").click()
        page.wait_for_timeout(1000)
        scope = page.locator("g.closed", has_text="9 × stage").first
        rows["expand one scope"] = until_settled(page, scope.dblclick)
        search = page.get_by_role("searchbox").first
        rows["search"] = until_settled(page, lambda: search.fill(WANTED))
        rows["jump to what was found"] = until_settled(page, lambda: search.press("Enter"))
        expand = page.get_by_role("button", name="Expand all", exact=True)
        rows["expand all"] = until_settled(page, expand.click)
        return rows


def model_explorer_json() -> str:
    """The same graph in the JSON of Model Explorer."""
    nodes = [
        {
            "id": str(node),
            "label": name_of(node).rsplit("/", 1)[-1],
            "namespace": scope_of(node),
            "incomingEdges": [
                {"sourceNodeId": str(source), "sourceNodeOutputId": "0", "targetNodeInputId": str(slot)}
                for slot, source in enumerate((node - 1, node - 2))
                if source >= 0
            ],
        }
        for node in range(NODES)
    ]
    return json.dumps({"label": "net", "graphs": [{"id": "net", "nodes": nodes}]})


@contextmanager
def model_explorer(python: Path, graph: Path) -> Iterator[str]:
    """Its server, and the address of the page that shows a file."""
    command = [str(python.with_name("model-explorer")), str(graph), "--no_open_in_browser"]
    log = graph.with_suffix(".log")
    with log.open("w") as output:
        server = subprocess.Popen([*command, f"--port={free_port()}"], stdout=output, stderr=output)
    try:
        end = time.monotonic() + 60
        while not (address := re.search(r"http://\S+", log.read_text())) and time.monotonic() < end:
            time.sleep(0.2)
        if address is None:
            raise RuntimeError("Model Explorer did not start")
        time.sleep(1)
        yield address[0]
    finally:
        server.terminate()
        server.wait()


def theirs(page: Page, python: Path, folder: Path) -> dict[str, float]:
    graph = folder / "net.json"
    graph.write_text(model_explorer_json(), encoding="utf-8")
    with model_explorer(python, graph) as address:
        page.goto("about:blank")
        rows = {"first picture": until_settled(page, lambda: page.goto(address))}
        opener = (488, 474)  # of the only box
        rows["expand one scope"] = until_settled(page, lambda: page.mouse.click(*opener))
        search = page.get_by_placeholder("Search").first
        rows["search"] = until_settled(page, lambda: search.fill(WANTED, timeout=1000 * PATIENCE))
        rows["jump to what was found"] = until_settled(
            page, lambda: page.get_by_text(WANTED).last.click(timeout=1000 * PATIENCE)
        )
        expand = page.get_by_text("unfold_more_double").first
        rows["expand all"] = until_settled(page, expand.click)
        return rows


def report(rows: dict[str, float], peer: dict[str, float]) -> str:
    def text(seconds: float | None) -> str:
        if seconds is None:
            return ""
        if seconds < PHOTOGRAPH:
            return f"< {PHOTOGRAPH}"
        return f"{seconds:.1f}" if seconds < PATIENCE else f"> {PATIENCE:.0f}"

    lines = "\n".join(f"| {name} | {text(rows[name])} | {text(peer.get(name))} |" for name in rows)
    return f"""# A graph of 20 000 operators: our page beside Model Explorer

Made with `python -m benchmarks.graph_explorers`: seconds from an action until the window changes no more.
Both without a graphics card, 1440 x 900. Our first picture shows the structure of the net down to a layer,
Model Explorer's one box. Expanded, each shows all operators and scopes.

{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores

| seconds | ours | Model Explorer 0.1.34 |
|---|---:|---:|
{lines}
"""


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    python = python_with("model-explorer")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        rows = ours(page, Path(folder) / "base", Path(folder) / "workspace")
        page.close()
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        text = report(rows, theirs(page, python, Path(folder)) if python else {})
        browser.close()
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
