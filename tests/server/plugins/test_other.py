"""What is recorded and not drawn: meshes, other plugins, embeddings beside the files."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.server.plugins.media import TFEVENTS, client_of


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    run = tmp_path / "base" / "torch"
    shutil.copytree(TFEVENTS / "torch", run)
    (tmp_path / "base" / "secret").write_text("12345")
    (run / "table.tsv").write_text("1\t2\n")
    paths = ("table.tsv", "../secret", "/etc/hostname", "missing.tsv")
    blocks = [
        f'embeddings {{ tensor_name: "words:{at}" tensor_path: "{path}" }}' for at, path in enumerate(paths)
    ]
    (run / "projector_config.pbtxt").write_text("\n".join(blocks))
    shutil.copytree(TFEVENTS / "x", tmp_path / "base" / "x")
    with client_of(tmp_path / "base", tmp_path / "workspace") as client:
        yield client


def test_meshes_and_embeddings_are_listed_with_steps_and_sizes(client: TestClient) -> None:
    mesh, *embeddings = client.get("/v2/other/list", params={"run": "./torch"}).json()["rows"]
    assert (mesh["plugin"], mesh["tag"], mesh["count"]) == ("mesh", "mesh_VERTEX", 1)
    assert (mesh["first_step"], mesh["last_step"]) == (0, 0)
    assert mesh["size"] > 4 * 3 * 4
    assert [(row["plugin"], row["tag"], row["first_step"]) for row in embeddings] == [
        ("projector", "words", step) for step in range(4)
    ]


def test_no_file_beside_the_run_is_looked_at(client: TestClient) -> None:
    _, *embeddings = client.get("/v2/other/list", params={"run": "./torch"}).json()["rows"]
    assert [row["size"] for row in embeddings] == [4, None, None, None]


def test_a_run_without_any_has_no_rows(client: TestClient) -> None:
    assert client.get("/v2/other/list", params={"run": "./x"}).json()["rows"] == []
    assert client.get("/v2/other/list", params={"run": "./none"}).status_code == 404
