"""One server for all tests of the package, over copies of the samples."""

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from mindinsight.server.app import create_app, make_service
from mindinsight.server.settings import Settings
from tests.waiting import until

DATA = Path(__file__).parents[2] / "data"
ROOT = "/v1/mindinsight"
RUNS = (
    "lenet",
    "landscape",
    "record_api/values",
    "record_api/images",
    "record_api/lineage_and_graph",
    "damaged/flip_body_wall_time",
    "damaged/cut_in_body",
)


@contextmanager
def serving(base: Any, workspace: Any, **settings: Any) -> Iterator[Any]:
    """A client of a server over a base directory, once everything in it has been read."""
    chosen = Settings(base, workspace, workers=1, reload_interval=0.1, **settings)
    threads: Any = ThreadPoolExecutor(1)
    service = replace(make_service(chosen), executor=threads)
    with TestClient(create_app(chosen, service), base_url="http://127.0.0.1") as client:
        until(lambda: client.get(f"{ROOT}/datavisual/train-jobs").json()["load_status"] == "loaded")
        yield client


class Interface:
    """Calls below /v1/mindinsight."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def get(self, path: Any, **query: Any) -> Any:
        return self.client.get(f"{ROOT}/{path}", params=query)

    def post(self, path: Any, body: Any = None, **query: Any) -> Any:
        return self.client.post(f"{ROOT}/{path}", json=body, params=query)

    def ok(self, path: Any, **query: Any) -> Any:
        return fine(self.get(path, **query))

    def sent(self, path: Any, body: Any = None) -> Any:
        return fine(self.post(path, body))

    def fault(self, path: Any, **query: Any) -> Any:
        return code_of(self.get(path, **query))


def fine(answer: Any) -> Any:
    assert answer.status_code == 200, answer.text
    return answer.json()


def code_of(answer: Any) -> tuple[Any, Any]:
    """Status and code of an answer that is a fault in the form all faults have."""
    body = answer.json()
    assert set(body) == {"error_code", "error_msg"}
    assert "/tmp" not in body["error_msg"]
    return answer.status_code, body["error_code"]


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A base directory with a run of every kind, and one folder that is no run."""
    base = tmp_path_factory.mktemp("base")
    for name in RUNS:
        shutil.copytree(DATA / "events" / name, base / Path(name).name)
    (base / "empty").mkdir()
    (base / "pb").mkdir()
    shutil.copy(DATA / "graph" / "aggregated.pb", base / "pb" / "aggregated.pb")
    shutil.copy(DATA / "graph" / "conv_optimize.pb", base / "pb" / "ms_output_optimize.pb")
    (base.parent / "outside").mkdir(exist_ok=True)
    shutil.copy(DATA / "graph" / "aggregated.pb", base.parent / "outside" / "secret.pb")
    return base


@pytest.fixture(scope="package")
def v1(base: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with serving(base, tmp_path_factory.mktemp("workspace")) as client:
        yield Interface(client)
