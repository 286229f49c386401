"""Texts: every step, rendered, searched and compared, of our writer and of TensorBoard's."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from mindinsight.server.app import create_app
from mindinsight.server.http.responses import decode
from mindinsight.server.settings import Settings
from mindinsight.writer import SummaryRecord
from tests.server.conftest import wait_until_read

TFEVENTS = Path(__file__).parents[2] / "data" / "tfevents" / "runs"
TEXTS = ("# One\n\nfirst line\nold", "# Two\n\nfirst line\nnew <b>NEEDLE</b>", "# Three\n\nfirst line\nnew")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Any]:
    base = tmp_path / "base"
    with SummaryRecord(str(base / "ours")) as record:
        for step, text in enumerate(TEXTS, 5):
            record.add_value("text", "note", text)
            record.record(step)
    shutil.copytree(TFEVENTS / "torch", base / "torch")
    shutil.copytree(TFEVENTS / "tensors", base / "tensors")
    settings = Settings(summary_base_dir=base, workspace=tmp_path / "workspace", reload_interval=0)
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        wait_until_read(client, 6)
        yield client


def ask(client: Any, what: Any, tag: str = "note", run: str = "./ours", **query: Any) -> Any:
    return client.get(f"/v2/text/{what}", params={"run": run, "tag": tag, **query})


def test_every_step_is_there_as_it_was_recorded(client: Any) -> None:
    assert decode(ask(client, "steps").json()["step"]).tolist() == [5, 6, 7]
    answers = [ask(client, "content", row=row).json() for row in range(3)]
    assert [answer["source"] for answer in answers] == list(TEXTS)
    assert answers[1]["tree"][1] == ["p", {}, ["first line", "\n", "new <b>NEEDLE</b>"]]
    assert not answers[1]["cut"]


def test_texts_of_torch_and_tensorflow_are_texts(client: Any) -> None:
    tags = client.get("/v2/tags", params={"kind": "text"}).json()["tags"]
    (note,) = (tag["tag"] for tag in tags if tag["tag"].startswith("note/"))
    answer = ask(client, "content", note, "./torch", row=1).json()
    assert answer["source"] == "# Step 1\n\na **bold** `word`"
    assert ask(client, "content", "note", "./tensors/train", row=2).json()["source"] == "step 2"
    table = ask(client, "content", "table", "./tensors/train", row=0).json()["tree"]
    assert table[0][0] == "table"
    assert table[0][2][-1][2][0][2] == [["td", {}, ["a"]], ["td", {}, ["b|c"]]]


def test_search_ignores_case_and_shows_what_stands_around(client: Any) -> None:
    answer = ask(client, "search", q="needle").json()
    assert [(hit["row"], hit["step"]) for hit in answer["hits"]] == [(1, 6)]
    assert "new <b>NEEDLE</b>" in answer["hits"][0]["excerpt"]
    assert answer["searched"] == answer["count"] == 3
    assert ask(client, "search", q=".*").json()["hits"] == []
    assert ask(client, "search", q="").status_code == 422


def test_difference_of_two_steps(client: Any) -> None:
    answer = ask(client, "difference", row=0, other=2).json()
    assert answer["steps"] == [5, 7]
    assert answer["lines"] == [
        ["-", "# One"], ["+", "# Three"], [" ", ""], [" ", "first line"], ["-", "old"], ["+", "new"],
    ]  # fmt: skip


def test_unknown_rows_tags_and_runs_are_told(client: Any) -> None:
    for run, tag, row in (("./ours", "note", 3), ("./ours", "x", 0), ("./x", "note", 0)):
        assert ask(client, "content", tag, run, row=row).status_code == 404
