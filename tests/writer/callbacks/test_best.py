"""KeepBest saves the network of the best evaluation."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.writer.callbacks import KeepBest, RunContext


def write(network: Any, path: Any, extra: Any) -> None:
    path.write_text(json.dumps({"network": repr(network), **extra}))


def names(directory: Any) -> Any:
    return sorted(path.name for path in directory.iterdir())


def evaluate(callback: Any, epoch: Any, metrics: Any) -> None:
    callback.on_eval_end(RunContext({"cur_epoch_num": epoch, "metrics": metrics, "network": f"net {epoch}"}))


@pytest.mark.parametrize(("mode", "epoch", "value"), [("max", 3, 0.8), ("min", 2, 0.4)])
def test_the_best_evaluation_is_kept(tmp_path: Path, mode: Any, epoch: Any, value: Any) -> None:
    best = KeepBest("acc", mode, tmp_path, "net", write)
    for number, accuracy in enumerate([0.5, 0.4, 0.8, 0.8, np.nan], start=1):
        evaluate(best, number, {"acc": np.float32(accuracy)})
    assert names(tmp_path) == ["net-best.ckpt"]
    content = json.loads((tmp_path / "net-best.ckpt").read_text())
    assert content["network"] == f"'net {epoch}'"
    assert (best.best_epoch, content["epoch_num"]) == (epoch, epoch)
    assert best.best == content["acc"] == pytest.approx(value)


def test_an_evaluation_without_the_metric_changes_nothing(tmp_path: Path) -> None:
    best = KeepBest("acc", directory=tmp_path, save=write)
    evaluate(best, 1, {"loss": 1.0})
    evaluate(best, 1, None)
    assert names(tmp_path) == []


def test_metrics_at_the_end_of_an_epoch_count_too(tmp_path: Path) -> None:
    best = KeepBest("acc", directory=tmp_path, save=write)
    best.on_train_epoch_end(RunContext({"cur_epoch_num": 4, "metrics": {"acc": 1.0}, "network": "net"}))
    assert best.best_epoch == 4


def test_a_wrong_mode_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'max' or 'min'"):
        KeepBest("acc", "best", tmp_path)  # type: ignore[arg-type]
