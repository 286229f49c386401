"""Ranks of one training are told from the names of folders and the device ids in the names of files."""

from mindinsight.server.ingest.discovery.ranks import job_ranks


def on(device: int, *runs: str) -> dict[str, frozenset[int]]:
    return {run: frozenset({device}) for run in runs}


def test_folders_named_for_ranks_belong_to_the_folder_above() -> None:
    runs = on(0, "./job/rank_0") | on(1, "./job/rank_1")
    assert job_ranks(runs) == {"./job/rank_0": ("./job", 0), "./job/rank_1": ("./job", 1)}


def test_numbered_siblings_are_ranks_where_the_files_have_their_numbers() -> None:
    runs = on(0, "./run0") | on(1, "./run1")
    assert job_ranks(runs) == {"./run0": ("./run", 0), "./run1": ("./run", 1)}
    experiments = on(0, "./run0", "./run1")
    assert job_ranks(experiments) == {"./run0": ("./run0", None), "./run1": ("./run1", None)}


def test_numbered_folders_with_a_folder_of_their_rank_are_one_job() -> None:
    runs = on(0, "./a/summary_dir0/rank_0") | on(1, "./a/summary_dir1/rank_1")
    assert job_ranks(runs) == {
        "./a/summary_dir0/rank_0": ("./a/summary_dir", 0),
        "./a/summary_dir1/rank_1": ("./a/summary_dir", 1),
    }


def test_numbered_folders_with_ranks_of_other_numbers_stay_jobs_of_their_own() -> None:
    runs = on(0, "./run0/rank_0", "./run1/rank_0") | on(1, "./run2/rank_1")
    assert {job for job, _ in job_ranks(runs).values()} == {"./run0", "./run1", "./run2"}
    whole = on(0, "./run0/rank_0", "./run1/rank_0") | on(1, "./run0/rank_1", "./run1/rank_1")
    assert {job for job, _ in job_ranks(whole).values()} == {"./run0", "./run1"}


def test_a_rank_whose_files_lie_beside_the_folders_of_the_others_is_of_their_job() -> None:
    runs = on(1, "./run1") | on(0, "./run1/rank_0") | on(2, "./run1/rank_2")
    assert job_ranks(runs)["./run1"] == ("./run1", 1)
    assert job_ranks(on(0, "./job", "./job/rank_0"))["./job"] == ("./job", None)
