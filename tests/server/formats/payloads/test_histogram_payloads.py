"""Histograms of many messages at once, as protobuf reads each of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mindinsight.proto.summary_pb2 import Summary
from mindinsight.server.formats.payloads.histogram_payloads import Histograms, histograms
from mindinsight.server.formats.read_limits import UnreadableError
from tests.thoroughness import amount

COUNT = st.integers(0, 2**63 - 1) | st.integers(0, 300)
NUMBER = st.floats(allow_nan=False)
BUCKET = st.builds(Summary.Histogram.bucket, left=NUMBER, width=NUMBER, count=COUNT)
SPARSE = st.builds(Summary.Histogram.bucket, width=NUMBER)
MESSAGE = st.builds(
    Summary.Histogram,
    buckets=st.lists(BUCKET | BUCKET | BUCKET | SPARSE, max_size=8),
    **{name: st.none() | COUNT for name in ("nan_count", "pos_inf_count", "neg_inf_count", "count")},
    **{name: st.none() | NUMBER for name in ("max", "min", "sum")},
)


def check(columns: Histograms, messages: list[Summary.Histogram]) -> None:
    pairs = {
        "count": "count", "nan": "nan_count", "positive_infinity": "pos_inf_count",
        "negative_infinity": "neg_inf_count", "low": "min", "high": "max", "total": "sum",
    }  # fmt: skip
    for column, field in pairs.items():
        assert getattr(columns, column).tolist() == [getattr(message, field) for message in messages]
    buckets = [
        [(bucket.left, bucket.width, bucket.count) for bucket in message.buckets] for message in messages
    ]
    assert np.diff(columns.bounds).tolist() == [len(row) for row in buckets]
    rows = zip(columns.left.tolist(), columns.width.tolist(), columns.counts.tolist(), strict=True)
    assert list(rows) == [bucket for row in buckets for bucket in row]


@settings(max_examples=amount(200, 50), deadline=None)
@given(messages=st.lists(MESSAGE, max_size=6))
def test_histograms_read_as_with_protobuf(messages: list[Summary.Histogram]) -> None:
    check(histograms([message.SerializeToString() for message in messages]), messages)


def test_fields_in_unusual_order_and_unknown_ones() -> None:
    message = Summary.Histogram(count=5, max=2.0, buckets=[{"left": 1.0, "width": 1.0, "count": 5}])
    tail = Summary.Histogram(count=5, max=2.0).SerializeToString()
    usual = message.SerializeToString()
    backwards = tail + usual.removesuffix(tail)
    check(histograms([usual, backwards, usual + b"\xf8\x01\x07", usual]), [message] * 4)


def test_nothing() -> None:
    result = histograms([])
    assert (result.bounds.tolist(), len(result.left), len(result.count)) == ([0], 0, 0)


@pytest.mark.parametrize("bad", [b"\x0a\x7f", b"noise", b"\x0a\x1d\x09" + bytes(28)])
def test_what_is_no_histogram_is_named(bad: bytes) -> None:
    good = Summary.Histogram(count=1).SerializeToString()
    with pytest.raises(UnreadableError, match="histogram 1"):
        histograms([good, bad])
