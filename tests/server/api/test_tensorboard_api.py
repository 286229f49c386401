"""TensorBoard's interface for scripts, beside what tensorboard 2.21 answered over the same files.

``tests/data/tfevents/answers.json`` holds its answers, by address, without a limit reached.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from mindinsight.server.app import create_app
from mindinsight.server.settings import Settings
from tests.server.conftest import wait_until_read

DATA = Path(__file__).parents[2] / "data" / "tfevents"
ANSWERS = json.loads((DATA / "answers.json").read_text())


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    workspace = tmp_path_factory.mktemp("workspace")
    settings = Settings(DATA / "runs", workspace, reload_interval=0)
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        wait_until_read(client, len({path.parent for path in (DATA / "runs").rglob("*tfevents*")}))
        yield client


@pytest.mark.parametrize("address", [address for address in ANSWERS if "/scalars/scalars" in address])
def test_points_are_those_of_tensorboard(client: Any, address: Any) -> None:
    answer, expected = client.get(address), ANSWERS[address]
    if "nope" in address:
        assert [answer.status_code, answer.text] == expected
    elif "format=csv" in address:
        assert answer.text.splitlines() == expected.splitlines()
    else:
        assert answer.json() == expected


def test_runs_and_tags_are_those_of_tensorboard(client: Any) -> None:
    assert sorted(client.get("/data/runs").json()) == sorted(ANSWERS["/data/runs"])
    assert client.get("/data/runs").json()[-2:] == ANSWERS["/data/runs"][-2:]  # those that started later
    tags, expected = client.get("/data/plugin/scalars/tags").json(), ANSWERS["/data/plugin/scalars/tags"]
    assert tags["torch"].pop("exact")  # float64, which TensorBoard's own loader leaves out
    assert tags == expected


def test_the_base_itself_is_the_run_named_by_a_dot(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    source = next((DATA / "runs" / "purged").glob("*.0"))
    (tmp_path / "base" / source.name).write_bytes(source.read_bytes())
    settings = Settings(tmp_path / "base", tmp_path / "workspace", reload_interval=0)
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        assert client.get("/data/runs").json() == ["."]
        points = client.get("/data/plugin/scalars/scalars", params={"run": ".", "tag": "loss"}).json()
        assert [step for _, step, _ in points] == list(range(10))


def test_where_the_data_lie_is_told(client: Any) -> None:
    assert client.get("/data/environment").json()["data_location"] == str(DATA / "runs")
