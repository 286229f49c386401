import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from mindinsight.writer.ranks import device_of, directory_of, rank_of

RUN = Path("/runs/a")


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, (0, 1)),
        ({"RANK_ID": "3", "RANK_SIZE": "8"}, (3, 8)),
        ({"RANK": "1", "WORLD_SIZE": "2"}, (1, 2)),
        ({"SLURM_PROCID": "5", "SLURM_NTASKS": "6"}, (5, 6)),
        ({"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "4"}, (0, 4)),
        ({"PMI_RANK": "2", "PMI_SIZE": "3"}, (2, 3)),
        ({"RANK": "1"}, (0, 1)),
        ({"RANK": "one", "WORLD_SIZE": "2"}, (0, 1)),
        ({"RANK": "1", "WORLD_SIZE": "2", "SLURM_PROCID": "0", "SLURM_NTASKS": "1"}, (1, 2)),
    ],
)
def test_the_launcher_tells_the_rank(environment: Any, expected: Any) -> None:
    assert rank_of(environment) == expected


def test_each_of_several_processes_has_a_directory() -> None:
    assert directory_of(RUN, None, {"RANK": "1", "WORLD_SIZE": "2"}) == RUN / "rank_1"


def test_a_lone_process_needs_none() -> None:
    assert directory_of(RUN, None, {"RANK": "0", "WORLD_SIZE": "1"}) == RUN
    assert directory_of(RUN, None, {}) == RUN


def test_a_given_rank_counts() -> None:
    assert directory_of(RUN, 0, {}) == RUN / "rank_0"
    assert directory_of(RUN, 4, {"RANK": "1", "WORLD_SIZE": "2"}) == RUN / "rank_4"


def test_a_directory_already_named_for_a_rank_is_taken_as_it_is() -> None:
    assert directory_of(RUN / "rank_7", None, {"RANK": "1", "WORLD_SIZE": "2"}) == RUN / "rank_7"


TWO = [{"RANK_ID": str(number), "RANK_SIZE": "2"} for number in range(2)]


def test_a_directory_that_the_tutorial_named_after_its_rank_gets_no_second_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mindspore", ModuleType("mindspore"))
    for number, environment in enumerate(TWO):
        directory = tmp_path / f"summary_dir{number}"  # "summary_dir" + str(get_rank())
        assert directory_of(directory, None, environment) == directory
    (tmp_path / "summary_dir1" / "rank_1" / "rdr").mkdir(parents=True)  # left by a run that failed
    assert directory_of(tmp_path / "summary_dir1", None, TWO[1]) == tmp_path / "summary_dir1"
    assert directory_of(tmp_path / "summary_dir1", None, TWO[0]) == tmp_path / "summary_dir1" / "rank_0"
    assert directory_of(tmp_path / "summary_dir11", 1, {}) == tmp_path / "summary_dir11" / "rank_1"


def test_a_name_that_all_ranks_share_and_that_ends_in_a_number_is_no_ranks_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert directory_of(tmp_path / "run1", None, TWO[1]) == tmp_path / "run1" / "rank_1"
    monkeypatch.setitem(sys.modules, "mindspore", ModuleType("mindspore"))
    (tmp_path / "run1" / "rank_0").mkdir(parents=True)
    assert directory_of(tmp_path / "run1", None, TWO[1]) == tmp_path / "run1" / "rank_1"


@pytest.mark.parametrize("name", ["rank1", "job-device_1", "npu-1", "GPU1"])
def test_a_word_for_ranks_before_the_number_says_so_in_every_framework(name: str) -> None:
    assert directory_of(RUN / name, None, TWO[1]) == RUN / name
    assert directory_of(RUN / name, None, TWO[0]) == RUN / name / "rank_0"


@pytest.mark.parametrize(
    ("rank", "environment", "device"),
    [
        (None, {}, 0),
        (None, {"DEVICE_ID": "3"}, 3),
        (2, {"DEVICE_ID": "3"}, 2),
        (None, {"DEVICE_ID": "x"}, 0),
        (None, {"DEVICE_ID": "0", "RANK": "9", "WORLD_SIZE": "16"}, 9),
    ],
)
def test_the_number_in_the_name_is_rank_or_device(rank: Any, environment: Any, device: int) -> None:
    assert device_of(rank, environment) == device
