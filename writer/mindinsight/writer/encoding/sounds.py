"""Sounds as WAV files of 16 bits."""

from __future__ import annotations

import io
import logging
import wave
from typing import Final, NamedTuple

import numpy as np

from mindinsight.writer.arrays import to_numpy

_LARGEST: Final = 32767
_log: Final = logging.getLogger(__name__)


class Sound(NamedTuple):
    """A WAV file and what is in it."""

    rate: int  # samples a second
    channels: int
    frames: int
    wav: bytes


def sound(value: object, rate: int) -> Sound:
    """One channel of samples within -1..1, ``rate`` a second; what is beyond is cut, NaN is silence.

    Raises TypeError for what is no numbers, ValueError unless it is one row of them.
    """
    if isinstance(rate, bool) or int(rate) != rate or rate <= 0:
        raise ValueError(f"sample_rate must be a whole number above zero, got {rate!r}")
    samples = to_numpy(value).values.squeeze()
    if samples.dtype.kind == "c":
        raise TypeError("a sound cannot hold complex numbers")
    if samples.ndim != 1 or not samples.size:
        raise ValueError(f"a sound is one row of samples, got shape {samples.shape}")
    numbers = np.nan_to_num(samples.astype(np.float64), nan=0.0)
    if np.abs(numbers).max() > 1:
        _log.warning("samples of a sound beyond -1..1 are cut")
    data = (numbers.clip(-1, 1) * _LARGEST).astype("<i2")
    file = io.BytesIO()
    with wave.open(file, "wb") as wav:
        wav.setnchannels(1)
        wav.setsampwidth(2)
        wav.setframerate(int(rate))
        wav.writeframes(data.tobytes())
    return Sound(int(rate), 1, data.size, file.getvalue())
