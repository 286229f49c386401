"""What file and folder names tell."""

from typing import Any

import pytest

from mindinsight.server.ingest.folder_tree import job_ranks
from mindinsight.server.store import file_names


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("events.out.events.summary.1596869898.0.host_MS", "summary"),
        ("events.out.events.summary.1596869898.hostname_MS", "summary"),
        ("xx_.out.events.summary.1795246615.0.host_yy", "summary"),
        ("summary.7", "summary"),
        ("events.out.events.summary.1596869898.0.host_lineage", "lineage"),
        ("events.out.events.summary.1596869898.0.host_explain", "explain"),
        ("ms_output_optimize.pb", "graph"),
        ("memory_usage_0.pb", None),
        ("events.out.tfevents.1596869898.host", "summary"),
        ("events.summary.host", None),
        (".events.out.events.summary.1596869898.0.host_MS.Xy12Zq", None),  # rsync has not finished it
    ],
)
def test_role(name: str, role: Any) -> None:
    assert file_names.role(name) == role


@pytest.mark.parametrize(
    ("name", "seconds"),
    [
        ("events.out.events.summary.1795246490.0.vm_MS", 1795246490.0),
        ("events.out.events.summary.1795246490123.0.vm_MS", 1795246490.0),
        ("events.out.events.summary.1795246490123456789.0.vm_MS", 1795246490.0),
        ("events.out.events.summary." + "9" * 200 + ".0.vm_MS", 999999999.0),
        ("graph.pb", None),
    ],
)
def test_created_takes_finer_times_as_seconds(name: Any, seconds: Any) -> None:
    assert file_names.created(name) == seconds


def test_files_are_ordered_by_number_and_not_by_text() -> None:
    ordered = ["summary.999.h", "summary.1000.h", "summary.1000.h_2", "summary.1000.h_10", "summary.2000.h"]
    assert sorted(set(ordered), key=file_names.order) == ordered


@pytest.mark.parametrize(
    ("name", "device"),
    [
        ("events.out.events.summary.1795246490.3.vm_MS", 3),
        ("events.out.events.summary.1795246490.hostname_MS", None),
        ("events.out.events.summary.1795246490.10.20.30.40_MS", 10),
    ],
)
def test_device(name: str, device: Any) -> None:
    assert file_names.device(name) == device


def test_a_name_that_is_not_text_is_shown_as_text() -> None:
    assert file_names.shown(b"r\xff".decode("utf-8", "surrogateescape")) == "r\\xff"


def ids(*numbers: Any) -> Any:
    return frozenset(numbers)


def test_rank_folders_belong_to_the_job_above() -> None:
    runs = ("./job/rank_0", "./job/rank_12", "./job/device3/log", "./x")
    ranks = job_ranks({run: ids(0) for run in runs})
    assert ranks == {
        "./job/rank_0": ("./job", 0),
        "./job/rank_12": ("./job", 12),
        "./job/device3/log": ("./job", 3),
        "./x": ("./x", None),
    }


def test_rank_folders_in_the_base_make_the_base_the_job() -> None:
    assert job_ranks({"./rank_0": ids(0), "./rank_1": ids(1)}) == {
        "./rank_0": ("./", 0),
        "./rank_1": ("./", 1),
    }


def test_numbered_siblings_are_ranks_when_their_files_say_so() -> None:
    ranks = job_ranks({"./a/job0": ids(0), "./a/job1": ids(1), "./a/job2": ids(2)})
    assert ranks == {f"./a/job{rank}": ("./a/job", rank) for rank in range(3)}


def test_numbered_experiments_stay_apart() -> None:
    runs = {f"./lr_{number}": ids(0) for number in range(3)}
    assert job_ranks(runs) == {run: (run, None) for run in runs}


def test_folders_that_are_only_numbers_belong_to_the_folder_around_them() -> None:
    for parent, job in (("./job/", "./job"), ("./", "./")):
        ranks = job_ranks({f"{parent}0": ids(0), f"{parent}1": ids(1)})
        assert ranks == {f"{parent}0": (job, 0), f"{parent}1": (job, 1)}
