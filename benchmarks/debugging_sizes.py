"""How long the debugger's pages take to show what large experiments hold, in a real browser.

    python -m benchmarks.debugging_sizes

Seconds from the request of the page to its content, in headless Chromium at 1440 x 900, the first time after
the server has read the runs and the second. Writes ``benchmarks/results/debugging_sizes.md``.
"""

import re
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page, expect, sync_playwright

from benchmarks.graphs import graph_records
from mindinsight.writer import SummaryRecord
from tests.pages.screenshots import ROOT, chromium, serve

RESULTS = ROOT / "benchmarks" / "results" / "debugging_sizes.md"
PATIENCE = 120_000  # ms
DUMPED = 10_000  # tensors of one step


def write_base(base: Path) -> Path:
    rng = np.random.default_rng(0)

    def save(path: Path, count: int, seed: int) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        names = [f"layers.{n}.weight" for n in range(count)]
        tensors: dict[str, Any] = {
            name: rng.standard_normal(64).astype(np.float32) + seed / 99 for name in names
        }
        np.savez(path, **tensors)

    for number in range(2):
        save(base / "wide" / f"net-{number}.npz", 300, number)
    for number in range(1000):
        save(base / "long" / f"net-{number}.npz", 8, number)
    folder = base / "training" / "dump" / "rank_0" / "Net" / "0" / "0"
    folder.mkdir(parents=True)
    values = rng.standard_normal(16).astype(np.float32)
    for number in range(DUMPED // 2):
        stem = f"ReLU.Default_net_layer{number}_ReLU-op{number}.0.{number}.{1_600_000_000_000_000 + number}"
        np.save(folder / f"{stem}.input.0.DefaultFormat.npy", values)
        np.save(folder / f"{stem}.output.0.DefaultFormat.npy", np.maximum(values, 0))
    broken = folder / f"{stem}.output.0.DefaultFormat.npy"
    np.save(broken, np.full(16, np.nan, np.float32))
    with SummaryRecord(str(base / "training")) as record:
        for step in range(100):
            record.add_value("scalar", "loss", 1 / (1 + step), step=step)
    (base / "net").mkdir()
    records = b"".join(graph_records("mindspore", 20_000))
    (base / "net" / "events.out.events.summary.1700000000.0.net_MS").write_bytes(records)
    return base


def shows(text: str) -> Callable[[Page], None]:
    """Return a wait for a text."""
    return lambda page: expect(page.get_by_text(re.compile(text)).first).to_be_visible(timeout=PATIENCE)


PAGES: dict[str, tuple[str, Callable[[Page], None]]] = {
    "checkpoint of 300 tensors: statistics": (
        "checkpoint?m=tensors&file=./wide/net-1.npz",
        shows("300 tensors"),
    ),
    "two of them: what changed most": (
        "checkpoint?m=compare&file=./wide/net-0.npz&other=./wide/net-1.npz",
        shows("changed most"),
    ),
    "1,000 checkpoints of 8 tensors: 200 of them in the timeline": (
        "checkpoint?series=./long/net-%23.npz",
        shows("All values of the 8 tensors are finite in each"),
    ),
    "dump of 10,000 tensors: table": ("dump?dump=./training/dump", shows("10,000 tensors|10000 tensors")),
    "the same: first fault": ("dump?dump=./training/dump&tab=check", shows("ReLU-op4999")),
    "the same: explanation of its run": ("explain?run=training", shows("Found first on rank 0")),
    "graph of 20,000 operators": ("graph?run=./net", shows(r"9 × stage_1…9 \{20 × block\}")),
}


def measure(address: str, browser: Any, path: str, wait: Callable[[Page], None]) -> float:
    page = browser.new_page(viewport={"width": 1440, "height": 900}, locale="en-GB")
    page.goto(f"{address}preferences")  # so that the scripts are compiled
    began = time.perf_counter()
    page.goto(f"{address}{path}")
    wait(page)
    seconds = time.perf_counter() - began
    page.close()
    return seconds


def main() -> None:
    rows = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        address, server = serve(write_base(Path(folder) / "base"), Path(folder) / "workspace")
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        try:
            for name, (path, wait) in PAGES.items():
                first, again = (measure(address, browser, path, wait) for _ in range(2))
                rows.append(f"| {name} | {first:.1f} | {again:.1f} |")
                print(rows[-1], flush=True)
        finally:
            browser.close()
            server.terminate()
            server.wait(10)
            shutil.rmtree(folder, ignore_errors=True)
    head = "# The debugger with large experiments\n\nMade with `python -m benchmarks.debugging_sizes`."
    table = "| page | s, first | s, again |\n|---|---:|---:|\n" + "\n".join(rows)
    RESULTS.write_text(f"{head}\n\n{table}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
