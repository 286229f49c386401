"""A server over a store: every kind of event files is shown as from a directory. Real S3: tests/remote."""

import shutil
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import fsspec
import pytest
from fastapi.testclient import TestClient

from mindinsight.server.app import create_app
from mindinsight.server.settings import Settings
from mindinsight.server.settings.base_dirs import bases_of
from tests.remote.answers import answers, copy_runs, lineages, wait_until_read

Serve = Callable[[str], AbstractContextManager[TestClient]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stores") / "runs"
    copy_runs(folder)
    return folder


@pytest.fixture
def serve(tmp_path: Path) -> Serve:
    """serve(text of a base directory) -> client, once everything is read."""

    @contextmanager
    def over(text: str) -> Iterator[TestClient]:
        workspace = tmp_path / "workspace"
        settings = Settings(bases_of([f"lab={text}"], workspace), workspace, workers=1, reload_interval=0.2)
        with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
            wait_until_read(client)
            yield client

    return over


@pytest.fixture(scope="module")
def expected(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[object, object]:
    """Answers and runs of a server over the directory itself."""
    settings = Settings(
        bases_of([f"lab={folder}"]), tmp_path_factory.mktemp("local"), workers=1, reload_interval=0.2
    )
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        wait_until_read(client)
        return answers(client), lineages(client)


@pytest.fixture(params=["memory", "zip", "file"])
def url(request: pytest.FixtureRequest, folder: Path, tmp_path: Path) -> str:
    """The runs in stores that fsspec brings along."""
    if request.param == "memory":
        url = f"memory://{uuid.uuid4().hex}/runs"
        fsspec.filesystem("memory").put(f"{folder}/", f"{url}/", recursive=True)
        return url
    if request.param == "zip":
        archive = shutil.make_archive(str(tmp_path / "runs"), "zip", folder)
        return f"zip://::file://{archive}"
    return f"file://{folder}"


def test_every_kind_is_shown_as_from_a_directory(
    serve: Serve, url: str, expected: tuple[dict[str, object], object]
) -> None:
    with serve(url) as client:
        assert answers(client) == expected[0]
        assert lineages(client) == expected[1]
        (base,) = client.get("/v2/runs").json()["bases"]
        assert (base["path"], base["watch"], base["missing"]) == (url, "polling", False)
    assert len(expected[0]) > 100


def test_notes_on_a_store_are_kept_under_its_url(serve: Serve, url: str) -> None:
    with serve(url) as client:
        changed = client.patch("/v2/runs/notes", json={"run": "./lab/lenet", "note": "kept"})
        assert changed.status_code == 200
    with serve(url) as client:
        notes = {run["id"]: run["note"] for run in client.get("/v2/runs").json()["runs"]}
        assert notes["./lab/lenet"] == "kept"


def test_the_list_of_runs_says_what_is_wrong_with_a_store(serve: Serve, folder: Path) -> None:
    url = f"memory://{uuid.uuid4().hex}/runs"
    files = fsspec.filesystem("memory")
    files.put(f"{folder}/", f"{url}/", recursive=True)
    with serve(url) as client:
        files.rm(url, recursive=True)
        end = time.monotonic() + 60
        while not (errors := client.get("/v2/runs").json()["errors"]) and time.monotonic() < end:
            time.sleep(0.05)
        assert errors == [{"path": url, "reason": "remote.gone"}]
        wait_until_read(client)  # everything is still there
