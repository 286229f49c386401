"""WAV files: the header, the peaks, and what is damaged or unknown."""

import io
import struct
import wave
from itertools import pairwise

import numpy as np
import pytest

from mindinsight.server.formats import wav as wav_module
from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.formats.wav import peaks, wav


def file_of(encoding: int, bits: int, samples: bytes, channels: int = 1, extra: bytes = b"") -> bytes:
    frame = channels * bits // 8
    form = struct.pack("<HHIIHH", encoding, channels, 8000, 8000 * frame, frame, bits) + extra
    chunks = b"LIST" + struct.pack("<I", 3) + b"odd\0" + b"fmt " + struct.pack("<I", len(form)) + form
    body = b"WAVE" + chunks + b"data" + struct.pack("<I", len(samples)) + samples
    return b"RIFF" + struct.pack("<I", len(body)) + body


def by_python(samples: np.ndarray, width: int, channels: int) -> bytes:
    sink = io.BytesIO()
    with wave.open(sink, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(44100)
        file.writeframes(samples.tobytes())
    return sink.getvalue()


def test_the_header_is_what_python_wrote() -> None:
    header = wav(by_python(np.zeros((30, 2), "<i2"), 2, 2))
    assert (header.rate, header.channels, header.bits, header.frames) == (44100, 2, 16, 30)
    assert (header.encoding, header.missing_bytes, header.seconds) == (1, 0, 30 / 44100)


@pytest.mark.parametrize(
    ("encoding", "bits", "samples"),
    [
        (1, 8, bytes([128, 192, 64, 0])),
        (1, 16, np.array([0, 1 << 14, -(1 << 14), -(1 << 15)], "<i2").tobytes()),
        (1, 24, b"\0\0\0" + b"\0\0\x40" + b"\0\0\xc0" + b"\0\0\x80"),
        (1, 32, np.array([0, 1 << 30, -(1 << 30), -(1 << 31)], "<i4").tobytes()),
        (3, 32, np.array([0, 0.5, -0.5, -1], "<f4").tobytes()),
        (3, 64, np.array([0, 0.5, -0.5, -1], "<f8").tobytes()),
    ],
)
def test_samples_of_every_width_are_shares_of_the_loudest(encoding: int, bits: int, samples: bytes) -> None:
    encoded = file_of(encoding, bits, samples)
    loud = peaks(encoded, wav(encoded), 4)
    assert loud.low.tolist() == loud.high.tolist() == [[0, 0.5, -0.5, -1]]
    halves = peaks(encoded, wav(encoded), 2)
    assert (halves.low.tolist(), halves.high.tolist()) == ([[0, -1]], [[0.5, -0.5]])


def test_an_extensible_header_names_its_encoding_further_back() -> None:
    extra = struct.pack("<HHI", 22, 32, 0) + struct.pack("<H", 3) + bytes(14)
    encoded = file_of(0xFFFE, 32, np.ones(2, "<f4").tobytes(), extra=extra)
    assert wav(encoded).encoding == 3
    assert peaks(encoded, wav(encoded), 1).high.tolist() == [[1.0]]


def test_peaks_are_those_of_the_samples_whatever_the_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = np.random.default_rng(1).integers(-30000, 30000, (1003, 2)).astype("<i2")
    encoded = by_python(samples, 2, 2)
    whole = peaks(encoded, wav(encoded), 70)
    monkeypatch.setattr(wav_module, "_PART", 31)
    parts = peaks(encoded, wav(encoded), 70)
    edges = np.arange(71) * 1003 // 70
    expected = [[samples[a:b, c].max() / 32768 for a, b in pairwise(edges)] for c in (0, 1)]
    assert np.array_equal(whole.high, np.array(expected, np.float32))
    assert np.array_equal(whole.low, parts.low) and np.array_equal(whole.high, parts.high)


def test_a_file_that_was_cut_says_how_much_is_missing() -> None:
    encoded = by_python(np.full(100, 1000, "<i2"), 2, 1)[:-51]
    header = wav(encoded)
    assert (header.frames, header.missing_bytes) == (74, 51)
    assert peaks(encoded, header, 10).high.shape == (1, 10)


def test_samples_that_are_not_finite_are_counted_and_silent() -> None:
    encoded = file_of(3, 32, np.array([np.nan, np.inf, 2.0, -0.5], "<f4").tobytes())
    loud = peaks(encoded, wav(encoded), 4)
    assert (loud.non_finite, loud.high.tolist()) == (2, [[0, 0, 2.0, -0.5]])


def test_samples_beyond_float32_are_drawn_at_its_ends() -> None:
    encoded = file_of(3, 64, np.array([1e300, -1e300], "<f8").tobytes())
    loud = peaks(encoded, wav(encoded), 1)
    largest = float(np.finfo(np.float32).max)
    assert (loud.low.tolist(), loud.high.tolist()) == ([[-largest]], [[largest]])


@pytest.mark.parametrize(
    ("encoded", "reason"),
    [
        (b"", "audio.no_wav"),
        (b"RIFF\0\0\0\0WEBP", "audio.no_wav"),
        (b"RIFF\0\0\0\0WAVE", "audio.header"),
        (file_of(1, 0, b""), "audio.header"),
        (file_of(1, 12, b"ab"), "audio.header"),
        (file_of(1, 16, b"ab", channels=0), "audio.header"),
    ],
)
def test_what_is_no_wav_file_is_said(encoded: bytes, reason: str) -> None:
    with pytest.raises(UnreadableError) as error:
        wav(encoded)
    assert error.value.reason == reason


def test_an_encoding_that_is_not_decoded_has_a_header_and_no_peaks() -> None:
    encoded = file_of(6, 8, b"abcd")
    assert wav(encoded).frames == 4
    with pytest.raises(UnreadableError) as error:
        peaks(encoded, wav(encoded), 4)
    assert error.value.reason == "audio.encoding"


def test_no_samples_have_no_peaks() -> None:
    encoded = file_of(1, 16, b"")
    assert peaks(encoded, wav(encoded), 5).low.shape == (1, 0)
