import json
from pathlib import Path
from typing import Any

import pytest

from mindinsight.writer.collector import SummaryCollector
from mindinsight.writer.encoding import checkpoint_files


def collector(directory: Any, **landscape: Any) -> SummaryCollector:
    settings = {"intervals": [[1, 5, 10], [10, 15, 20]], **landscape}
    return SummaryCollector(str(directory), collect_specified_data={"collect_landscape": settings})


def test_weights_are_saved_at_the_numbers_asked_for(tmp_path: Path, loop: Any) -> None:
    network = loop.arguments["network"]
    loop.run(collector(tmp_path), at_step=network["scale"].fill)
    names = sorted(path.name for path in (tmp_path / "ckpt_dir").glob("*.ckpt"))
    assert names == sorted(f"dict_{number}_step.ckpt" for number in (1, 5, 10, 15, 20))
    assert checkpoint_files.load(tmp_path / "ckpt_dir" / "dict_15_step.ckpt")["scale"].tolist() == [15]
    assert (tmp_path / "ckpt_dir").stat().st_mode & 0o777 == 0o700


def test_the_metadata_tell_where_they_are(tmp_path: Path, loop: Any) -> None:
    loop.run(collector(tmp_path, landscape_size=5, num_samples=7))
    metadata = json.loads((tmp_path / "ckpt_dir" / "train_metadata.json").read_text())
    files = metadata.pop("model_params_file_map")
    assert files["5"] == str(tmp_path / "ckpt_dir" / "dict_5_step.ckpt")
    assert metadata == {
        "epoch_group": {"0": [1, 5, 10], "1": [10, 15, 20]}, "step_per_epoch": 10, "unit": "step",
        "num_samples": 7, "landscape_size": 5, "create_landscape": {"train": True, "result": False},
    }  # fmt: skip


def test_epochs_are_counted_when_asked_for(tmp_path: Path, loop: Any) -> None:
    loop.run(collector(tmp_path, unit="epoch", intervals=[[1, 2, 3]]), epoch_num=3)
    assert (tmp_path / "ckpt_dir" / "dict_3_epoch.ckpt").exists()


def test_a_training_that_ends_early_says_what_is_missing(
    tmp_path: Path, loop: Any, caplog: pytest.LogCaptureFixture
) -> None:
    loop.run(collector(tmp_path), epoch_num=1)
    metadata = json.loads((tmp_path / "ckpt_dir" / "train_metadata.json").read_text())
    assert metadata["epoch_group"] == {"0": [1, 5, 10]}
    assert "ended before" in caplog.text


def test_without_a_landscape_nothing_is_saved(tmp_path: Path, loop: Any) -> None:
    loop.run(SummaryCollector(str(tmp_path)))
    assert not (tmp_path / "ckpt_dir").exists()
