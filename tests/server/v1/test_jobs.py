"""Train jobs: lists, tags, and what is wrong with asking for them."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from mindinsight.proto.framing import encode_record
from mindinsight.proto.summary_pb2 import Event
from mindinsight.server.v1.jobs import NAMES
from tests.server.v1.conftest import DATA, ROOT, RUNS, Interface, code_of, fine, serving

JOBS = "datavisual/train-jobs"
CACHES = "datavisual/train-job-caches"


def ids(answer: Any) -> list[Any]:
    return [job["train_id"] for job in answer["train_jobs"]]


def test_all_jobs_are_listed(v1: Any) -> None:
    answer = v1.ok(JOBS, limit=999)
    assert answer["total"] == len(answer["train_jobs"]) == len(RUNS) + 1
    assert answer["name"].startswith("base")
    assert {job["cache_status"] for job in answer["train_jobs"]} == {"CACHED"}
    for job in answer["train_jobs"]:
        assert job["relative_path"] == job["train_id"]
        assert set(job["plugins"]) == set(NAMES)
    times = [job["update_time"] for job in answer["train_jobs"]]
    assert times == sorted(times, reverse=True)


def test_one_job(v1: Any) -> None:
    (job,) = v1.ok(JOBS, train_id="./lenet")["train_jobs"]
    assert (job["summary_files"], job["lineage_files"], job["graph_files"]) == (1, 2, 0)
    assert (job["profiler_dir"], job["profiler_type"], job["dump_dir"]) == (None, "", None)
    assert "graph_mode" not in job
    assert job["create_time"] < job["update_time"] or job["create_time"] > "2026"
    assert "loss/auto/scalar" in job["plugins"]["scalar"]


@pytest.mark.parametrize("train_id", ["./none", "lenet", "../base", "./../base", "/etc"])
def test_a_job_that_is_not_there_is_an_empty_list(v1: Any, train_id: str) -> None:
    answer = v1.ok(JOBS, train_id=train_id)
    assert (answer["total"], answer["train_jobs"]) == (0, [])


def test_offset_counts_pages(v1: Any) -> None:
    whole = ids(v1.ok(JOBS, limit=999))
    assert ids(v1.ok(JOBS, limit=3, offset=1)) == whole[3:6]
    assert ids(v1.ok(JOBS, offset=99)) == ids(v1.ok(JOBS, offset="9" * 30)) == []
    assert ids(v1.ok(JOBS, limit="5 ")) == ids(v1.ok(JOBS, limit=" +5")) == whole[:5]
    assert len(ids(v1.ok(JOBS))) == min(10, len(whole))


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"limit": "abc"}, "50540001"),
        ({"limit": "2.5"}, "50540001"),
        ({"limit": ""}, "50540001"),
        ({"limit": 0}, "50540002"),
        ({"limit": 1000}, "50540002"),
        ({"limit": "9" * 30}, "50540002"),
        ({"limit": "9" * 5000}, "50540001"),
        ({"offset": -1}, "50540002"),
        ({"offset": -1, "limit": "x"}, "50540002"),
        ({"limit": "x", "train_id": "./lenet"}, "50540001"),
    ],
)
def test_numbers_of_pages_are_checked(v1: Any, query: Any, code: str) -> None:
    assert v1.fault(JOBS, **query) == (400, code)


def test_a_flipped_byte_is_noticed(v1: Any) -> None:
    """The original did not verify checksums and served what they refute."""
    (job,) = v1.ok(JOBS, train_id="./flip_body_wall_time")["train_jobs"]
    assert job["is_integrity"] is False


def test_a_record_cut_off_keeps_nobody_waiting(v1: Any) -> None:
    """The original never finished such a job, nor any that came after it."""
    (job,) = v1.ok(JOBS, train_id="./cut_in_body")["train_jobs"]
    assert (job["cache_status"], job["is_integrity"]) == ("CACHED", False)
    assert job["plugins"]["scalar"]


def test_tags_of_a_job(v1: Any) -> None:
    plugins = v1.ok("datavisual/plugins", train_id="./lenet", manual_update="TRUE")["plugins"]
    assert set(plugins) == set(NAMES)
    assert plugins["image"] == ["Image/image", "input_data/auto/image"]
    assert all(tag.endswith(" (optimized)") for tag in plugins["optimized_graph"])
    (job,) = v1.ok("datavisual/single-job", train_id="./lenet", plugin_name="image")["train_jobs"]
    assert job == {"id": "./lenet", "name": "./lenet", "tags": plugins["image"]}
    assert v1.ok("datavisual/single-job", train_id="./pb", plugin_name="image")["train_jobs"][0]["tags"] == []


@pytest.mark.parametrize("train_id", ["../outside", "/etc", "./../outside", "./none", "outside", "./lenet/x"])
def test_nothing_outside_the_base_is_ever_read(v1: Any, base: Any, train_id: str) -> None:
    """The original left a reader behind for such a folder, and served it from then on."""
    assert (base.parent / "outside" / "secret.pb").exists()
    for _ in range(2):
        assert v1.fault("datavisual/plugins", train_id=train_id, manual_update="true") == (400, "50545005")
        assert v1.fault("datavisual/single-job", train_id=train_id, plugin_name="graph") == (400, "50545005")
        assert v1.fault("datavisual/graphs/nodes", train_id=train_id) == (400, "50545005")
    assert v1.post(CACHES, {"train_ids": [train_id]}).json() == {"cache_result": []}


def test_faults_of_tags(v1: Any) -> None:
    path = "datavisual/plugins"
    assert v1.fault(path) == v1.fault(path, train_id="") == (400, "50540003")
    assert v1.fault(path, train_id="./lenet", manual_update="1") == (400, "50540002")
    assert v1.fault(path, train_id="./a\0b") == (400, "50545011")
    single = "datavisual/single-job"
    assert v1.fault(single, train_id="./lenet") == (400, "50540003")
    assert v1.fault(single, plugin_name="none") == (400, "50540003")
    assert v1.fault(single, plugin_name="none", train_id="./none") == (400, "5054500B")
    assert v1.fault(single, plugin_name="image", train_id="./none") == (400, "50545005")


def test_caches_are_asked_for(v1: Any) -> None:
    answer = v1.sent(CACHES, {"train_ids": ["./lenet", "./none", "../x"]})
    assert answer == {"cache_result": [{"train_id": "./lenet", "cache_status": "CACHED"}]}


@pytest.mark.parametrize(
    ("body", "code"),
    [({}, "50540003"), ([], "50540003"), ({"train_ids": "x"}, "50540001"), ({"train_ids": [1]}, "50540001")],
)
def test_faults_of_caches(v1: Any, body: Any, code: str) -> None:
    assert code_of(v1.post(CACHES, body)) == (400, code)


def test_a_body_that_cannot_be_read(v1: Any) -> None:
    path = f"/v1/mindinsight/{CACHES}"
    assert code_of(v1.client.post(path)) == (400, "50540003")
    for content in (b"{", b"\xff", b"[" * 100_000, b'{"train_ids": [\xff]}'):
        answer = v1.client.post(path, content=content, headers={"content-type": "application/json"})
        assert code_of(answer) == (400, "50540003")
    other = v1.client.post(path, content=b'{"train_ids": []}', headers={"content-type": "text/plain"})
    assert code_of(other) == (400, "50540003")


def test_a_folder_with_nothing_but_a_profile_is_a_job(tmp_path: Path) -> None:
    profile = tmp_path / "base" / "run" / "profiler"
    profile.mkdir(parents=True)
    (profile / "profiler_info_0.json").touch()
    with serving(tmp_path / "base", tmp_path / "workspace") as client:
        (job,) = fine(client.get(f"{ROOT}/{JOBS}"))["train_jobs"]
    assert (job["train_id"], job["profiler_dir"], job["summary_files"]) == ("./run", "./profiler", 0)


@pytest.mark.parametrize(
    ("names", "kind", "mode"),
    [
        (["profiler_info_0.json", "ascend_timeline_display_0.json"], "ascend", "static"),
        (["profiler_info_0.json", "gpu_op_detail_info_3.csv"], "gpu", "static"),
        (["profiler_info_0.json", "gpu_op_detail_info_3.csv", "dynamic_shape_info_3.json"], "gpu", "dynamic"),
        (["profiler_info_0.json", "cpu_op_type_info_7.csv"], "cpu", "static"),
        (["profiler_info_0.json"], "", None),
        (["gpu_op_detail_info_3.csv"], "", None),
    ],
)
def test_the_folder_of_a_profiler_and_its_device(tmp_path: Path, names: Any, kind: str, mode: Any) -> None:
    shutil.copytree(DATA / "events" / "lenet", tmp_path / "base" / "run")
    (tmp_path / "base" / "run" / "profiler_a").mkdir()  # holds nothing, so it is not the one
    folder = tmp_path / "base" / "run" / "profiler_b"
    folder.mkdir()
    for name in names:
        (folder / name).touch()
    with serving(tmp_path / "base", tmp_path / "workspace") as client:
        (job,) = fine(client.get(f"{ROOT}/{JOBS}"))["train_jobs"]
    expected = "./profiler_b" if "profiler_info_0.json" in names else None
    assert (job["profiler_dir"], job["profiler_type"], job.get("graph_mode")) == (expected, kind, mode)


def test_a_run_that_cannot_be_loaded_is_no_job_for_data(tmp_path: Path) -> None:
    run = tmp_path / "base" / "run"
    run.mkdir(parents=True)
    shutil.copy(next((DATA / "events" / "lenet").glob("*_lineage")), run / "a.summary.1700000000_lineage")
    with serving(tmp_path / "base", tmp_path / "workspace") as client:
        v1 = Interface(client)
        job = {"train_id": "./run"}
        assert v1.ok(JOBS, **job)["total"] == 1
        assert not any(v1.ok("datavisual/plugins", **job)["plugins"].values())
        for path, query in (
            ("single-job", {"plugin_name": "scalar"}),
            ("scalar/metadata", {"tag": "loss/scalar"}),
            ("image/metadata", {"tag": "a/image"}),
            ("image/single-image", {"tag": "a/image", "step": 1}),
            ("histograms", {"tag": "a/histogram"}),
            ("tensors", {"tag": "a/tensor"}),
            ("graphs/nodes", {}),
            ("landscape/intervals", {}),
        ):
            assert v1.fault(f"datavisual/{path}", **job, **query) == (400, "50545005"), path
        (item,) = v1.ok("datavisual/landscape/landscapes", **job)["landscapes"]
        assert item["error_code"] == "50545005"
        assert v1.ok("datavisual/scalars", **job, tag="loss/scalar")["scalars"] == []


def test_what_cannot_be_read_has_the_code_of_its_kind(tmp_path: Path) -> None:
    run = tmp_path / "base" / "run"
    run.mkdir(parents=True)
    (run / "ms_output_optimize.pb").write_bytes(b"\xff" * 40)
    broken = Event(wall_time=1.0, step=1)
    broken.summary.value.add(tag="landscape").loss_landscape.landscape.z.dims.append(5)
    (run / "a.summary.1700000000").write_bytes(encode_record(broken.SerializeToString()))
    with serving(tmp_path / "base", tmp_path / "workspace") as client:
        v1 = Interface(client)
        assert v1.fault("datavisual/graphs/nodes", train_id="./run") == (400, "5054500C")
        assert v1.ok("datavisual/landscape/intervals", train_id="./run") == {"intervals": []}
        (item,) = v1.ok("datavisual/landscape/landscapes", train_id="./run", type="final")["landscapes"]
        assert item["error_code"] == "50545017"


LENET = {"train_id": "./lenet"}


@pytest.mark.parametrize(
    ("call", "tag", "code"),
    [
        ("scalar/metadata", "Image/image", "50540001"),
        ("scalars", "Image/image", "50540001"),
        ("image/metadata", "loss/auto/scalar", "5054500D"),
        ("histograms", "loss/auto/scalar", "5054500F"),
        ("tensors", "loss/auto/scalar", "50545012"),
    ],
)
def test_a_tag_of_another_kind(v1: Any, call: str, tag: str, code: str) -> None:
    assert v1.fault(f"datavisual/{call}", **LENET, tag=tag) == (400, code)
