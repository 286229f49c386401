"""Sounds: samples of any shape that is one row."""

import numpy as np
import pytest

from mindinsight.writer.encoding.sounds import sound


def test_a_row_in_a_batch_is_a_sound_and_nan_is_silence() -> None:
    made = sound(np.array([[0.0, np.nan, 1.0]]), 8000)
    assert (made.rate, made.channels, made.frames) == (8000, 1, 3)
    assert np.frombuffer(made.wav[-6:], "<i2").tolist() == [0, 0, 32767]


@pytest.mark.parametrize("rate", [0, -1, 0.5, True])
def test_a_rate_is_a_whole_number_above_zero(rate: int) -> None:
    with pytest.raises(ValueError, match="sample_rate"):
        sound([0.0], rate)
