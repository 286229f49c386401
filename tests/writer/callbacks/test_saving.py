"""A network is saved by a function of the user's or by its framework."""

import types
from pathlib import Path
from typing import Any

import pytest

from mindinsight.writer.callbacks import CheckpointConfig, ModelCheckpoint, RunArguments, RunContext


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


def test_a_network_nobody_can_save_asks_for_a_function(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="give a save function: str is no network"):
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
    monkeypatch.setattr("mindinsight.writer.callbacks.saving.framework_of", lambda network: torch)
    train(ModelCheckpoint("net", tmp_path), 1)
    assert (tmp_path / "net-1_1.pt").read_text() == "net {}"
    with pytest.raises(ValueError, match="only MindSpore saves with crc_check, format"):
        train(ModelCheckpoint("x", tmp_path, CheckpointConfig(crc_check=True, format="safetensors")), 1)
