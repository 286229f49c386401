"""Which settings win, and which are refused."""

from typing import Any

import pytest

from mindinsight.writer.callbacks import CheckpointConfig


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
