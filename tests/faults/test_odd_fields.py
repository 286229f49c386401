"""Odd texts and numbers in every field of every recorded message: no route fails, all other rows are shown.

Routes and their parameters are those that the interface describes.
"""

import base64
import itertools
import json
import os
import runpy
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import pytest
from fastapi.testclient import TestClient

from mindinsight.server.app import create_app
from mindinsight.server.settings import Settings
from tests.thoroughness import amount, share

ODD = runpy.run_path(str(Path(__file__).with_name("odd_records.py")))
NAME = "events.out.events.summary.1700000000.0.host_MS"
KINDS = ("scalar", "image", "histogram", "tensor", "landscape", "graph", "alert")
PARTS = amount(4, 1)
LONGEST = 60_000  # characters in an address
ODD_NAMES = (
    b"bytes\xff\xfe", b"line\nbreak", b"\x1b[31mred", "\u202erun".encode(), b"=cmd", b"<b>", b"a?b#c%2f&d",
    b"x" * 255,
)  # fmt: skip
STEPS = ("0", "3", "8")
VALUES = {
    "row": STEPS, "step": STEPS, "node": ("Default", "Default/op1"), "name": ("Default",), "since": ("0",),
    "generation": ("0",), "px": ("0", "10"), "detail": ("data", "stats"), "dims": ("[:,:]",), "job": ("./a",),
    "overwritten": ("true",), "smooth": ("0.6",), "other_run": ("./good",), "baseline": ("./good",),
    "plugin_name": ("scalar",), "interval_id": ("1",), "type": ("final",), "q": ("op",), "regex": ("false",),
}  # fmt: skip
REFUSALS = (501, 503, 507)  # said on purpose


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A base with one good run and one for every field."""
    base = tmp_path_factory.mktemp("odd") / "base"
    runs = {"good": ODD["good_records"](), **{f"event.{name}": data for name, data in ODD["event_runs"]()}}
    lineages = {f"lineage.{name}": data for name, data in ODD["lineage_runs"]()}
    for name, content in (runs | dict.fromkeys(lineages, runs["good"])).items():
        (base / name).mkdir(parents=True)
        (base / name / NAME).write_bytes(content)
        if name in lineages:
            (base / name / f"{NAME}_lineage").write_bytes(lineages[name])
    for odd in ODD_NAMES:
        folder = os.fsencode(base) + b"/" + odd
        os.mkdir(folder)  # noqa: PTH102
        shutil.copy(os.fsencode(base / "good" / NAME), os.path.join(folder, os.fsencode(NAME)))  # noqa: PTH118
    settings = Settings(base, base.parent / "workspace", workers=1, watch="polling", max_runs=999)
    app = create_app(settings)
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        end = time.monotonic() + 120
        while not settled(client, len(runs) + len(lineages) + len(ODD_NAMES)) and time.monotonic() < end:
            time.sleep(0.1)
        yield client


def settled(client: Any, count: Any) -> Any:
    runs = client.get("/v2/runs").json()["runs"]
    return len(runs) == count and all(run["read"] >= run["total"] for run in runs)


def routes(app: Any) -> Iterator[Any]:
    """(path, names of parameters) of every described route that reads something of a run."""
    for prefix, interface in app.state.interfaces.items():
        for path, methods in interface.app().openapi()["paths"].items():
            parameters = methods.get("get", {}).get("parameters", [])
            names = {
                parameter["name"]: parameter["required"]
                for parameter in parameters
                if parameter["in"] == "query"
            }
            if names.keys() & {"run", "train_id"} and "dump" not in names:
                yield prefix + path, names


def tags_of(client: Any, run: Any) -> Any:
    answers = {kind: client.get("/v2/tags", params={"kind": kind, "run": run}).json() for kind in KINDS}
    return {kind: [row["tag"] for row in body["tags"]] for kind, body in answers.items() if body["tags"]}


def questions(client: Any, run: Any) -> Iterator[Any]:
    """Requests for everything that there is of a run: each route with each tag of its kind."""
    tags = tags_of(client, run)
    for path, names in routes(client.app):
        kind = next((kind for kind in KINDS if f"/{kind}" in path), None)
        if kind is not None and kind not in tags and kind != "alert":
            continue
        wanted = [name for name, required in names.items() if required or name in ("tag", "detail", "px")]
        values = {name: VALUES.get(name, ("x",)) for name in wanted}
        values |= dict.fromkeys({"run", "train_id"} & values.keys(), (run,))
        if "tag" in values:
            known = tags.get(kind or "scalar", [""])
            values["tag"] = tuple(tag for tag in known if len(tag) < LONGEST)
        for chosen in itertools.product(*values.values()):
            yield path, dict(zip(values, chosen, strict=True))


async def answers(app: Any, requests: Any) -> Any:
    """The answers, asked within the app's own loop, as they are thousands."""
    transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        return [(request, await client.get(request[0], params=request[1])) for request in requests]


@pytest.mark.parametrize("part", range(PARTS))
def test_every_route_answers_for_every_odd_field(client: Any, part: Any) -> None:
    runs = sorted(run["id"] for run in client.get("/v2/runs").json()["runs"])
    requests = [
        question
        for number, run in enumerate(runs[part::PARTS])
        for question in share(questions(client, run), 5, start=number % 5)
    ]
    assert len(requests) > 1000
    for request, answer in client.portal.call(answers, client.app, requests):
        assert answer.status_code < 500 or answer.status_code in REFUSALS, (request, answer.text[:300])
        if answer.headers.get("content-type", "").startswith("application/json"):
            json.loads(answer.content, parse_constant=pytest.fail)


def test_all_good_points_of_all_runs_are_shown(client: Any) -> None:
    runs = [run["id"] for run in client.get("/v2/runs").json()["runs"]]
    for first in range(0, len(runs), 20):
        some = runs[first : first + 20]
        answer = client.get("/v2/scalar/series", params={"tag": "loss", "run": some, "px": 0})
        values = {row["run"]: decoded(row["value"]) for row in answer.json()["series"]}
        assert values == {run: [*range(ODD["GOOD_STEPS"])] for run in some}


def decoded(column: Any) -> Any:
    return np.frombuffer(base64.b64decode(column["bdata"]), np.dtype(column["dtype"])).tolist()


def test_the_lineage_of_every_run_is_shown(client: Any) -> None:
    rows = {row["run"]: row for row in client.get("/v2/lineage/table").json()["rows"]}
    lineages = {f"./lineage.{name}" for name, _ in ODD["lineage_runs"]()}
    assert lineages <= rows.keys()
