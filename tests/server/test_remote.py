"""A server over a store: every kind of event files is shown as from a directory. Real S3: tests/remote."""

import shutil
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

import fsspec
import httpx2
import pytest
from fastapi.testclient import TestClient

from mindinsight.server.app import create_app
from mindinsight.server.settings import Settings
from mindinsight.server.settings.base_dirs import bases_of
from tests.remote.answers import answers, copy_runs, lineages, wait_until_read

Serve = Callable[..., AbstractContextManager[TestClient]]
DUMPS = Path(__file__).parents[1] / "data" / "dumps"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stores") / "runs"
    copy_runs(folder)
    return folder


@pytest.fixture
def serve(tmp_path: Path) -> Serve:
    """serve(text of a base directory) -> client, once everything is read (with ``read``)."""

    @contextmanager
    def over(text: str, read: bool = True) -> Iterator[TestClient]:
        workspace = tmp_path / "workspace"
        settings = Settings(bases_of([f"lab={text}"], workspace), workspace, workers=1, reload_interval=0.2)
        with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
            if read:
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


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dump of each of two layouts, and checkpoints."""
    folder = tmp_path_factory.mktemp("dumps") / "runs"
    for name in ("msprobe_pytorch/mix_tensor_2ranks", "ms_sync_v2_0_names", "ckpt"):
        shutil.copytree(DUMPS / name, folder / name)
    return folder


@pytest.mark.parametrize("kind", ["file", "zip"])
def test_dumps_and_checkpoints_are_those_of_a_directory(
    serve: Serve, dumps: Path, tmp_path: Path, kind: str
) -> None:
    url = f"file://{dumps}"
    if kind == "zip":
        url = f"zip://::file://{shutil.make_archive(str(tmp_path / 'dumps'), 'zip', dumps)}"
    with serve(str(dumps), read=False) as client:
        expected = look_at_dumps(client)
    with serve(url, read=False) as client:
        assert look_until_complete(client, expected) == expected
    assert len(expected) == 9


def look_until_complete(client: TestClient, expected: object) -> dict[str, object]:
    """Look again while files of the store are still being copied: a dump is shown as it grows."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with suppress(httpx2.HTTPStatusError):  # of a step or a tensor whose file has not come yet
            if (seen := look_at_dumps(client)) == expected:
                return seen
        time.sleep(0.2)
    return look_at_dumps(client)


def look_at_dumps(client: TestClient) -> dict[str, object]:
    """Tensors with statistics, first faults and values of dumps, and tensors of checkpoints."""
    end = time.monotonic() + 120
    dumps: list[str] = []
    files: list[str] = []
    while (len(dumps), len(files)) != (2, 3) and time.monotonic() < end:
        dumps = [dump["id"] for dump in client.get("/v2/dump/list").json()["dumps"]]
        files = [file["id"] for file in client.get("/v2/dump/checkpoints").json()["checkpoints"]]
        time.sleep(0.02)
    seen: dict[str, object] = {}
    for dump in dumps:
        step: dict[str, Any] = {"dump": dump, "rank": 0, "step": 0}
        rows = ask_until_done(client, "tensors", step)["rows"]
        seen[f"{dump} tensors"] = rows
        seen[f"{dump} fault"] = client.get("/v2/dump/fault", params=step).raise_for_status().json()
        tensor = {name: rows[-1][name] for name in ("graph", "operator", "direction", "slot")}
        values = client.get("/v2/dump/values", params=step | tensor)
        seen[f"{dump} values"] = values.raise_for_status().json()
    for file in files:
        seen[file] = ask_until_done(client, "checkpoint", {"file": file})
    return seen


def ask_until_done(client: TestClient, what: str, params: dict[str, Any]) -> dict[str, Any]:
    end = time.monotonic() + 120  # of a machine that has much else to do
    while time.monotonic() < end:
        answered = client.get(f"/v2/dump/{what}", params=params).raise_for_status()
        answer: dict[str, Any] = answered.json()
        if answer["done"]:
            return answer
        time.sleep(0.02)
    raise TimeoutError(f"{what} of {params} was not done in 120 s")
