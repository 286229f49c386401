"""Opens MindInsight 2.3.1's own pages, from its installed files, over our server, in Chromium.

    python tests/interop/v1_pages.py [folder for screenshots]

For each page: what it asked of the v1 interface, which answers were no success, errors of its scripts.
Exit code 1 when a page has an error, shows nothing, or asks for something that fails.
"""

from __future__ import annotations

import contextlib
import http.server
import shutil
import sys
import tempfile
import threading
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "v1"))

from playwright.sync_api import Browser, sync_playwright
from servers import API, DATA, ours, peer_environment, sample_base

OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
LOOK = 6000  # ms for a page to settle
PAGES = {
    "summary-manage": "",
    "train-manage/training-dashboard": "?id=.%2Flenet",
    "train-manage/scalar": "?train_id=.%2Flenet",
    "train-manage/image": "?train_id=.%2Flenet",
    "train-manage/histogram": "?train_id=.%2Flenet",
    "train-manage/tensor": "?train_id=.%2Flenet",
    "train-manage/graph": "?train_id=.%2Flenet",
    "train-manage/data-map": "?train_id=.%2Flenet",
    "train-manage/loss-analysis": "?train_id=.%2Flandscape",
    "model-traceback": "",
    "data-traceback": "",
    "compare-analysis": "",
    "offline-debugger": "?dir=.%2Fjob%2Fdump&sessionId=1",
}


def proxy(files: Path, address: str) -> http.server.ThreadingHTTPServer:
    """Serves the pages' own files, and hands calls of the interface to ``address``."""

    class Proxy(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *details: Any) -> None:
            super().__init__(*details, directory=str(files))

        def log_message(self, *details: Any) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            if self.path.startswith(API):
                self.hand_on()
            else:
                super().do_GET()

        def do_POST(self) -> None:
            self.hand_on()

        do_PUT = do_POST

        def hand_on(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length) if length else None
            request = urllib.request.Request(address + self.path, body, method=self.command)
            request.add_header("Content-Type", self.headers.get("Content-Type") or "application/json")
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    self.answer(answer.status, answer.headers, answer.read())
            except urllib.error.HTTPError as error:
                self.answer(error.code, error.headers, error.read())

        def answer(self, status: int, headers: Any, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", headers.get("Content-Type") or "text/plain")
            self.send_header("Content-Length", str(len(body)))
            with contextlib.suppress(BrokenPipeError):  # the browser went on to another page
                self.end_headers()
                self.wfile.write(body)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def look(browser: Browser, root: str, page_name: str, query: str, pictures: Path | None) -> bool:
    """Open one page; True when it shows something and nothing went wrong."""
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    answers: list[tuple[int, str]] = []
    errors: list[str] = []
    page.on(
        "response", lambda answer: answers.append((answer.status, answer.url)) if API in answer.url else None
    )
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{root}/#/{page_name}{query}")
    page.wait_for_timeout(LOOK)
    text = page.inner_text("body")
    if pictures is not None:
        page.screenshot(path=str(pictures / f"{page_name.replace('/', '_')}.png"))
    page.close()
    failed = [(status, url.partition(API)[2]) for status, url in answers if status >= 400]
    fine = not failed and not errors and len(text) > 20
    print(
        f"{'ok  ' if fine else 'FAIL'} {page_name}: {len(answers)} answers, {len(text)} characters",
        flush=True,
    )
    for failure in (*failed, *errors):
        print(f"       {failure}", flush=True)
    return fine


def main() -> int:
    pictures = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    files = next((peer_environment().parent / "lib").glob("python3*/site-packages/mindinsight/ui/dist"))
    with tempfile.TemporaryDirectory() as folder:
        base = sample_base(Path(folder) / "base", damaged=False)
        shutil.copytree(DATA / "dumps" / "ms_sync_v2_0_names", base / "job" / "dump")
        with ours(base, Path(folder) / "workspace") as server, sync_playwright() as playwright:
            dump = {"session_type": "OFFLINE", "dump_dir": "./job/dump"}
            server.ask("POST", "debugger/sessions", body=dump)
            own = proxy(files, server.address)
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
            root = f"http://127.0.0.1:{own.server_port}"
            results = [look(browser, root, name, query, pictures) for name, query in PAGES.items()]
            browser.close()
            own.shutdown()
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
