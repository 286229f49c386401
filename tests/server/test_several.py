"""A server over several base directories: every interface speaks of the same runs, and none leaves them."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from mindinsight.server.app import create_app
from mindinsight.server.settings import Settings
from mindinsight.server.settings.base_dirs import bases_of

from .conftest import DATA, wait_until_read

WEIGHTS = "tinynet-1.ckpt"


@pytest.fixture(scope="module")
def top(tmp_path_factory: pytest.TempPathFactory) -> Any:
    top = tmp_path_factory.mktemp("top")
    shutil.copytree(DATA / "lenet", top / "mine" / "lenet")
    shutil.copytree(DATA / "multi_rank", top / "users" / "ann" / "ranks")
    shutil.copytree(DATA / "landscape", top / "lab" / "landscape")
    dumps = DATA.parent / "dumps"
    shutil.copytree(dumps / "ms_sync_v2_0_names", top / "users" / "ann" / "dump")
    for folder in ("mine/weights", "users/ann", "beside"):
        (top / folder).mkdir(exist_ok=True)
        shutil.copy(dumps / "ckpt" / WEIGHTS, top / folder)
    (top / "lab" / "way_out").symlink_to(top / "beside")
    (top / "lab" / "link.ckpt").symlink_to(top / "beside" / WEIGHTS)
    return top


@pytest.fixture(scope="module")
def client(top: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    bases = bases_of([f"{top}/mine", f"lab={top}/lab", f"{top}/users/*", f"gone={top}/gone"])
    settings = Settings(bases, tmp_path_factory.mktemp("workspace"), workers=1, reload_interval=0.1)
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        wait_until_read(client, 7)
        yield client


RUNS = {"./mine/lenet", "./lab/landscape", "./ann", *(f"./ann/ranks/rank_{n}" for n in range(4))}


def fine(answer: Any) -> Any:
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_list_names_the_directories_and_their_runs(client: Any, top: Any) -> None:
    body = fine(client.get("/v2/runs"))
    runs = {run["id"]: run for run in body["runs"]}
    assert runs.keys() == RUNS
    assert (runs["./mine/lenet"]["name"], runs["./mine/lenet"]["job"]) == ("mine/lenet", "./mine/lenet")
    assert (runs["./ann/ranks/rank_1"]["job"], runs["./ann/ranks/rank_1"]["rank"]) == ("./ann/ranks", 1)
    assert {base["name"]: (base["path"], base["missing"]) for base in body["bases"]} == {
        "mine": (f"{top}/mine", False),
        "lab": (f"{top}/lab", False),
        "ann": (f"{top}/users/ann", False),
        "gone": (f"{top}/gone", True),
    }
    assert body["errors"] == [{"path": f"{top}/gone", "reason": "directory.missing"}]
    assert body["base_missing"] is False


def test_the_only_directory_is_told_without_a_name(samples: Any, tmp_path: Path) -> None:
    (base,) = fine(samples("lenet").get("/v2/runs"))["bases"]
    assert (base["name"], base["path"], base["missing"]) == ("", str(tmp_path / "base"), False)


def test_data_is_read_by_ids_that_begin_with_a_name(client: Any) -> None:
    query = {"tag": "loss/auto", "run": ["./mine/lenet", "./ann/ranks/rank_0"]}
    body = fine(client.get("/v2/scalar/series", params=query))
    assert [series["run"] for series in body["series"]] == query["run"]
    assert fine(client.get("/v2/runs/files", params={"run": "./ann/ranks/rank_3"}))["files"]
    assert client.get("/v2/runs/files", params={"run": "./lenet"}).status_code == 404


def test_the_old_interface_speaks_of_the_same_runs(client: Any) -> None:
    root = "/v1/mindinsight"
    jobs = fine(client.get(f"{root}/datavisual/train-jobs", params={"limit": 100}))
    assert {job["train_id"] for job in jobs["train_jobs"]} == RUNS
    assert jobs["name"] == "mine, lab, gone, ann"
    plugins = fine(client.get(f"{root}/datavisual/plugins", params={"train_id": "./mine/lenet"}))
    assert "loss/auto/scalar" in plugins["plugins"]["scalar"]
    scalars = {"train_id": "./mine/lenet", "tag": "loss/auto/scalar"}
    assert len(fine(client.get(f"{root}/datavisual/scalar/metadata", params=scalars))["metadatas"]) > 1
    lineage = fine(client.post(f"{root}/lineagemgr/lineages", json={}))
    assert "./mine/lenet" in {row["summary_dir"] for row in lineage["object"]}


def test_landscapes_and_lineage_come_from_all_directories(client: Any) -> None:
    listed = fine(client.get("/v2/tags", params={"kind": "landscape"}))["tags"]
    assert {run for tag in listed for run in tag["runs"]} == {"./lab/landscape"}
    assert {run["id"] for run in fine(client.get("/v2/runs"))["runs"] if run["lineage"]} >= {"./mine/lenet"}


def test_dumps_are_opened_in_their_directory(client: Any) -> None:
    (dump,) = fine(client.get("/v2/dump/list"))["dumps"]
    assert dump["id"] == "./ann/dump"
    assert fine(client.get("/v2/dump/tensors", params={"dump": "./ann/dump"}))
    session = {"session_type": "OFFLINE", "dump_dir": "./ann/dump"}
    number = fine(client.post("/v1/mindinsight/debugger/sessions", json=session))
    fine(client.post(f"/v1/mindinsight/debugger/sessions/{number}/delete"))
    for other in ("./mine/dump", "./dump", "./ann/../ann/dump", "./lab/way_out"):
        assert client.get("/v2/dump/tensors", params={"dump": other}).status_code == 404


def test_files_of_weights_are_found_in_all_directories(client: Any) -> None:
    listed = [checkpoint["id"] for checkpoint in fine(client.get("/v2/dump/checkpoints"))["checkpoints"]]
    tiny = [f"./mine/weights/{WEIGHTS}", f"./ann/{WEIGHTS}"]
    assert sorted(file for file in listed if file.endswith(WEIGHTS)) == sorted(tiny)
    assert "./mine/lenet/checkpoint/lenet-1_30.ckpt" in listed
    for file in tiny:
        checkpoint = fine(client.get("/v2/dump/checkpoint", params={"file": file}))
        assert (checkpoint["id"], bool(checkpoint["tensors"])) == (file, True)


@pytest.mark.parametrize(
    "file",
    [
        f"./beside/{WEIGHTS}",
        f"./mine/../beside/{WEIGHTS}",
        f"./../beside/{WEIGHTS}",
        f"./lab/way_out/{WEIGHTS}",
        "./lab/link.ckpt",
        f"./gone/{WEIGHTS}",
        f"./{WEIGHTS}",
        f"./mine/{{top}}/beside/{WEIGHTS}",
        f"./mine//{{top}}/beside/{WEIGHTS}",
        f"{{top}}/beside/{WEIGHTS}",
    ],
)
def test_no_way_leads_out_of_the_directories(client: Any, top: Any, file: str) -> None:
    assert (top / "beside" / WEIGHTS).is_file()
    answer = client.get("/v2/dump/checkpoint", params={"file": file.format(top=top)})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_checkpoint")


def test_notes_are_kept_by_the_names_of_the_directories(client: Any) -> None:
    for run, note in (("./mine/lenet", "one"), ("./ann/ranks/rank_0", "two")):
        fine(client.patch("/v2/runs/notes", json={"run": run, "note": note}))
    notes = {run["id"]: run["note"] for run in fine(client.get("/v2/runs"))["runs"]}
    assert (notes["./mine/lenet"], notes["./ann/ranks/rank_0"], notes["./ann"]) == ("one", "two", "")


def test_notes_and_views_stay_when_a_directory_is_added(tmp_path: Path, top: Any) -> None:
    def served(*texts: Any) -> TestClient:
        bases = bases_of([text.format(top) for text in texts])
        return TestClient(create_app(Settings(bases, tmp_path, workers=1)), base_url="http://127.0.0.1")

    run = "./mine/lenet"
    with served("{}/mine", "{}/gone") as client:
        wait_until_read(client, 1)
        fine(client.patch("/v2/runs/notes", json={"run": run, "note": "kept"}))
        fine(client.put("/v2/views", json={"name": "best", "view": "scalar", "query": f"runs={run}"}))
    with served("{}/mine", "{}/gone", "{}/lab") as client:
        wait_until_read(client, 2)
        assert {run["id"]: run["note"] for run in fine(client.get("/v2/runs"))["runs"]}[run] == "kept"
        assert [view["name"] for view in fine(client.get("/v2/views"))["views"]] == ["best"]


def test_notes_that_were_made_when_a_directory_was_alone_stay_with_it(tmp_path: Path, top: Any) -> None:
    def served(bases: Any) -> TestClient:
        return TestClient(create_app(Settings(bases, tmp_path, workers=1)), base_url="http://127.0.0.1")

    with served(top / "mine") as client:
        wait_until_read(client, 1)
        fine(client.patch("/v2/runs/notes", json={"run": "./lenet", "pinned": True}))
    with served(bases_of([f"old={top}/mine", f"{top}/lab"])) as client:
        wait_until_read(client, 2)
        runs = fine(client.get("/v2/runs"))["runs"]
        assert {run["id"]: run["pinned"] for run in runs} == {"./old/lenet": True, "./lab/landscape": False}
        fine(client.patch("/v2/runs/notes", json={"run": "./lab/landscape", "pinned": True}))
    with served(top / "mine") as client:
        wait_until_read(client, 1)
        assert [run["pinned"] for run in fine(client.get("/v2/runs"))["runs"]] == [False]


def test_health_counts_over_all_and_names_none(client: Any) -> None:
    health = fine(client.get("/health"))
    assert (health["runs"], health["base_missing"]) == (7, False)
    assert "mine" not in str(health) and str(Path("/users")) not in str(health)
