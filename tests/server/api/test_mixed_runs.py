"""Warnings that runs belong to different experiments."""

from pathlib import Path
from typing import Any

import mindinsight
from mindinsight.server.api.mixed_runs import mixed_claims
from mindinsight.writer import SummaryRecord


def keys(base: Path, runs: list[tuple[dict[str, Any], list[str]]]) -> list[str]:
    for number, (settings, tags) in enumerate(runs):
        with SummaryRecord(str(base / f"run{number}")) as record:
            record.add_value("custom_lineage_data", "user", {"lr": 0.1, **settings})
            for tag in tags:
                record.add_value("scalar", tag, 1.0)
            record.record(1)
    summary = mindinsight.open(base)
    claims = mixed_claims([summary.run(f"./run{number}") for number in range(len(runs))])
    return [claim.key.rpartition("mixed_")[2] for claim in claims]


def test_runs_with_other_scalars_or_another_data_set_are_named(tmp_path: Path) -> None:
    usual = ({"dataset": "cifar"}, ["loss", "acc", "lr"])
    assert keys(tmp_path / "a", [usual, usual, ({"dataset": "cifar"}, ["reward", "loss", "kl"])]) == [
        "scalars"
    ]
    assert keys(tmp_path / "b", [usual, usual, ({"dataset": "imagenet"}, usual[1])]) == ["setting"]


def test_one_more_scalar_and_paths_of_each_run_are_no_other_experiment(tmp_path: Path) -> None:
    runs = [
        ({"model": f"/models/{n}", "experiment": f"try-{n}"}, ["loss", "acc"] + ["val"] * n) for n in range(3)
    ]
    assert keys(tmp_path, runs) == []


def test_runs_with_mostly_other_settings_are_named_but_not_those_with_fewer(tmp_path: Path) -> None:
    usual = ({"decay": 0.1, "batch": 32, "seed": 1}, ["loss"])
    assert keys(tmp_path / "a", [usual, usual, ({"layers": 4, "seed": 1}, ["loss"])]) == ["settings"]
    assert keys(tmp_path / "b", [usual, usual, ({}, ["loss"])]) == []


def test_of_two_runs_none_is_the_rest_and_other_names_are_no_other_experiment(tmp_path: Path) -> None:
    ours: tuple[dict[str, Any], list[str]] = {}, ["train/loss", "val/loss", "lr"]
    theirs: tuple[dict[str, Any], list[str]] = {}, ["reward", "kl", "entropy"]
    assert [key.rpartition(".")[2] for key in keys(tmp_path / "a", [ours, theirs])] == ["unlike_scalars"]
    assert keys(tmp_path / "b", [ours, ({}, ["loss/train", "eval/loss", "learning_rate"])]) == []
    assert keys(tmp_path / "c", [ours, ({}, ["train/loss"])]) == []
