"""Ends of groups of runs, and whether they differ by more than chance."""

from pathlib import Path

import numpy as np
import pytest

import mindinsight
from mindinsight.server.curves.bands import Ended
from mindinsight.server.plugins.scalar.group_ends import end_claims, end_values, group_end
from mindinsight.writer import SummaryRecord


def test_a_run_that_ended_early_counts_as_its_mode_says(tmp_path: Path) -> None:
    for name, values in {"a": [3.0, 2.0, 1.0], "b": [5.0, 4.0], "c": [9.0, 8.0, np.nan]}.items():
        with SummaryRecord(str(tmp_path / name)) as record:
            for step, value in enumerate(values):
                record.add_value("scalar", "loss", value)
                record.record(step)
    summary = mindinsight.open(tmp_path)
    runs = [summary.run(f"./{name}") for name in "abc"]
    groups = [[(run, run.scalars["loss"].line()) for run in members] for members in (runs[:2], runs[2:])]
    modes: dict[Ended, list[list[float]]] = {
        "hold": [[1.0, 4.0], []],
        "drop": [[1.0], []],
        "common": [[2.0, 4.0], [8.0]],
    }
    for ended, expected in modes.items():
        assert end_values(groups, ended) == expected
    assert end_values([[], []], "hold") == [[], []]


def test_mean_and_deviation_of_few_values() -> None:
    assert group_end([1.0, 3.0]).mean == 2
    assert group_end([1.0, 3.0]).deviation == pytest.approx(np.sqrt(2))
    assert (group_end([1.0]).deviation, group_end([]).mean) == (None, None)


@pytest.mark.parametrize(
    ("ends", "criteria", "expected"),
    [
        ([[1.0, 1.1, 1.2, 0.9, 1.05], [2.0, 2.1, 1.9, 2.2, 2.05]], 1, ["ends_differ"]),
        ([[1.0, 1.1, 1.2, 0.9, 1.05], [2.0, 2.1, 1.9, 2.2, 2.05]], 20, ["ends_few"]),
        ([[1.0, 2.1, 1.2, 1.9, 1.05], [2.0, 1.1, 1.95, 1.0, 2.05]], 1, ["ends_alike"]),
        ([[1.0, 1.1, 1.2], [2.0, 2.1, 1.9]], 1, ["ends_few"]),
        ([[1.0, 1.1, 1.2], []], 1, []),
    ],
)
def test_groups_differ_only_where_random_ones_rarely_do(
    ends: list[list[float]], criteria: int, expected: list[str]
) -> None:
    assert [claim.key.rpartition(".")[2] for claim in end_claims(ends, criteria)] == expected


def test_groups_of_noise_are_rarely_called_different() -> None:
    chance = np.random.default_rng(5)
    keys = [end_claims(chance.normal(size=(4, 8)).tolist())[0].key for _ in range(100)]
    assert keys.count("claim.group.ends_differ") <= 4
