"""Sounds: the message, and what add_value refuses."""

import io
import wave

import numpy as np
import pytest

from mindinsight.proto.summary_pb2 import Summary
from mindinsight.writer.encoding.kinds.audio import ENCODER


def test_samples_become_a_wav_file() -> None:
    message = Summary.Audio.FromString(ENCODER.serialised((np.array([0, 0.5, -1, 2]), 16000)))
    with wave.open(io.BytesIO(message.encoded)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (16000, 1, 2)
        assert np.frombuffer(file.readframes(4), "<i2").tolist() == [0, 16383, -32767, 32767]


def test_a_file_is_kept_as_it_is() -> None:
    assert Summary.Audio.FromString(ENCODER.serialised(b"OggS\0")).encoded == b"OggS\0"


@pytest.mark.parametrize("value", ["text", [1.0], (1.0,), None])
def test_what_is_no_sound_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="audio takes a pair"):
        ENCODER.serialised(value)


def test_facts() -> None:
    assert ENCODER.facts(Summary.Audio(encoded=b"abc")) == {"size": 3}
