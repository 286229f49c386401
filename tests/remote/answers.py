"""What a server answers of every kind of event files: the same from a store as from a directory."""

from __future__ import annotations

import hashlib
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient

DATA = Path(__file__).parents[1] / "data" / "events"
RUNS = ("lenet", "record_api/values", "landscape")
KINDS = ("scalar", "image", "histogram", "tensor", "graph", "landscape")
ASKED = {
    "scalar": ("v2/scalar/series", "v2/scalar/download"),
    "image": ("v2/image/steps", "v2/image/picture?row=0"),
    "histogram": ("v2/histogram/series",),
    "tensor": ("v2/tensor/steps", "v2/tensor/slice?row=0", "v2/tensor/download?row=0"),
    "graph": ("v2/graph/picture", "v2/graph/search?q=conv"),
    "landscape": (),
}


def copy_runs(folder: Path) -> None:
    """The runs of which everything is asked, in a folder."""
    for name in RUNS:
        shutil.copytree(DATA / name, folder / Path(name).name)


def wait_until_read(client: TestClient, seconds: float = 120) -> None:
    """Wait until all files of all runs are there and read; of a store they come one after the other."""
    files = [path for name in RUNS for path in (DATA / name).rglob("events.out.events.summary.*")]
    size = sum(path.stat().st_size for path in files)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        runs = client.get("v2/runs").json()["runs"]
        read = sum(run["read"] for run in runs)
        if len(runs) == len(RUNS) and read == size:
            return
        time.sleep(0.05)
    raise TimeoutError(f"{len(runs)} runs with {read} of {size} bytes were read in {seconds} s")


def answers(client: TestClient) -> dict[str, Any]:
    """Status and digest of the answer to every question, by question."""
    return {f"{path} {run} {tag}": _answer(client, path, run, tag) for path, run, tag in _questions(client)}


def lineages(client: TestClient) -> list[Any]:
    runs = client.get("v2/runs").json()["runs"]
    return sorted((run["id"], run["step"], str(run["metrics"]), run["damage"]) for run in runs)


def _questions(client: TestClient) -> Iterator[tuple[str, str, str]]:
    for kind in KINDS:
        for entry in client.get(f"v2/tags?kind={kind}").json()["tags"]:
            for run in entry["runs"]:
                for path in ASKED[kind]:
                    yield path, run, entry["tag"]


def _answer(client: TestClient, path: str, run: str, tag: str) -> tuple[int, str]:
    path, _, query = path.partition("?")
    params = dict(part.split("=") for part in query.split("&") if part)
    answer = client.get(
        path, headers={"Accept": "application/json"}, params={**params, "run": run, "tag": tag}
    )
    content = re.sub(rb'"generation":\d+', b"", answer.content)  # differs from server to server
    return answer.status_code, hashlib.sha256(content).hexdigest()
