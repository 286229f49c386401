"""``python -m benchmarks.hostile_stores``: memory that one pass over a hostile web server costs.

Each pass runs in a process of its own. Its peak is ``ru_maxrss``, in MiB. Written to
``benchmarks/results/hostile_stores.md``.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

RESULT: Final = Path(__file__).with_name("results") / "hostile_stores.md"
NAME: Final = "events.out.events.summary.1700000000.0.host_MS"
WHOLE: Final = 1 << 30  # bytes of an event file
BLOCK: Final = bytes(1 << 16)
KINDS: Final = {
    "idle": "nothing to read",
    "body": "an event file of 1 GiB, its body without end in place of a section",
    "listing": "a page of links without end",
    "deep": "a listing whose folders nest without end",
    "plain": "a server without ranges, event file of 1 GiB",
}
PASS: Final = """
import resource, sys, tempfile, threading, time
from pathlib import Path
from mindinsight.server.files.remote_store import RemoteStore
from mindinsight.server.ingest.mirrors import Mirror
stopping = threading.Event()
folder = Path(tempfile.mkdtemp()) / "remote" / "digest" / "runs"
mirror = Mirror(RemoteStore(sys.argv[1], stopping), folder, stopping)
began = time.monotonic()
mirror.sync()
copied = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
print(f"{peak} | {copied >> 20} | {time.monotonic() - began:.0f} | {mirror.error or 'none'}")
import shutil; shutil.rmtree(folder.parents[2])
"""


class Hostile(BaseHTTPRequestHandler):
    """A web server whose first folder names what it does."""

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(WHOLE))
        self.end_headers()

    def do_GET(self) -> None:
        kind = self.path.split("/")[1]
        self.send_response(200)
        self.end_headers()
        with suppress(BrokenPipeError, ConnectionResetError):
            for data in self.content(kind, self.path.endswith("/")):
                self.wfile.write(data)

    def content(self, kind: str, folder: bool) -> Iterator[bytes]:
        if not folder:
            sent = 0
            while kind != "plain" or sent < WHOLE:
                sent += len(BLOCK)
                yield BLOCK
        elif kind == "listing":
            number = 0
            while True:
                number += 1
                yield b'<a href="%d.npy">' % number
        elif kind == "deep":
            yield b"".join(b'<a href="%d%s/">' % (number, b"n" * 200) for number in range(100))
        elif kind != "idle":
            yield f'<a href="{NAME}">'.encode()

    def log_message(self, format: str, *args: object) -> None:
        pass


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hostile)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    lines = [
        "# Memory that a hostile store costs",
        "",
        f"{platform.machine()}, {os.cpu_count()} cores, CPython {platform.python_version()}; load"
        f" {', '.join(f'{load:.1f}' for load in os.getloadavg())} before. Made by",
        "`python -m benchmarks.hostile_stores`: one pass of the mirror over a web server on this machine,",
        "in a process of its own. Placeholders count as copied with their size.",
        "",
        "| the server sends | peak RSS (MiB) | copied (MiB) | seconds | what is said |",
        "|---|---:|---:|---:|---|",
    ]
    for kind, text in KINDS.items():
        url = f"http://127.0.0.1:{server.server_port}/{kind}"
        ran = subprocess.run([sys.executable, "-c", PASS, url], capture_output=True, text=True, check=True)
        lines.append(f"| {text} | {ran.stdout.strip()} |")
        print(lines[-1], flush=True)
    RESULT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    server.shutdown()


if __name__ == "__main__":
    main()
