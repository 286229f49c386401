"""Graphs: CPU seconds from bytes to the first picture, and frames while a person drags and zooms in Chromium.

``python -m benchmarks.graph`` prints Markdown. The drawing in the browser is measured twice on the same
picture of some 300 boxes and lines: as the page draws it (SVG, moved by a transform) and as Plotly draws the
figure of ``v2/graph/figure`` (shapes in data coordinates, lines as one trace).
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import socket
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import uvicorn
from playwright.sync_api import CDPSession, Page, sync_playwright

from benchmarks.browser import ARGUMENTS, chromium
from benchmarks.graphs import dumped, graph_records
from mindinsight.server.app import create_app
from mindinsight.server.debug.overlay.graph_join import join
from mindinsight.server.debug.overlay.graph_overlay import (
    count_symptoms,
    largest_below,
    leaf_column,
    symptoms,
)
from mindinsight.server.formats.events import decode
from mindinsight.server.graph.comparison.graph_comparison import compare
from mindinsight.server.graph.encoders.drawing_json import drawing_json
from mindinsight.server.graph.layout.nested import DrawingCache, draw
from mindinsight.server.graph.scopes.network_outline import choose_initial_scopes
from mindinsight.server.graph.scopes.scope_tree import ROOT, Tree
from mindinsight.server.graph.search import parse_query, query_nodes, trace
from mindinsight.server.plugins.graph.tree_cache import build
from mindinsight.server.settings import Settings

SIZES = (20_000, 100_000)
ELEMENTS = 300
ROUNDS = 3
MOVES = 80
RECORD = """() => {
  window.frames_ = [];
  let before = performance.now();
  const next = () => {
    const now = performance.now();
    window.frames_.push(now - before);
    before = now;
    window.handle_ = requestAnimationFrame(next);
  };
  window.handle_ = requestAnimationFrame(next);
}"""


def cpu(work: Callable[[], Any], rounds: int = ROUNDS) -> tuple[float, Any]:
    """The least CPU seconds of some rounds, and what came out."""
    least = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        result = work()
        least = min(least, time.process_time() - start)
    return least, result


def server_rows(nodes: int) -> dict[str, float]:
    """CPU seconds of each thing a request does, on a graph of so many operators."""
    record = b"".join(graph_records("mindspore", nodes))
    reference = decode(record, 0, True).references[0]
    offset, size = int(reference.offsets[0]), int(reference.sizes[0])
    opened, tree = cpu(lambda: build(record[offset : offset + size], False))
    first, places = cpu(lambda: choose_initial_scopes(tree))
    shown, drawing = cpu(lambda: json.dumps(drawing_json(tree, draw(tree, places))))
    cache = DrawingCache(tree)
    cache.draw(places)
    closed = [box["id"] for box in json.loads(drawing)["boxes"] if box["count"] and not box["open"]]
    expanded = [cpu(partial(cache.draw, [*places, path]), rounds=1)[0] for path in closed]
    last = len(tree.paths) - 1
    other = build(record[offset : offset + size], False)
    operators, answers = dumped(nodes)
    joining, joined = cpu(lambda: join(operators, tree.graph))
    laying, column = cpu(lambda: leaf_column(tree, joined.nodes, symptoms(answers)))
    boxes = [box["id"] for box in json.loads(drawing)["boxes"]]
    return {
        "megabytes": size / 1e6,
        "open": opened,
        "first picture": first + shown,
        "bytes to first picture": opened + first + shown,
        "expand a scope, slowest": max(expanded),
        "search a name": cpu(lambda: query_nodes(tree, parse_query("conv2d-op19")))[0],
        "trace upstream of the last node": cpu(lambda: trace(tree, last, "up"))[0],
        "compare with another graph": cpu(lambda: compare(tree, other))[0],
        "lay a dump of all operators over it, once": joining + laying,
        "colour the boxes of a picture": cpu(
            lambda: [(largest_below(tree, column, box), count_symptoms(tree, column, box)) for box in boxes]
        )[0],
    }


def scopes_for(tree: Tree, elements: int) -> list[int]:
    """Scopes to open, from the top down, so that about so many boxes and lines are drawn."""
    opened: list[int] = []
    waiting = [ROOT]
    while waiting:
        path = waiting.pop(0)
        for child in tree.children(path):
            if tree.nodes[child] < 0 and child not in opened:
                drawing = draw(tree, [*opened, child])
                if len(drawing.boxes) + len(drawing.lines) > elements:
                    return opened
                opened.append(child)
                waiting.append(child)
    return opened


@contextmanager
def serving(base: Path, workspace: Path) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = int(listening.getsockname()[1])
        app = create_app(Settings(base, workspace, port=port, workers=1))
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{port}/"
        finally:
            app.state.hub.close()
            server.should_exit = True
            thread.join()


@dataclass
class Frames:
    """What it cost to follow the pointer."""

    times: list[float]  # ms between frames
    work: float  # CPU seconds of the page's main thread


def frames(page: Page, act: Callable[[], None]) -> Frames:
    """Frames while something is done, and the main thread's own time, which other load does not change."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.evaluate(RECORD)
    before = worked(session)
    act()
    page.wait_for_timeout(100)
    spent = worked(session) - before
    times = page.evaluate("() => (cancelAnimationFrame(window.handle_), window.frames_.slice(1))")
    return Frames(times, spent)


