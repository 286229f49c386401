"""Decoder of Summary.Histogram: buckets and counts of many messages at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from google.protobuf.message import DecodeError

from mindinsight.proto.summary_pb2 import Summary
from mindinsight.server.formats.read_limits import unreadable
from mindinsight.server.formats.wire_format import unaligned, varints
from mindinsight.server.types import Doubles, Ints

_BUCKET_KEYS: Final = {0: 0x0A, 2: 0x09, 11: 0x11, 20: 0x18}  # offset in a bucket -> key there
_LEFT, _WIDTH, _COUNT = 3, 12, 21  # offsets in a bucket
_LOOK_AHEAD: Final = 32  # bytes that may be read after the end of a message
# Numbers of the fields after the buckets, and their keys (number and wire type).
_NAN, _POSITIVE, _NEGATIVE, _HIGH, _LOW, _TOTAL, _ALL = range(2, 9)
_INTEGER_KEYS: Final = [number << 3 for number in (_NAN, _POSITIVE, _NEGATIVE, _ALL)]
_DOUBLE_KEYS: Final = [number << 3 | 1 for number in (_HIGH, _LOW, _TOTAL)]


@dataclass(frozen=True, slots=True)
class Histograms:
    """n histograms with all their buckets.

    Those of number i are ``left[bounds[i] : bounds[i + 1]]``.

    A bucket counts values in [left, left + width). Non-finite values are counted separately. ``low``,
    ``high`` and ``total`` are 0 if no value is finite.
    """

    bounds: Ints  # [n + 1]
    left: Doubles  # [m]
    width: Doubles  # [m]
    counts: Ints  # [m]
    count: Ints  # [n] number of all values
    nan: Ints  # [n]
    positive_infinity: Ints  # [n]
    negative_infinity: Ints  # [n]
    low: Doubles  # [n] smallest finite value
    high: Doubles  # [n]
    total: Doubles  # [n] sum of finite values


def histograms(payloads: Sequence[bytes]) -> Histograms:
    """Decode the histograms of ``payloads``, in order. Raises UnreadableError with the number of the first
    invalid one. One field of all messages is read in each step, because the histograms of a run have about
    the same number of buckets. Messages with an unusual encoding are re-encoded one by one."""
    messages = _laid_out(payloads)
    decoded = _read(messages)
    if not messages.fits.all():
        usual = list(payloads)
        for number in np.flatnonzero(~messages.fits).tolist():
            usual[number] = _rewritten(payloads[number], number)
        decoded = _read(_laid_out(usual))
    return decoded


@dataclass(frozen=True, slots=True)
class _Messages:
    """Decoder state: all messages in one buffer, each read up to its offset in ``at``."""

    octets: npt.NDArray[np.uint8]
    doubles: Doubles  # the float64 at every offset
    at: Ints  # [n]
    ends: Ints  # [n]
    fits: npt.NDArray[np.bool_]  # [n] encoded in the usual way so far


def _laid_out(payloads: Sequence[bytes]) -> _Messages:
    """Join the messages into one buffer."""
    sizes = np.array([len(payload) for payload in payloads], np.int64)
    ends = np.cumsum(sizes)
    data = b"".join([*payloads, bytes(_LOOK_AHEAD)])
    octets, fits = np.frombuffer(data, np.uint8), np.ones(len(sizes), np.bool_)
    return _Messages(octets, unaligned(data, "<f8"), ends - sizes, ends, fits)


def _read(messages: _Messages) -> Histograms:
    """Return the histograms in all messages. Clears ``fits`` for messages with an unusual encoding."""
    rows, left, width, counts = _buckets(messages)
    order = np.argsort(rows, kind="stable")
    whole, real = _summaries(messages)
    return Histograms(
        bounds=np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(messages.at)))]),
        left=left[order],
        width=width[order],
        counts=counts[order],
        count=whole[_ALL],
        nan=whole[_NAN],
        positive_infinity=whole[_POSITIVE],
        negative_infinity=whole[_NEGATIVE],
        low=real[_LOW],
        high=real[_HIGH],
        total=real[_TOTAL],
    )


def _buckets(messages: _Messages) -> tuple[Ints, Doubles, Doubles, Ints]:
    """Decode the buckets, which come first: rows of their messages, left, width and count, [m] each."""
    octets, at, ends = messages.octets, messages.at, messages.ends
    columns = [(np.empty(0, np.int64), np.empty(0), np.empty(0), np.empty(0, np.int64))]
    rows = np.arange(len(at))
    while True:
        rows = rows[(at[rows] < ends[rows]) & (octets[at[rows]] == _BUCKET_KEYS[0])]
        if not len(rows):
            break
        offsets = at[rows]
        counts, after = varints(octets, offsets + _COUNT)
        good = (after == offsets + 2 + octets[offsets + 1]) & (after <= ends[rows])
        for offset, key in _BUCKET_KEYS.items():
            good &= octets[offsets + offset] == key
        messages.fits[rows[~good]] = False
        rows, offsets, counts = rows[good], offsets[good], counts[good]
        columns.append((rows, messages.doubles[offsets + _LEFT], messages.doubles[offsets + _WIDTH], counts))
        at[rows] = after[good]
    rows, left, width, counts = (np.concatenate(column) for column in zip(*columns, strict=True))
    return rows, left, width, counts


def _summaries(messages: _Messages) -> tuple[Ints, Doubles]:
    """Decode the fields after the buckets, by field number: integers and doubles, [9, n] each."""
    octets, at, ends = messages.octets, messages.at, messages.ends
    whole, real = np.zeros((_ALL + 1, len(at)), np.int64), np.zeros((_ALL + 1, len(at)), np.float64)
    rows = np.flatnonzero(messages.fits & (at < ends))
    while len(rows):
        offsets = at[rows]
        keys = octets[offsets]
        values, after = varints(octets, offsets + 1)
        wide = np.isin(keys, _DOUBLE_KEYS)
        after[wide] = offsets[wide] + 9
        known = (wide | np.isin(keys, _INTEGER_KEYS)) & (after <= ends[rows])
        messages.fits[rows[~known]] = False
        rows, numbers = rows[known], keys[known] >> 3
        whole[numbers, rows], real[numbers, rows] = values[known], messages.doubles[offsets[known] + 1]
        at[rows] = after[known]
        rows = rows[at[rows] < ends[rows]]
    return whole, real


def _rewritten(payload: bytes, number: int) -> bytes:
    """Return a histogram re-encoded with its fields in order and complete buckets. Raises UnreadableError."""
    with unreadable("payload.unparsable", f"histogram {number}", DecodeError):
        message = Summary.Histogram.FromString(payload)
    message.DiscardUnknownFields()
    for bucket in message.buckets:
        bucket.left, bucket.width, bucket.count = bucket.left, bucket.width, bucket.count
    return bytes(message.SerializeToString())
