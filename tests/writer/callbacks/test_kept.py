"""Which checkpoint files stay, and how prefixes keep out of each other's way."""

import pytest

from mindinsight.writer.callbacks.kept import KeptFiles, free_prefix


def left(directory, kept, times):
    for time in times:
        path = directory / f"{time:04}"
        path.touch()
        kept.add(path, time)
    return [int(path.name) for path in sorted(directory.iterdir())]


def test_the_newest_stay(tmp_path):
    assert left(tmp_path, KeptFiles(most=2, seconds=0), [10, 20, 30, 40]) == [30, 40]


def test_one_file_for_each_period_stays_and_the_newest(tmp_path):
    assert left(tmp_path, KeptFiles(0, seconds=60), [0, 20, 40, 70, 90, 150, 160]) == [0, 70, 150, 160]


def test_a_file_written_again_counts_once(tmp_path):
    kept = KeptFiles(most=2, seconds=0)
    assert left(tmp_path, kept, [10, 20]) == [10, 20]
    kept.add(tmp_path / "0010", 30)
    assert left(tmp_path, kept, [40]) == [10, 40]


def test_a_file_somebody_removed_is_no_error(tmp_path):
    kept = KeptFiles(most=1, seconds=0)
    left(tmp_path, kept, [10])
    (tmp_path / "0010").unlink()
    assert left(tmp_path, kept, [20]) == [20]


@pytest.mark.parametrize(
    ("files", "prefix"),
    [
        ([], "CKP"),
        (["CKP2-1_1.ckpt", "notes.txt", "xCKP-1_1.ckpt", "CKP-best.pt"], "CKP"),
        (["CKP-1_1.ckpt"], "CKP_1"),
        (["CKP-graph.meta"], "CKP_1"),
        (["CKP-1_1.ckpt", "CKP_1-2_1.ckpt", "CKP_9-2_1.ckpt"], "CKP_10"),
    ],
)
def test_a_prefix_in_use_gets_a_number(tmp_path, files, prefix):
    for name in files:
        (tmp_path / name).touch()
    assert free_prefix(tmp_path, "CKP") == prefix