def worked(session: CDPSession) -> float:
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration"))


def dragged(page: Page, middle: tuple[float, float]) -> Frames:
    def act() -> None:
        page.mouse.move(*middle)
        page.mouse.down()
        for move in range(MOVES):
            page.mouse.move(middle[0] + 3 * move, middle[1] + move)
        page.mouse.up()

    return frames(page, act)


def zoomed(page: Page, middle: tuple[float, float]) -> Frames:
    def act() -> None:
        page.mouse.move(*middle)
        for move in range(MOVES // 2):
            page.mouse.wheel(0, -40 if move % 20 < 10 else 40)

    return frames(page, act)


def plot(page: Page) -> None:
    """Cover the page with Plotly's drawing of the same picture."""
    page.evaluate(
        """async () => {
          const boot = JSON.parse(document.getElementById("boot").textContent);
          const figure = await (await fetch(`v2/graph/figure${location.search}`)).json();
          await new Promise((done) => {
            const script = document.createElement("script");
            Object.assign(script, { src: boot.plotly, onload: done });
            document.head.append(script);
          });
          const place = document.createElement("div");
          Object.assign(place.style, { position: "fixed", inset: "0", zIndex: "99" });
          document.body.replaceChildren(place);
          const size = { width: innerWidth, height: innerHeight };
          await Plotly.newPlot(place, figure.data, { ...figure.layout, ...size }, { scrollZoom: true });
        }"""
    )


def browser_rows() -> tuple[dict[str, Frames], int]:
    """Frames of both ways of drawing, and how many boxes and lines were drawn."""
    folder = Path(tempfile.mkdtemp())
    record = b"".join(graph_records("mindspore", 20_000))
    (folder / "base" / "run").mkdir(parents=True)
    (folder / "base" / "run" / "events.out.events.summary.1700000000.0.w4_MS").write_bytes(record)
    reference = decode(record, 0, True).references[0]
    offset = int(reference.offsets[0])
    tree = build(record[offset : offset + int(reference.sizes[0])], False)
    opened = scopes_for(tree, ELEMENTS)
    drawing = draw(tree, opened)
    rows = {}
    with serving(folder / "base", folder / "workspace") as address, sync_playwright() as playwright:
        while not json.load(urllib.request.urlopen(f"{address}v2/runs"))["runs"][:1]:
            time.sleep(0.1)
        browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        tag = "events.out.events.summary.1700000000.0.w4_MS"
        page.goto(f"{address}graph?run=./run&tag={tag}&open={','.join(map(str, opened))}")
        page.locator(".graph-drawing .box").first.wait_for()
        page.get_by_role("button", name="Fit to window").click()
        page.wait_for_timeout(500)
        rows["SVG, dragging"] = dragged(page, (60, 400))
        rows["SVG, zooming"] = zoomed(page, (500, 450))
        plot(page)
        rows["Plotly, dragging"] = dragged(page, (300, 400))
        rows["Plotly, zooming"] = zoomed(page, (700, 450))
        browser.close()
    shutil.rmtree(folder)
    return rows, len(drawing.boxes) + len(drawing.lines)


def main() -> None:
    figures = {nodes: server_rows(nodes) for nodes in SIZES}
    print(f"CPython {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    print("| CPU seconds | " + " | ".join(f"{nodes} operators" for nodes in SIZES) + " |")
    print("|---|" + "---:|" * len(SIZES))
    for name in figures[SIZES[0]]:
        print(f"| {name} | " + " | ".join(f"{figures[nodes][name]:.3f}" for nodes in SIZES) + " |")
    rows, elements = browser_rows()
    head = "main thread, CPU ms a move | ms a frame, median | 95 of 100 within | longest"
    print(f"\n| {elements} boxes and lines | {head} |")
    print("|---|---:|---:|---:|---:|")
    for name, cost in rows.items():
        moves = MOVES if "dragging" in name else MOVES // 2
        ordered = sorted(cost.times)
        late = ordered[int(len(ordered) * 0.95)]
        columns = (cost.work / moves * 1000, median(ordered), late, ordered[-1])
        print(f"| {name} | " + " | ".join(f"{column:.1f}" for column in columns) + " |")


if __name__ == "__main__":
    main()
