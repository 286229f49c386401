"""When a network is saved and under which names; files are written by a function of the test's."""

import json
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindinsight.writer.callbacks import CheckpointConfig, KeepBest, ModelCheckpoint, RunArguments, RunContext
from mindinsight.writer.callbacks.checkpoints import CheckpointFiles, free_prefix
from mindinsight.writer.graph import GraphBuilder


def write(network: Any, path: Any, extra: Any) -> None:
    path.write_text(json.dumps({"network": repr(network), **extra}))


def names(directory: Any) -> list[Any]:
    return sorted(path.name for path in directory.iterdir())


def train(callback: Any, steps: Any, batch_num: int = 3, start: int = 0, **more: Any) -> Any:
    """A loop of ``steps`` steps that tells ``callback`` all; returns its arguments."""
    arguments = RunArguments(cur_step_num=start, batch_num=batch_num, network="net", **more)
    run = RunContext(arguments)
    with callback:
        callback.on_train_begin(run)
        for number in range(start + 1, start + steps + 1):
            arguments.update(cur_step_num=number, cur_epoch_num=(number - 1) // batch_num + 1)
            callback.on_train_step_end(run)
        callback.on_train_end(run)
    return arguments


def test_files_are_named_by_epoch_and_step_of_the_epoch(tmp_path: Path) -> None:
    callback = ModelCheckpoint("net", tmp_path / "new", CheckpointConfig(2), write)
    arguments = train(callback, 7)
    assert names(tmp_path / "new") == ["net-1_2.ckpt", "net-2_1.ckpt", "net-2_3.ckpt", "net-3_1.ckpt"]
    newest = str(tmp_path / "new" / "net-3_1.ckpt")
    assert callback.latest_ckpt_file_name == arguments.latest_ckpt_file == newest
    assert arguments.last_save_ckpt_step == 7


def test_a_last_step_that_is_saved_already_is_not_saved_again(tmp_path: Path) -> None:
    saved = []
    config = CheckpointConfig(3)
    callback = ModelCheckpoint("net", tmp_path, config, lambda *given: saved.append(given[1].name))
    train(callback, 6)
    assert saved == ["net-1_3.ckpt", "net-2_3.ckpt"]


def test_the_newest_files_are_kept(tmp_path: Path) -> None:
    train(ModelCheckpoint("net", tmp_path, CheckpointConfig(1, keep_checkpoint_max=2), write), 5)
    assert names(tmp_path) == ["net-2_1.ckpt", "net-2_2.ckpt"]


def test_saving_by_time(tmp_path: Path) -> None:
    seconds = iter(range(0, 1000, 10))
    config = CheckpointConfig(save_checkpoint_steps=0, save_checkpoint_seconds=25)
    train(ModelCheckpoint("net", tmp_path, config, write, clock=lambda: next(seconds)), 6, 6)
    # The clock is asked when made (0), at the begin (10), at each step and once more when a file is written.
    assert names(tmp_path) == ["net-1_3.ckpt", "net-1_6.ckpt"]


def test_the_prefix_can_depend_on_the_loop(tmp_path: Path) -> None:
    callback = ModelCheckpoint(lambda run: f"epoch{run.cur_epoch_num}", tmp_path, CheckpointConfig(3), write)
    train(callback, 6)
    assert names(tmp_path) == ["epoch1-1_3.ckpt", "epoch2-2_3.ckpt"]


def test_a_second_training_leaves_the_files_of_the_first(tmp_path: Path) -> None:
    for _ in range(2):
        train(ModelCheckpoint("net", tmp_path, CheckpointConfig(3), write), 3)
    assert names(tmp_path) == ["net-1_3.ckpt", "net_1-1_3.ckpt"]


def test_a_resumed_training_counts_on(tmp_path: Path) -> None:
    train(ModelCheckpoint("net", tmp_path, CheckpointConfig(2), write), 2, start=3)
    assert names(tmp_path) == ["net-2_2.ckpt"]


def test_what_is_asked_for_goes_into_the_file(tmp_path: Path) -> None:
    config = CheckpointConfig(append_info=["epoch_num", "step_num", {"lr": 0.1}], saved_network="other")
    train(ModelCheckpoint("net", tmp_path, config, write), 1)
    content = json.loads((tmp_path / "net-1_1.ckpt").read_text())
    assert content == {"network": "'other'", "epoch_num": 1, "step_num": 1, "lr": 0.1}


def test_a_graph_is_written_once(tmp_path: Path) -> None:
    graph = GraphBuilder("net")
    graph.output(graph.node("Relu", [graph.parameter("x", (2, 2))]))
    train(ModelCheckpoint("net", tmp_path, save=write), 2, train_network=graph)
    assert (tmp_path / "net-graph.meta").read_bytes() == graph.serialised()


@pytest.mark.parametrize(("enabled", "files"), [(True, ["net-1_2_breakpoint.ckpt"]), (False, [])])
def test_a_loop_that_raises_is_saved_when_asked(tmp_path: Path, enabled: bool, files: Any) -> None:
    callback = ModelCheckpoint("net", tmp_path, CheckpointConfig(9, exception_save=enabled), write)
    run = RunContext(RunArguments(cur_step_num=2, batch_num=3, network="net"))
    with pytest.raises(ZeroDivisionError), callback:
        callback.on_train_begin(run)
        _ = 1 / 0
    assert names(tmp_path) == files


@pytest.mark.parametrize("prefix", ["", "a/b", 3])
def test_a_bad_prefix_is_refused(tmp_path: Path, prefix: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        train(ModelCheckpoint(prefix, tmp_path, save=write), 1)


def test_a_config_of_another_type_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="CheckpointConfig, got dict"):
        ModelCheckpoint(directory=tmp_path, config={"save_checkpoint_steps": 1})  # type: ignore[arg-type]


def left(directory: Any, files: Any, times: Any) -> list[Any]:
    for time in times:
        path = directory / f"{time:04}"
        path.touch()
        files.add(path, time)
    return [int(path.name) for path in sorted(directory.iterdir())]


def test_the_newest_stay(tmp_path: Path) -> None:
    assert left(tmp_path, CheckpointFiles(most=2, seconds=0), [10, 20, 30, 40]) == [30, 40]


def test_one_file_for_each_period_stays_and_the_newest(tmp_path: Path) -> None:
    assert left(tmp_path, CheckpointFiles(0, seconds=60), [0, 20, 40, 70, 90, 150, 160]) == [0, 70, 150, 160]


def test_a_file_written_again_counts_once(tmp_path: Path) -> None:
    files = CheckpointFiles(most=2, seconds=0)
    assert left(tmp_path, files, [10, 20]) == [10, 20]
    files.add(tmp_path / "0010", 30)
    assert left(tmp_path, files, [40]) == [10, 40]


def test_a_file_somebody_removed_is_no_error(tmp_path: Path) -> None:
    files = CheckpointFiles(most=1, seconds=0)
    left(tmp_path, files, [10])
    (tmp_path / "0010").unlink()
    assert left(tmp_path, files, [20]) == [20]


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
def test_a_prefix_in_use_gets_a_number(tmp_path: Path, files: Any, prefix: str) -> None:
    for name in files:
        (tmp_path / name).touch()
    assert free_prefix(tmp_path, "CKP") == prefix


def test_the_defaults_are_mindspores() -> None:
    config = CheckpointConfig()
    assert (config.steps, config.seconds, config.keep_most, config.keep_minutes) == (1, 0, 5, 0)
    assert config.extra(1, 2) == {}
    assert config.mindspore_options == {}


def test_steps_win_over_seconds_and_a_maximum_over_minutes() -> None:
    config = CheckpointConfig(10, 20, 30, 40)
    assert (config.steps, config.seconds, config.keep_most, config.keep_minutes) == (10, 0, 30, 0)
    config = CheckpointConfig(0, 20, 0, 40)
    assert (config.steps, config.seconds, config.keep_most, config.keep_minutes) == (0, 20, 0, 40)


def test_without_a_rule_to_keep_one_file_is_kept() -> None:
    assert CheckpointConfig(1, keep_checkpoint_max=0).keep_most == 1
    assert CheckpointConfig(1, keep_checkpoint_max=None).keep_most == 1


@pytest.mark.parametrize("wrong", [-1, 1.5, True, "3"])
@pytest.mark.parametrize("name", ["save_checkpoint_steps", "keep_checkpoint_per_n_minutes"])
def test_a_number_that_is_none_is_refused(name: str, wrong: Any) -> None:
    with pytest.raises(ValueError, match=name):
        CheckpointConfig(**{name: wrong})


def test_four_zeros_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one of"):
        CheckpointConfig(0, 0, 0, 0)


@pytest.mark.parametrize(
    ("info", "error"),
    [(["loss"], ValueError), ([{}, {}], TypeError), ([3], TypeError), (["epoch_num", None], TypeError)],
)
def test_wrong_additions_are_refused(info: Any, error: Any) -> None:
    with pytest.raises(error, match="append_info"):
        CheckpointConfig(append_info=info)


def test_what_differs_from_mindspores_defaults_is_for_its_own_writer() -> None:
    config = CheckpointConfig(integrated_save=True, async_save=True, enc_key=b"k" * 16, format="safetensors")
    assert config.mindspore_options == {"async_save": True, "enc_key": b"k" * 16, "format": "safetensors"}


def test_an_unknown_argument_is_refused() -> None:
    with pytest.raises(TypeError, match="unknown arguments: compress"):
        CheckpointConfig(compress=True)


def names_of_best(directory: Any) -> Any:
    return sorted(path.name for path in directory.iterdir())


def evaluate(callback: Any, epoch: Any, metrics: Any) -> None:
    callback.on_eval_end(RunContext({"cur_epoch_num": epoch, "metrics": metrics, "network": f"net {epoch}"}))


@pytest.mark.parametrize(("mode", "epoch", "value"), [("max", 3, 0.8), ("min", 2, 0.4)])
def test_the_best_evaluation_is_kept(tmp_path: Path, mode: Any, epoch: Any, value: Any) -> None:
    best = KeepBest("acc", mode, tmp_path, "net", write)
    for number, accuracy in enumerate([0.5, 0.4, 0.8, 0.8, np.nan], start=1):
        evaluate(best, number, {"acc": np.float32(accuracy)})
    assert names_of_best(tmp_path) == ["net-best.ckpt"]
    content = json.loads((tmp_path / "net-best.ckpt").read_text())
    assert content["network"] == f"'net {epoch}'"
    assert (best.best_epoch, content["epoch_num"]) == (epoch, epoch)
    assert best.best == content["acc"] == pytest.approx(value)


def test_an_evaluation_without_the_metric_changes_nothing(tmp_path: Path) -> None:
    best = KeepBest("acc", directory=tmp_path, save=write)
    evaluate(best, 1, {"loss": 1.0})
    evaluate(best, 1, None)
    assert names_of_best(tmp_path) == []


def test_metrics_at_the_end_of_an_epoch_count_too(tmp_path: Path) -> None:
    best = KeepBest("acc", directory=tmp_path, save=write)
    best.on_train_epoch_end(RunContext({"cur_epoch_num": 4, "metrics": {"acc": 1.0}, "network": "net"}))
    assert best.best_epoch == 4


def test_a_wrong_mode_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'max' or 'min'"):
        KeepBest("acc", "best", tmp_path)  # type: ignore[arg-type]


def test_a_network_nobody_can_save_asks_for_a_function(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="give a save function: str is not a network"):
        train(ModelCheckpoint("net", tmp_path), 1)
    with pytest.raises(TypeError, match="named no network"):
        ModelCheckpoint(directory=tmp_path).on_train_step_end(RunContext({"cur_step_num": 1}))


def test_a_framework_saves_its_own_networks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = types.SimpleNamespace(
        SUFFIX=".pt",
        SAVE_OPTIONS=False,
        save=lambda network, path, extra, options: path.write_text(f"{network} {extra}"),
        trace=lambda network, inputs: None,
    )
    monkeypatch.setattr("mindinsight.writer.callbacks.checkpoints.framework_of", lambda network: torch)
    train(ModelCheckpoint("net", tmp_path), 1)
    assert (tmp_path / "net-1_1.pt").read_text() == "net {}"
    with pytest.raises(ValueError, match="only MindSpore saves with crc_check, format"):
        train(ModelCheckpoint("x", tmp_path, CheckpointConfig(crc_check=True, format="safetensors")), 1)
