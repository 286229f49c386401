"""How long a point takes from the file to an answer, while 50 runs grow by 20 events a second each."""

from __future__ import annotations

import base64
import http.client
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import numpy as np

from benchmarks import workloads
from benchmarks.servers import Ours

RUNS, EVERY, SECONDS = 50, 0.05, 20.0
WATCHED = "run_07"


def write(base: Path, seconds: float) -> None:
    """Append a step to every run, again and again; the wall time of a step is the time it is written."""
    paths = sorted(base.glob("*/events.*"))
    began = time.time()
    for step in range(2, int(seconds / EVERY)):
        time.sleep(max(began + step * EVERY - time.time(), 0))
        for path in paths:
            workloads.append_step(path, step, time.time(), "mindspore")


def measure() -> tuple[list[float], float]:
    """Seconds from writing each step of one run to having it, and the server's share of a core."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        base = Path(folder) / "base"
        for number in range(RUNS):
            run = base / f"run_{number:02}"
            workloads.write_run(run, workloads.scalar_run(number, 10, 1, "mindspore"), "mindspore")
        with Ours(base, Path(folder) / "workspace") as server:
            server.wait(RUNS)
            writer = subprocess.Popen([sys.executable, "-m", "benchmarks.live", base, str(SECONDS)])
            before, began = server.cpu(), time.monotonic()
            delays = list(_delays(server, began + SECONDS - 1))
            share = (server.cpu() - before) / (time.monotonic() - began)
            writer.wait()
    return delays, share


def _delays(server: Ours, until: float) -> Iterator[float]:
    tag = quote("train/loss_1")
    count = generation = 0
    for changed in _changes(server.port):
        if time.monotonic() > until:
            return
        if f"./{WATCHED}" not in changed:
            continue
        path = f"/v2/scalar/tail?run={quote(f'./{WATCHED}')}&tag={tag}&since={count}&generation={generation}"
        answer = server.get(path)
        now, known = time.time(), count
        count, generation = answer["count"], answer["generation"]
        if known and not answer["whole"]:
            yield from (now - _column(answer["wall"])).tolist()


def _column(column: dict[str, str]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(column["bdata"]), column["dtype"])


def _changes(port: int) -> Iterator[str]:
    """Messages of the event stream."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/v2/events")
    answer = connection.getresponse()
    try:
        while line := answer.readline():
            if line.startswith(b"data:"):
                yield line.decode()
    finally:
        connection.close()


def main() -> None:
    delays, share = measure()
    p50, p95 = np.percentile(delays, [50, 95])
    print(f"{len(delays)} points: p50 {p50:.3f} s, p95 {p95:.3f} s; server {100 * share:.0f} % of a core")


if __name__ == "__main__":
    if sys.argv[1:]:
        write(Path(sys.argv[1]), float(sys.argv[2]))
    else:
        main()
