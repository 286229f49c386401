from pathlib import Path

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
def test_the_launcher_tells_the_rank(environment, expected):
    assert rank_of(environment) == expected


def test_each_of_several_processes_has_a_directory():
    assert directory_of(RUN, None, {"RANK": "1", "WORLD_SIZE": "2"}) == RUN / "rank_1"


def test_a_lone_process_needs_none():
    assert directory_of(RUN, None, {"RANK": "0", "WORLD_SIZE": "1"}) == RUN
    assert directory_of(RUN, None, {}) == RUN


def test_a_given_rank_counts():
    assert directory_of(RUN, 0, {}) == RUN / "rank_0"
    assert directory_of(RUN, 4, {"RANK": "1", "WORLD_SIZE": "2"}) == RUN / "rank_4"


def test_a_directory_already_named_for_a_rank_is_taken_as_it_is():
    assert directory_of(RUN / "rank_7", None, {"RANK": "1", "WORLD_SIZE": "2"}) == RUN / "rank_7"


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
def test_the_number_in_the_name_is_rank_or_device(rank, environment, device):
    assert device_of(rank, environment) == device
