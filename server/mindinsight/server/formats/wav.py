"""Decoder of WAV files: the header, and the loudness over time.

Source: Multimedia Programming Interface and Data Specifications 1.0 (RIFF), and WAVEFORMATEXTENSIBLE.
Python's ``wave`` module reads integer samples only, and nothing of a truncated file.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from mindinsight.server.formats.read_limits import UnreadableError
from mindinsight.server.types import Ints

_FORMAT: Final = struct.Struct("<HHIIHH")  # encoding, channels, rate, bytes a second, of a frame, bits
_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE  # encodings
_SUBFORMAT: Final = 24  # offset of the encoding in an extensible header
_TYPES: Final = {
    (_PCM, 8): "u1",
    (_PCM, 16): "<i2",
    (_PCM, 32): "<i4",
    (_FLOAT, 32): "<f4",
    (_FLOAT, 64): "<f8",
}
_THREE_BYTES: Final = (_PCM, 24)
_MAX_CHUNKS: Final = 10_000  # a sound has a handful; bounds the work for hostile files
_LARGEST: Final = float(np.finfo(np.float32).max)  # samples of float64 may be beyond
_PART: Final = 1 << 20  # frames decoded at a time
MAX_CHANNELS: Final = 8  # of which peaks are computed

_Samples = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Wav:
    """Header of a WAV file, and the number of bytes of samples that it announces but that are missing."""

    encoding: int
    bits: int  # of a sample
    channels: int
    rate: int  # frames a second
    frames: int  # that are present
    begin: int  # offset of the first frame
    missing_bytes: int

    @property
    def seconds(self) -> float:
        """Return the duration, in seconds, of the frames that are present."""
        return self.frames / self.rate


@dataclass(frozen=True, slots=True)
class Peaks:
    """Smallest and largest sample within equal intervals of time, relative to full scale."""

    low: npt.NDArray[np.float32]  # [channels, intervals]
    high: npt.NDArray[np.float32]
    non_finite: int  # samples


def wav(encoded: bytes) -> Wav:
    """Return the header of a WAV file. Raises UnreadableError with the reasons ``audio.no_wav`` and
    ``audio.header``."""
    if encoded[:4] != b"RIFF" or encoded[8:12] != b"WAVE":
        raise UnreadableError("audio.no_wav", "not a RIFF file of type WAVE")
    form: tuple[int, ...] | None = None
    for name, start, size in _chunks(encoded):
        if name == b"fmt " and size >= _FORMAT.size and start + _FORMAT.size <= len(encoded):
            form = _FORMAT.unpack_from(encoded, start)
            if form[0] == _EXTENSIBLE and size >= _SUBFORMAT + 2 and start + _SUBFORMAT + 2 <= len(encoded):
                form = (*struct.unpack_from("<H", encoded, start + _SUBFORMAT), *form[1:])
        elif name == b"data" and form is not None:
            return _header(form, start, size, len(encoded))
    raise UnreadableError("audio.header", "no format chunk, or no samples")


def _chunks(encoded: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Yield name, start and size of the chunks of a RIFF file. The last chunk may be truncated."""
    at = 12
    for _ in range(_MAX_CHUNKS):
        if at + 8 > len(encoded):
            return
        size = int.from_bytes(encoded[at + 4 : at + 8], "little")
        yield encoded[at : at + 4], at + 8, size
        at += 8 + size + size % 2


def _header(form: tuple[int, ...], start: int, size: int, length: int) -> Wav:
    """Return the header from the fields of the format chunk. Raises UnreadableError."""
    encoding, channels, rate, _, _, bits = form
    frame = channels * (bits // 8)
    if not frame or not rate or bits % 8:
        raise UnreadableError("audio.header", f"{channels} channels of {bits} bits, {rate} a second")
    there = min(size, length - start)
    return Wav(encoding, bits, channels, rate, there // frame, start, size - there)


def peaks(encoded: bytes, header: Wav, intervals: int) -> Peaks:
    """Return the peaks of the first 8 channels in ``intervals`` equal intervals, at most one for each frame.
    Raises UnreadableError with the reason ``audio.encoding`` for other types of samples."""
    kind = (header.encoding, header.bits)
    if kind not in _TYPES and kind != _THREE_BYTES:
        raise UnreadableError("audio.encoding", f"encoding {header.encoding} of {header.bits} bits")
    channels, count = min(header.channels, MAX_CHANNELS), min(intervals, header.frames)
    edges = np.arange(count + 1, dtype=np.int64) * header.frames // max(count, 1)
    low, high = np.zeros((2, channels, count), np.float32)
    non_finite = first = 0
    while first < count:
        last = max(first + 1, int(np.searchsorted(edges, edges[first] + _PART, side="right")) - 1)
        samples = _decode(encoded, header, edges[first], edges[last])[:, :channels]
        finite = np.isfinite(samples)
        if not finite.all():
            non_finite += int(samples.size - finite.sum())
            samples = np.where(finite, samples, 0.0)
        starts = edges[first:last] - edges[first]
        low[:, first:last] = np.minimum.reduceat(samples, starts).T.clip(-_LARGEST, _LARGEST)
        high[:, first:last] = np.maximum.reduceat(samples, starts).T.clip(-_LARGEST, _LARGEST)
        first = last
    return Peaks(low, high, non_finite)


def _decode(encoded: bytes, header: Wav, first: int | Ints, last: int | Ints) -> _Samples:
    """Return the samples [frames, channels] as float64, integers scaled to -1..1."""
    size = header.bits // 8
    frame = header.channels * size
    count, at = int(last - first), header.begin + int(first) * frame
    if (header.encoding, header.bits) == _THREE_BYTES:
        octets: npt.NDArray[Any] = np.frombuffer(encoded, "u1", count * frame, at).reshape(-1, 3)
        wide = np.zeros((len(octets), 4), np.uint8)
        wide[:, 1:] = octets
        flat = wide.view("<i4").ravel() / (1 << 31)
    else:
        flat = np.frombuffer(encoded, _TYPES[header.encoding, header.bits], count * header.channels, at)
        if header.encoding == _PCM:
            half = float(1 << (header.bits - 1))
            flat = (flat.astype(np.float64) - (half if header.bits == 8 else 0.0)) / half
    return flat.astype(np.float64).reshape(count, header.channels)
