"""One odd name or value in a dump: it is shown as what it is, and every other row with it."""

import csv
import io
import json
import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from mindinsight.server.app import create_app, make_service
from mindinsight.server.settings import Settings
from tests.server.plugins.dump.conftest import DUMPS, ready

TENSOR = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "Max": 1.0, "Min": 0.0}


def call(**output: Any) -> dict[Any, Any]:
    return {"input_args": [TENSOR], "input_kwargs": {}, "output": [TENSOR | output]}


@pytest.fixture
def get(tmp_path: Path) -> Iterator[Any]:
    base = tmp_path / "base"
    sync = base / "sync"
    shutil.copytree(DUMPS / "ms_sync_v2_0_names", sync)
    file = next((sync / "rank_0" / "Net" / "0" / "0").glob("Conv2D.*output*"))
    file.rename(os.fsdecode(os.fsencode(file).replace(b"Conv2D-op51", b"Conv2D-\xff-op51")))
    rank = base / "torch" / "step0" / "rank0"
    rank.mkdir(parents=True)
    data = {
        "Torch.plain.0.forward": call(),
        "Torch.\ud800.0.forward": call(dtype="\udcff", md5="\ud800"),
        "Torch.shape.0.forward": call(shape=["\ud800", 2]),
        "Torch.file.0.forward": call(data_name="\udcff.npy"),
        "Torch.\n\u202e\x1b[31m.0.forward": call(Max="\ud800"),
    }
    (rank / "dump.json").write_text(json.dumps({"framework": "\ud800", "data": data}))
    (rank / "stack.json").write_text(
        json.dumps({"0": [["Torch.plain.0.forward"], ["File \ud800.py, line 3, in f, \n code"]]})
    )
    settings = Settings(base, tmp_path / "workspace", reload_interval=0.1)
    threads: Any = ThreadPoolExecutor(1)
    service = replace(make_service(settings), executor=threads)
    with TestClient(create_app(settings, service), base_url="http://127.0.0.1") as client:
        ready(lambda: len(client.get("/v2/dump/list").json()["dumps"]) == 2)

        def get(path: Any, **params: Any) -> Any:
            answer = client.get(f"/v2/dump/{path}", params=params)
            assert answer.status_code == 200, (path, answer.text)
            return answer.json()

        get.client = client  # type: ignore[attr-defined]
        yield get


@pytest.mark.parametrize(("dump", "rows"), [("./sync", 99), ("./torch", 10)])
def test_every_row_is_there(get: Any, dump: str, rows: int) -> None:
    ready(lambda: get("tensors", dump=dump)["done"])
    answer = get("tensors", dump=dump, limit=1000)
    assert len(answer["rows"]) == answer["total"] == rows
    assert get("fault", dump=dump)["coverage"]["tensors"] > 0
    for path in ("summary", "tree", "overflows"):
        get(path, dump=dump)
    for row in answer["rows"]:
        if row["recorded"].isprintable() and row["recorded"].isascii():
            get("operator", dump=dump, recorded=row["recorded"], graph=row["graph"])


@pytest.mark.parametrize(("dump", "rows"), [("./sync", 99), ("./torch", 10)])
def test_every_row_is_compared_and_written(get: Any, dump: str, rows: int) -> None:
    side = {"dump": dump, "rank": 0, "step": 0}
    begun = get.client.post("/v2/dump/compare", json={"target": side, "reference": side})
    number = begun.json()["comparison"]
    ready(lambda: get(f"compare/{number}")["done"])
    assert get(f"compare/{number}", limit=1000)["compared"] == rows
    report = get.client.get(f"/v2/dump/compare/{number}/csv")
    assert report.status_code == 200
    assert len(list(csv.reader(io.StringIO(report.text)))) == 1 + rows
    checked = get.client.post("/v2/dump/check", json={"dump": dump}).json()["check"]
    ready(lambda: get(f"check/{checked}")["done"])
    assert get(f"check/{checked}")["error"] == ""
